// SPDX-License-Identifier: Apache-2.0
//
// Conventions of the request_*.h headers: argument layouts of the Neuron
// kernel driver, LP64. Holes are spelled out as reserved members so that an
// aggregate initialiser clears every byte that crosses the boundary. "32" or
// "v1" in a name marks a form that only old drivers need. Members named out_*
// are pointers through which the driver writes.
//
// Source of the facts: aws-neuron-driver 2.24.7.0 to 2.27.4.0.
#pragma once

#include <cstddef>
#include <cstdint>

#define ONRT_NDL_AT(type, member, bytes) (offsetof(type, member) == (bytes))
