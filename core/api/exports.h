// SPDX-License-Identifier: Apache-2.0
//
// The public headers, their functions visible outside the library. The build
// includes this before everything else in each file of this folder.
#pragma once

#pragma GCC visibility push(default)
#include "nrt/ndebug_stream.h"
#include "nrt/nec.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_sys_trace.h"
#include "nrt/nrt_version.h"
#pragma GCC visibility pop
