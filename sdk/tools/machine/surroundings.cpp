// SPDX-License-Identifier: Apache-2.0
#include "machine/surroundings.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "plugin_path.h"

namespace opennrt::tools {

namespace {

const nrtp_product* product_named(const nrtp_arch_plugin& arch, const std::string& name) {
  const char* row = reinterpret_cast<const char*>(arch.products);
  for (std::uint32_t i = 0; i < arch.n_products; ++i, row += arch.product_stride) {
    const auto* product = reinterpret_cast<const nrtp_product*>(row);
    if (product->name != nullptr && name == product->name) return product;
  }
  return nullptr;
}

}  // namespace

Surroundings::Surroundings()
    : library_(own_library()), environment_(config::process_environment()) {
  if (const char* root = std::getenv("OPENNRT_TEST_ROOT")) root_ = root;
  config::Sources sources{.system_file = system("/etc/opennrt/nrt.yaml"),
                          .environment = environment_};
  // Plugins lie beside the library, which this program has not loaded.
  if (!library_.empty()) {
    std::string& path = sources.environment["OPENNRT_PLUGIN_PATH"];
    const auto own = std::filesystem::path(library_).parent_path() / "plugins";
    std::error_code error;
    if (std::filesystem::is_directory(own, error)) path = with_plugin_directory(path, own.string());
  }
  loaded_ = config::load(sources);
  loader_.configure(loaded_.config);
  for (unsigned i = 0; i < NRTP_MAX_DEVICES; ++i) {
    struct stat info{};
    if (::lstat(system("/dev/neuron" + std::to_string(i)).c_str(), &info) == 0) nodes_.push_back(i);
  }
}

std::string Surroundings::line_of(const std::string& path) const {
  std::ifstream in(system(path));
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\0')) line.pop_back();
  return line;
}

bool Surroundings::on_kernel() const {
  const std::string& device = config().text(config::Key::kDevice);
  return device == "kernel" || (device == "auto" && !nodes_.empty());
}

bool Surroundings::on_emulator() const {
  const std::string& device = config().text(config::Key::kDevice);
  return device == "emulator" || (device == "auto" && nodes_.empty());
}

bool Surroundings::shared_machine() const {
  return on_emulator() && config().text(config::Key::kEmulatorScope) == "machine";
}

std::string Surroundings::socket() const {
  const std::string& given = config().text(config::Key::kEmulatorSocket);
  return given.empty() ? emu::remote::default_socket() : given;
}

std::string Surroundings::socket_trouble() const {
  struct stat info{};
  if (::stat(socket().c_str(), &info) == 0)
    return S_ISSOCK(info.st_mode)
               ? ""
               : socket() + " is no socket; move it away, or set emulator.socket to another path";
  if (errno == ENOENT || errno == ENOTDIR) return "nothing serves " + socket();
  return socket() + ": " + std::strerror(errno) +
         "; it belongs to another user, set emulator.socket to a path of your own";
}

emu::remote::Options Surroundings::watch_options() const {
  emu::remote::Options options;
  options.socket = socket();
  options.start = false;
  options.watch = true;
  options.patience_ms = kPatienceMs;
  return options;
}

bool Surroundings::daemon_serves(std::string* error) {
  if (!asked_) {
    refusal_ = socket_trouble();
    serves_ =
        refusal_.empty() && emu::remote::Client::attach(watch_options(), &refusal_) != nullptr;
  }
  asked_ = true;
  *error = refusal_;
  return serves_;
}

const nrtp_arch_plugin* Surroundings::arch() {
  if (on_emulator()) {
    const std::string& name = config().text(config::Key::kEmulatorProduct);
    auto arch = name == "auto" ? loader_.arch(0) : loader_.arch_of_product(name);
    return arch.is_ok() ? *arch : nullptr;
  }
  std::string error;
  const book::Machine* found = machine(&error);
  return found != nullptr ? found->arch : nullptr;
}

const nrtp_product* Surroundings::product() {
  const nrtp_arch_plugin* silicon = on_emulator() ? arch() : nullptr;
  if (silicon == nullptr || silicon->n_products == 0) return nullptr;
  const std::string& name = config().text(config::Key::kEmulatorProduct);
  return name == "auto" ? silicon->products : product_named(*silicon, name);
}

void Surroundings::look() {
  if (looked_) return;
  looked_ = true;
  if (!loaded_.status.is_ok()) return;
  if (on_kernel() && (!real() || nodes_.empty())) return;
  if (!on_kernel() && !on_emulator()) return;  // of others, a recording
  if (shared_machine()) {
    std::string error;
    if (!daemon_serves(&error)) return;
    // Should it end just now, nobody starts another one.
    setenv("OPENNRT_EMUD", "/nonexistent", 1);
  }
  auto driver = book::Driver::open(loader_, config());
  if (!driver.is_ok()) {
    trouble_ = driver.status().message();
    return;
  }
  driver_ = *std::move(driver);
  auto machine = book::discover(*driver_, loader_);
  if (!machine.is_ok()) {
    trouble_ = machine.status().message();
    return;
  }
  machine_ = std::make_unique<book::Machine>(*std::move(machine));
}

const book::Driver* Surroundings::driver(std::string* error) {
  look();
  *error = trouble_;
  return driver_.get();
}

const book::Machine* Surroundings::machine(std::string* error) {
  look();
  *error = trouble_;
  return machine_.get();
}

}  // namespace opennrt::tools
