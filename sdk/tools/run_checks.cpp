// SPDX-License-Identifier: Apache-2.0
#include "run_checks.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "input_file.h"
#include "inspect/request.h"
#include "npy.h"
#include "verify/options.h"

namespace opennrt::tools {

namespace {

constexpr std::uint64_t kMostReport = std::uint64_t{256} << 20;

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::byte> content;
  std::string error;
  std::vector<std::string> lines;
  if (!read_input(path, kMostReport, &content, &error)) return lines;
  std::istringstream in(std::string(reinterpret_cast<const char*>(content.data()), content.size()));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

const DumpRequest* find_dump(const RunOptions& options, const std::string& name) {
  for (const DumpRequest& dump : options.dumps)
    if (dump.name == name) return &dump;
  return nullptr;
}

TypedData read_reference(const CompareRequest& request, nrt_dtype_t dtype, const Shape* shape) {
  TypedData reference;
  std::string error;
  if (!read_reference(request.file, dtype, shape, &reference, &error))
    throw std::runtime_error("--compare: " + request.name + ": " + error);
  return reference;
}

bool compare_and_tell(const CompareRequest& request, const TypedData& values,
                      const TypedData& reference, const Shape* shape, RunReport* report) {
  Tolerance tolerance = default_tolerance(values.dtype);
  if (request.rtol) tolerance.rtol = *request.rtol;
  if (request.atol) tolerance.atol = *request.atol;
  std::string error;
  const std::optional<Comparison> result = compare_arrays(values, reference, tolerance, &error);
  if (!result)
    throw std::runtime_error("--compare: " + request.name + ": " + error + " (" + request.file +
                             ")");
  report->comparison(request, tolerance, *result, shape);
  return result->mismatches == 0;
}

RunChecks::~RunChecks() {
  if (directory_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string RunChecks::file_of(const DumpRequest& dump) const {
  return dump.name + (options_.raw ? ".bin" : ".npy");
}

bool RunChecks::makes(const std::string& path) const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path file = fs::weakly_canonical(path, ignored);
  return std::any_of(options_.dumps.begin(), options_.dumps.end(), [&](const DumpRequest& dump) {
    return fs::weakly_canonical(options_.dump_dir + "/" + file_of(dump), ignored) == file;
  });
}

nrt_dtype_t RunChecks::type_of(const DumpRequest& dump) const {
  if (!dump.dtype.empty()) return dtype_of_name(dump.dtype);
  const auto known = dump.variable.empty() ? tensors_.end() : tensors_.find(dump.variable);
  const bool has = known != tensors_.end() && known->second != NRT_DTYPE_UNKNOWN;
  return has ? known->second : NRT_DTYPE_UINT8;
}

void RunChecks::request() {
  if (options_.verify) {
    emu::VerifyOptions parsed;
    std::string error;
    if (!emu::parse_verify(*options_.verify, &parsed, &error))
      throw UsageError("--verify: " + error);
    checks_anything_ = parsed.tracks_memory() || parsed.order_seed;
    setenv("OPENNRT_EMULATOR_VERIFY", options_.verify->c_str(), 1);
    // Checking takes its time; a deadlock is told at once all the same.
    setenv("NEURON_RT_EXEC_TIMEOUT", "86400", 0);
  }
  std::error_code failed;
  std::string pattern =
      (std::filesystem::temp_directory_path(failed) / "opennrt-run-XXXXXX").string();
  if (failed || mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("no directory for temporary files (TMPDIR): " +
                             (failed ? failed.message() : std::string(std::strerror(errno))));
  directory_ = pattern;
  report_ = directory_ + "/report";
  setenv("OPENNRT_EMULATOR_REPORT", report_.c_str(), 1);
  if (options_.dumps.empty()) return;
  std::string items;
  for (const DumpRequest& dump : options_.dumps) {
    items += (items.empty() ? "" : ",") + emu::inspect_item(dump.at, dump.what, file_of(dump));
    std::filesystem::remove(options_.dump_dir + "/" + file_of(dump), failed);
  }
  setenv("OPENNRT_EMULATOR_INSPECT", items.c_str(), 1);
  setenv("OPENNRT_EMULATOR_INSPECT_DIR", options_.dump_dir.c_str(), 1);
}

bool RunChecks::tell_dump(const DumpRequest& dump, const std::vector<std::string>& report) const {
  const std::string file = file_of(dump), path = options_.dump_dir + "/" + file;
  std::string reason = "the device did not say why";
  for (const std::string& line : report) {
    if (line == "done " + file) {
      told_->dump(dump, path, "");
      return true;
    }
    // Devices that did not run the program have not reached it.
    for (const char* outcome : {"unreached ", "failed "})
      if (line.rfind(outcome + file + " ", 0) == 0)
        reason = line.substr(std::strlen(outcome) + file.size() + 1);
  }
  const bool failed = std::any_of(report.begin(), report.end(), [&](const std::string& line) {
    return line.rfind("failed " + file + " ", 0) == 0;
  });
  told_->dump(dump, "", std::string(failed ? "not written" : "never reached") + ": " + reason);
  return false;
}

bool RunChecks::finish(bool failed) {
  if (!wanted()) return true;
  const std::vector<std::string> report = lines_of(report_);
  if (report.empty() && failed) return false;
  bool good = true;
  for (const DumpRequest& dump : options_.dumps) {
    if (!tell_dump(dump, report)) {
      good = false;
      continue;
    }
    for (const CompareRequest& request : options_.compares) {
      if (request.name != dump.name) continue;
      const std::string path = options_.dump_dir + "/" + file_of(dump);
      TypedData values{type_of(dump), {}};
      std::string error;
      if (!read_array(path, values.dtype, nullptr, &values.bytes, &error))
        throw std::runtime_error(error);
      Shape known;
      const Shape* shape = read_shape(path, &known) ? &known : nullptr;
      good &= compare_and_tell(request, values, read_reference(request, values.dtype, shape), shape,
                               told_);
    }
  }
  if (!checks_anything_) return good;
  constexpr char kFindings[] = "findings ";
  for (const std::string& line : report) {
    if (line.rfind(kFindings, 0) != 0) continue;
    const std::size_t count = std::strtoull(line.c_str() + std::strlen(kFindings), nullptr, 10);
    // Of a program that did not run to its end none would say nothing.
    if (count != 0 || !failed) told_->findings(count);
    return good && count == 0;
  }
  told_->error("--verify: the device left no report");
  return false;
}

}  // namespace opennrt::tools
