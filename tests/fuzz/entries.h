// SPDX-License-Identifier: Apache-2.0
//
// Entries of the fuzz targets. Each returns for every input, without crash,
// leak, hang or more memory than its limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace opennrt::fuzz {

// A whole NEFF: header, gzip or tar, and what follows.
void fuzz_neff_container(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_neff_container();

// First byte: which member of a valid program; the rest: its new content.
void fuzz_neff_manifest(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_neff_manifest();

// A whole NEFF through verify, the figures, unpack and pack.
void fuzz_neff_tool(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_neff_tool();

// Text for the assembler.
void fuzz_neff_listing(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_neff_listing();

// A stream of records: to text and back, and verified inside a program.
void fuzz_neff_records(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_neff_records();

// A case of program_case.h: an edited program, loaded and executed.
void fuzz_program(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_program();
std::string mutate_program(const std::string& input, std::uint32_t number);

// Calls of up to four processes on the emulated driver.
void fuzz_driver(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_driver();

// A configuration file.
void fuzz_config_yaml(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_config_yaml();

// A recording of the system port: read, shown, and answered from.
void fuzz_port_trace(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_port_trace();

// A data store of another process: read, and shown as text, JSON and metrics.
void fuzz_data_store(const std::uint8_t* data, std::size_t size);
std::vector<std::string> seeds_data_store();

}  // namespace opennrt::fuzz
