// SPDX-License-Identifier: Apache-2.0
//
// Model files, as the runtime's loader finds them.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "doctor/context.h"
#include "neff/model.h"

namespace opennrt::tools::doctor {

namespace {

namespace fs = std::filesystem;

bool runs(const nrtp_arch_plugin& arch, const std::string& target) {
  if (target == "*") return true;
  for (const char* const* name = arch.neff_targets; *name != nullptr; ++name)
    if (target == *name) return true;
  return false;
}

void check_target(Context& context, const std::string& path, const std::string& target,
                  Findings& out) {
  const nrtp_arch_plugin* arch = context.arch();
  if (arch == nullptr || runs(*arch, target)) return;
  const std::string product = context.loader().product_of_target(target);
  if (product.empty())
    out.push_back({"", path, "compiled for " + target + ", which no installed arch plugin runs",
                   "install the arch plugin of " + target});
  else
    out.push_back({"", path, "compiled for " + target + ", but the device here is " + arch->name,
                   context.on_emulator() ? "set OPENNRT_EMULATOR_PRODUCT=" + product
                                         : "compile it for " + std::string(arch->name) +
                                               ", or run it on " + product});
}

void check_model(Context& context, const std::string& path, Findings& out) {
  std::error_code code;
  const char* const again =
      "remove it, so that it is compiled again; a cache whose writer was killed leaves such files";
  if (fs::file_size(path, code) == 0 && !code) {
    out.push_back({"", path, "the file is empty", again});
    return;
  }
  if (::access(path.c_str(), R_OK) != 0) {
    out.push_back({"", path, strerror(errno), "make it readable for this user"});
    return;
  }
  auto model = open_model(path);
  if (model.is_ok() && !model->hash.is_ok())
    out.push_back({"", path, std::string(model->hash.message()), again});
  struct stat info{};
  const bool is_file = ::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
  Status status = model.is_ok() ? load(*model, false) : std::move(model).status();
  if (!status.is_ok()) {
    std::string text(status.message());
    if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
    out.push_back({"", path, text, is_file ? again : "leave it out: it is no model"});
    return;
  }
  check_target(context, path, model->program.target, out);
}

// In order. A directory that cannot be read is told, and the others are looked at.
std::vector<std::string> models_below(const std::string& directory, Findings& out) {
  std::vector<std::string> files;
  std::vector<fs::path> directories = {directory};
  while (!directories.empty()) {
    const fs::path at = std::move(directories.back());
    directories.pop_back();
    std::error_code code;
    for (fs::directory_iterator it(at, code), end; !code && it != end; it.increment(code)) {
      std::error_code gone;
      if (it->is_directory(gone) && !it->is_symlink(gone))
        directories.push_back(it->path());
      else if (it->path().extension() == ".neff")
        files.push_back(it->path().string());
    }
    if (code)
      out.push_back(
          {"", at.string(), code.message(), "make that directory readable for this user"});
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

void check_models(Context& context, Findings& out) {
  for (const std::string& name : context.request().models) {
    std::error_code code;
    if (!fs::is_directory(name, code)) {
      if (fs::exists(name, code))
        check_model(context, name, out);
      else
        out.push_back(
            {"", name, "no such file or directory", "name a model or a directory of them"});
      continue;
    }
    const std::size_t before = out.size();
    const std::vector<std::string> files = models_below(name, out);
    const bool whole = out.size() == before;
    for (const std::string& file : files) check_model(context, file, out);
    if (whole && files.empty())
      out.push_back({"", name, "holds no .neff file", "name the directory of the cache"});
  }
}

}  // namespace opennrt::tools::doctor
