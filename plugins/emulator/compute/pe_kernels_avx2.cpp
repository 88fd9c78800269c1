// SPDX-License-Identifier: Apache-2.0
#define OPENNRT_PE_KERNELS kPeKernelsAvx2
#include "compute/pe_kernels_impl.h"
