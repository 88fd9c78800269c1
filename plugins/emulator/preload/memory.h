// SPDX-License-Identifier: Apache-2.0
//
// Mappings of device memory. Results as in the C library.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace opennrt::emu::preload {

void* map(void* address, std::size_t bytes, int prot, int flags, int fd, off_t offset) noexcept;
int unmap(void* address, std::size_t bytes) noexcept;
void* remap(void* old, std::size_t old_bytes, std::size_t new_bytes, int flags,
            void* target) noexcept;
int protect(void* address, std::size_t bytes, int prot) noexcept;

}  // namespace opennrt::emu::preload
