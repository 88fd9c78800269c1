// SPDX-License-Identifier: Apache-2.0
//
// The public headers, their functions visible outside the library. Only files
// that define API functions include this.
#pragma once

#pragma GCC visibility push(default)
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"
#pragma GCC visibility pop
