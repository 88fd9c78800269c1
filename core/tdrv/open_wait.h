// SPDX-License-Identifier: Apache-2.0
//
// Where an engine that does not end most likely stands. Nothing published says
// how to read a program counter, but the waits of its program and the
// semaphores can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace opennrt::tdrv {

using SemaphoreReader = std::function<std::optional<std::int32_t>(std::uint32_t index)>;

// The first wait for a semaphore in the stream that does not hold now, as
// "record 4 waits for semaphore 13 >= 16 (value 0)". Empty: all hold.
std::string first_open_wait(std::span<const std::byte> stream, const SemaphoreReader& read);

}  // namespace opennrt::tdrv
