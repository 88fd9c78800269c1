// SPDX-License-Identifier: Apache-2.0
//
// opennrt run: a client of the public C ABI like any other.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "command.h"
#include "config/config.h"
#include "input_file.h"
#include "model_file.h"
#include "neff/program.h"
#include "neff/targets.h"
#include "npy.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "opennrt/arch.h"
#include "output.h"
#include "plugin/loader.h"
#include "remote/client.h"
#include "run_checks.h"
#include "run_options.h"
#include "run_report.h"

namespace opennrt::tools {

namespace {

// Made before anything runs: a mistyped directory costs no execution.
void make_dir(const char* option, const std::string& dir) {
  if (dir.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (!error && access(dir.c_str(), W_OK) != 0) error.assign(errno, std::generic_category());
  if (error)
    throw std::runtime_error(std::string("--") + option + "=" + dir + ": " + error.message());
}

void require(NRT_STATUS status, const std::string& what) {
  if (status != NRT_SUCCESS)
    throw std::runtime_error(what + " failed: " + nrt_get_status_as_str(status) +
                             " (the log line above says why)");
}

// Value k of a fill, as a float in a range where every type is exact enough.
float fill_value(const std::string& kind, std::size_t k, std::mt19937_64& random) {
  if (kind == "zeros") return 0.0f;
  if (kind == "ones") return 1.0f;
  if (kind == "ramp") return static_cast<float>(k % 251);
  return static_cast<float>(random() >> 40) * 0x1p-24f;
}

std::uint16_t to_bfloat16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

std::vector<std::byte> filled(const std::string& kind, nrt_dtype_t dtype, std::size_t bytes,
                              std::uint64_t seed) {
  std::vector<std::byte> data(bytes);
  std::mt19937_64 random(seed);
  const std::size_t width = dtype_bytes(dtype);
  for (std::size_t k = 0; k * width + width <= bytes; ++k) {
    const float value = fill_value(kind, k, random);
    std::byte* at = data.data() + k * width;
    if (dtype == NRT_DTYPE_FLOAT32 || dtype == NRT_DTYPE_FP32R) {
      std::memcpy(at, &value, 4);
    } else if (dtype == NRT_DTYPE_BFLOAT16) {
      const std::uint16_t half = to_bfloat16(value);
      std::memcpy(at, &half, 2);
    } else if (dtype == NRT_DTYPE_FLOAT16) {
      const _Float16 half = static_cast<_Float16>(value);
      std::memcpy(at, &half, 2);
    } else {
      const std::uint64_t integer =
          kind == "random" ? random() & 0x7F : static_cast<std::uint64_t>(value);
      std::memcpy(at, &integer, width);  // little-endian
    }
  }
  return data;
}

struct BoundTensor {
  std::string name;
  nrt_tensor_usage_t usage;
  nrt_dtype_t dtype;
  std::vector<std::uint32_t> shape;
  std::size_t bytes;
  Shape array_shape() const { return {shape.begin(), shape.end()}; }
  nrt_tensor_t* tensor = nullptr;
};

std::string type_text(const BoundTensor& t) {
  std::string text = dtype_name(t.dtype);
  text += '[';
  for (std::size_t i = 0; i < t.shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(t.shape[i]);
  return text + ']';
}

bool on_software_device(const config::Config& config) {
  const std::string& device = config.text(config::Key::kDevice);
  if (device != "auto") return device == "emulator";
  constexpr int kMinors = 64;  // the driver's minor numbers
  for (int i = 0; i < kMinors; ++i)
    if (access(("/dev/neuron" + std::to_string(i)).c_str(), F_OK) == 0) return false;
  return true;
}

// One software device serves all processes, and is what it is.
bool served_by_daemon(const config::Config& config) {
  if (config.text(config::Key::kEmulatorScope) != "machine") return false;
  emu::remote::Options options;
  options.socket = config.text(config::Key::kEmulatorSocket);
  options.start = false;
  options.watch = true;
  std::string error;
  return emu::remote::Client::attach(options, &error) != nullptr;
}

// The software device can be any silicon: unless the user chose a product, it
// becomes one that the model was compiled for. What cannot be told from the file
// is left to nrt_load, which says what is wrong with it.
void choose_device(const std::string& model) {
  const config::Loaded loaded = config::load({.environment = config::process_environment()});
  if (!loaded.status.is_ok() || !on_software_device(*loaded.config) ||
      loaded.config->text(config::Key::kEmulatorProduct) != "auto" ||
      served_by_daemon(*loaded.config))
    return;
  const auto neff = read_model_file(model);
  if (!neff.is_ok() || neff->empty()) return;
  const auto outline = neff::read_outline(*neff);
  if (!outline.is_ok()) return;
  plugin::Loader loader;
  loader.configure(loaded.config, reinterpret_cast<const void*>(&nrt_init));
  const std::string product = loader.product_of_target(outline->target);
  if (product.empty()) {
    const std::uint32_t arch = neff::published_arch(outline->target);
    if (arch == 0) return;
    const auto missing = loader.arch(arch);
    if (!missing.is_ok())
      throw std::runtime_error(model + " was compiled for " + outline->target + ": " +
                               std::string(missing.status().message()));
    return;
  }
  std::string chosen = "OPENNRT_EMULATOR_PRODUCT=" + product;
  setenv("OPENNRT_EMULATOR_PRODUCT", product.c_str(), 1);
  if (outline->lnc_size != 0 && !loaded.config->is_given(config::Key::kCoresLncSize)) {
    const std::string size = std::to_string(outline->lnc_size);
    setenv("NEURON_LOGICAL_NC_CONFIG", size.c_str(), 1);
    chosen += " NEURON_LOGICAL_NC_CONFIG=" + size;
  }
  chosen += " OPENNRT_EMULATOR_DEVICES=" +
            std::to_string(loaded.config->number(config::Key::kEmulatorDevices));
  std::fprintf(stderr, "opennrt run: %s was compiled for %s: running on %s\n", model.c_str(),
               outline->target.c_str(), chosen.c_str());
}

// Empty: not known.
std::string product_of(const std::string& model, const nrt_instance_info_t& instance) {
  const config::Loaded loaded = config::load({.environment = config::process_environment()});
  if (!loaded.status.is_ok()) return "";
  const std::string& emulated = loaded.config->text(config::Key::kEmulatorProduct);
  if (on_software_device(*loaded.config) && emulated != "auto") return emulated;
  const auto neff = read_model_file(model);
  if (!neff.is_ok()) return "";
  const auto outline = neff::read_outline(*neff);
  if (!outline.is_ok()) return "";
  plugin::Loader loader;
  loader.configure(loaded.config, reinterpret_cast<const void*>(&nrt_init));
  const auto arch = loader.arch(neff::published_arch(outline->target));
  std::string found;
  if (!arch.is_ok()) return found;
  const char* row = reinterpret_cast<const char*>((*arch)->products);
  for (std::uint32_t i = 0; i < (*arch)->n_products; ++i, row += (*arch)->product_stride) {
    const nrtp_product& product = *reinterpret_cast<const nrtp_product*>(row);
    if (product.instance_family != instance.family || product.instance_size != instance.size)
      continue;
    if (!found.empty()) return "";  // more than one goes by these numbers
    found = product.name;
  }
  return found;
}

// A loaded model with its tensors; releases everything in reverse order.
class Session {
 public:
  Session(const RunOptions& options, RunReport* report) : options_(options), report_(report) {
    require(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init");
    initialised_ = true;
  }
  ~Session() {
    if (!initialised_) return;
    for (BoundTensor& t : tensors_) nrt_tensor_free(&t.tensor);
    if (inputs_ != nullptr) nrt_destroy_tensor_set(&inputs_);
    if (outputs_ != nullptr) nrt_destroy_tensor_set(&outputs_);
    if (model_ != nullptr) nrt_unload(model_);
    nrt_close();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void load() {
    const auto neff = read_model_file(options_.model);
    if (!neff.is_ok()) throw std::runtime_error(std::string(neff.status().message()));
    if (neff->empty()) throw std::runtime_error(options_.model + ": empty file");
    require(nrt_load(neff->data(), neff->size(), options_.vnc, -1, &model_), "nrt_load");
    nrt_tensor_info_array_t* info = nullptr;
    require(nrt_get_model_tensor_info(model_, &info), "nrt_get_model_tensor_info");
    for (std::uint64_t i = 0; i < info->tensor_count; ++i) {
      const nrt_tensor_info_t& t = info->tensor_array[i];
      tensors_.push_back({t.name, t.usage, t.dtype, {t.shape, t.shape + t.ndim}, t.size, nullptr});
    }
    nrt_free_model_tensor_info(info);
    nrt_model_info_t model_info{};
    std::size_t written = 0;
    require(nrt_get_model_info(model_, &model_info, sizeof model_info, &written),
            "nrt_get_model_info");
    core_ = static_cast<int>(model_info.vnc);
  }

  void bind() {
    require(nrt_allocate_tensor_set(&inputs_), "nrt_allocate_tensor_set");
    require(nrt_allocate_tensor_set(&outputs_), "nrt_allocate_tensor_set");
    for (BoundTensor& t : tensors_) {
      const bool is_input = t.usage == NRT_TENSOR_USAGE_INPUT;
      require(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core_, t.bytes, t.name.c_str(),
                                  &t.tensor),
              "nrt_tensor_allocate of " + t.name);
      if (is_input) {
        const std::vector<std::byte> data = contents(t);
        require(nrt_tensor_write(t.tensor, data.data(), 0, data.size()),
                "nrt_tensor_write of " + t.name);
      }
      require(nrt_add_tensor_to_tensor_set(is_input ? inputs_ : outputs_, t.name.c_str(), t.tensor),
              "nrt_add_tensor_to_tensor_set");
      report_->tensor(t.name, dtype_name(t.dtype), t.array_shape(), t.bytes,
                      is_input ? source_of(t) : "");
    }
  }

  void execute() {
    std::vector<double> microseconds;
    microseconds.reserve(static_cast<std::size_t>(options_.executions));
    for (int i = 0; i < options_.executions; ++i) {
      const auto start = std::chrono::steady_clock::now();
      require(nrt_execute(model_, inputs_, outputs_), "nrt_execute");
      microseconds.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
              .count());
    }
    report_->latencies(std::move(microseconds));
  }

  // Names in --compare that are neither output nor dump, and files that cannot be
  // compared, before anything runs. The outputs of this run may replace a file.
  void read_references(const RunChecks& checks) {
    for (const CompareRequest& request : options_.compares) {
      const bool dump = find_dump(options_, request.name) != nullptr;
      const BoundTensor* output = dump ? nullptr : find_output(request.name);
      if (!dump && output == nullptr)
        throw UsageError("--compare: the model has no output and the command no dump named '" +
                         request.name + "'");
      if (checks.makes(request.file)) continue;
      if (output != nullptr) {
        const Shape shape = output->array_shape();
        references_[&request] = read_reference(request, output->dtype, &shape);
      } else {
        InputFile file;
        std::string error;
        if (!file.open(request.file, &error))
          throw std::runtime_error("--compare: " + request.name + ": " + error);
      }
    }
  }

  // Before anything is told or runs.
  void check_inputs() const {
    for (const auto& [name, what] : options_.inputs)
      if (std::none_of(tensors_.begin(), tensors_.end(), [&name](const BoundTensor& t) {
            return t.usage == NRT_TENSOR_USAGE_INPUT && t.name == name;
          }))
        throw UsageError("--input: the model has no input named '" + name + "'; " + input_names());
  }

  std::string input_names() const {
    std::string names;
    for (const BoundTensor& t : tensors_)
      if (t.usage == NRT_TENSOR_USAGE_INPUT) names += (names.empty() ? "" : ", ") + t.name;
    return names.empty() ? "it has no inputs" : "its inputs are " + names;
  }

  void tell_device() const {
    nrt_instance_info_t instance{};
    require(nrt_get_instance_info(&instance, sizeof instance), "nrt_get_instance_info");
    report_->device(instance.arch_name, core_);
    if (report_->json()) report_->product(product_of(options_.model, instance));
  }

  void tell_types(RunChecks* checks) const {
    for (const BoundTensor& t : tensors_) checks->tensor(t.name, t.dtype);
  }

  // False: some output does not match its reference.
  bool compare_outputs() {
    bool good = true;
    for (const CompareRequest& request : options_.compares) {
      if (find_dump(options_, request.name) != nullptr) continue;
      const BoundTensor& t = *find_output(request.name);
      TypedData values{t.dtype, std::vector<std::byte>(t.bytes)};
      require(nrt_tensor_read(t.tensor, values.bytes.data(), 0, values.bytes.size()),
              "nrt_tensor_read");
      const Shape shape = t.array_shape();
      const auto known = references_.find(&request);
      good &= compare_and_tell(
          request, values,
          known != references_.end() ? known->second : read_reference(request, t.dtype, &shape),
          &shape, report_);
    }
    return good;
  }

  void write_outputs() {
    if (options_.output_dir.empty()) return;
    for (const BoundTensor& t : tensors_) {
      if (t.usage != NRT_TENSOR_USAGE_OUTPUT) continue;
      std::vector<std::byte> data(t.bytes);
      require(nrt_tensor_read(t.tensor, data.data(), 0, data.size()), "nrt_tensor_read");
      std::string file = t.name;  // names may hold '/' and ':'
      std::replace_if(file.begin(), file.end(), [](char c) { return c == '/' || c == ':'; }, '_');
      const std::string path = options_.output_dir + "/" + file + (options_.raw ? ".bin" : ".npy");
      std::string error;
      if (!write_array(path, t.dtype, t.shape, data, &error)) throw std::runtime_error(error);
      report_->output(t.name, path);
    }
  }

 private:
  const BoundTensor* find_output(const std::string& name) const {
    for (const BoundTensor& t : tensors_)
      if (t.usage == NRT_TENSOR_USAGE_OUTPUT && t.name == name) return &t;
    return nullptr;
  }

  // What an input is filled with.
  const std::string& source_of(const BoundTensor& t) const {
    const auto it = options_.inputs.find(t.name);
    return it == options_.inputs.end() ? options_.fill : it->second;
  }

  std::vector<std::byte> contents(const BoundTensor& t) const {
    const std::string& what = source_of(t);
    if (is_fill(what))
      return filled(what, t.dtype, t.bytes,
                    options_.seed + static_cast<std::uint64_t>(&t - tensors_.data()));
    std::vector<std::byte> data;
    std::string error;
    const Shape shape = t.array_shape();
    if (!read_array(what, t.dtype, &shape, &data, &error))
      throw std::runtime_error("input " + t.name + ": " + error +
                               " (WHAT is a file, or zeros, ones, ramp or random)");
    if (data.size() != t.bytes)
      throw std::runtime_error(what + ": holds " + std::to_string(data.size()) + " bytes, input " +
                               t.name + " needs " + std::to_string(t.bytes) + " (" + type_text(t) +
                               ")");
    return data;
  }

  const RunOptions& options_;
  RunReport* const report_;
  bool initialised_ = false;
  int core_ = 0;
  nrt_model_t* model_ = nullptr;
  nrt_tensor_set_t* inputs_ = nullptr;
  nrt_tensor_set_t* outputs_ = nullptr;
  std::vector<BoundTensor> tensors_;
  std::map<const CompareRequest*, TypedData> references_;  // of outputs
};

bool perform(const RunOptions& options, RunReport* report) {
  make_dir("output-dir", options.output_dir);
  if (!options.dumps.empty()) make_dir("dump-dir", options.dump_dir);
  if (!options.device.empty()) setenv("OPENNRT_DEVICE", options.device.c_str(), 1);
  RunChecks checks(options, report);
  if (checks.wanted()) {
    const config::Loaded loaded = config::load({.environment = config::process_environment()});
    if (loaded.status.is_ok() && !on_software_device(*loaded.config))
      throw UsageError("--verify and --break need the software device (--device emulator)");
    checks.request();
  }
  choose_device(options.model);
  bool good = true, failed = false;
  try {
    Session session(options, report);
    session.load();
    session.check_inputs();
    session.tell_types(&checks);
    session.read_references(checks);
    session.tell_device();
    session.bind();
    session.execute();
    session.write_outputs();
    good = session.compare_outputs();
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& e) {
    // What the checks found belongs to the answer.
    report->error(e.what());
    failed = true;
  }
  good &= checks.finish(failed) && !failed;
  return good;
}

}  // namespace

int run_command(const Words& words) {
  return run_command_line().run(words, [](const Arguments& arguments) {
    const RunOptions options = run_options(arguments);
    RunReport report(options);
    bool good = false;
    try {
      good = perform(options, &report);
    } catch (const UsageError&) {
      throw;
    } catch (const std::bad_alloc&) {
      report.error("no memory left");
    } catch (const std::exception& e) {
      report.error(e.what());
    }
    if (options.json) print(report.document(good));
    return good ? kDone : kFailed;
  });
}

}  // namespace opennrt::tools
