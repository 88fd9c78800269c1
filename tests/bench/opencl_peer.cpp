// SPDX-License-Identifier: Apache-2.0
#include "bench/opencl_peer.h"

#include <dlfcn.h>

#include <cstdint>

namespace opennrt::bench {

// The few calls that are needed, as the OpenCL 1.2 specification declares them;
// handles are pointers.
struct OpenClPeer::Library {
  using Int = std::int32_t;
  using Uint = std::uint32_t;
  Int (*platforms)(Uint, void**, Uint*) = nullptr;
  Int (*devices)(void*, std::uint64_t, Uint, void**, Uint*) = nullptr;
  Int (*device_info)(void*, Uint, std::size_t, void*, std::size_t*) = nullptr;
  void* (*make_context)(const std::intptr_t*, Uint, void* const*, void*, void*, Int*) = nullptr;
  void* (*make_queue)(void*, void*, std::uint64_t, Int*) = nullptr;
  void* (*make_program)(void*, Uint, const char**, const std::size_t*, Int*) = nullptr;
  Int (*build)(void*, Uint, void* const*, const char*, void*, void*) = nullptr;
  void* (*make_kernel)(void*, const char*, Int*) = nullptr;
  Int (*enqueue)(void*, void*, Uint, const std::size_t*, const std::size_t*, const std::size_t*,
                 Uint, void* const*, void**) = nullptr;
  Int (*finish)(void*) = nullptr;
  Int (*drop_kernel)(void*) = nullptr;
  Int (*drop_program)(void*) = nullptr;
  Int (*drop_queue)(void*) = nullptr;
  Int (*drop_context)(void*) = nullptr;

  bool load() {
    void* const handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    const auto find = [&](const char* name, auto* out) {
      *out = reinterpret_cast<std::remove_pointer_t<decltype(out)>>(dlsym(handle, name));
      return *out != nullptr;
    };
    return find("clGetPlatformIDs", &platforms) && find("clGetDeviceIDs", &devices) &&
           find("clGetDeviceInfo", &device_info) && find("clCreateContext", &make_context) &&
           find("clCreateCommandQueue", &make_queue) &&
           find("clCreateProgramWithSource", &make_program) && find("clBuildProgram", &build) &&
           find("clCreateKernel", &make_kernel) && find("clEnqueueNDRangeKernel", &enqueue) &&
           find("clFinish", &finish) && find("clReleaseKernel", &drop_kernel) &&
           find("clReleaseProgram", &drop_program) && find("clReleaseCommandQueue", &drop_queue) &&
           find("clReleaseContext", &drop_context);
  }
};

OpenClPeer::OpenClPeer() : cl_(std::make_unique<Library>()) {}

OpenClPeer::~OpenClPeer() {
  if (kernel_) cl_->drop_kernel(kernel_);
  if (program_) cl_->drop_program(program_);
  if (queue_) cl_->drop_queue(queue_);
  if (context_) cl_->drop_context(context_);
}

std::unique_ptr<OpenClPeer> OpenClPeer::open(std::string* why) {
  std::unique_ptr<OpenClPeer> peer(new OpenClPeer);
  return peer->prepare(why) ? std::move(peer) : nullptr;
}

bool OpenClPeer::prepare(std::string* why) {
  constexpr std::uint64_t kCpu = 1 << 1;                    // CL_DEVICE_TYPE_CPU
  constexpr std::uint32_t kName = 0x102B, kUnits = 0x1002;  // CL_DEVICE_NAME, .._COMPUTE_UNITS
  const auto fail = [&](const char* text) {
    *why = text;
    return false;
  };
  if (!cl_->load()) return fail("libOpenCL.so.1 is not installed");
  void* platforms[8] = {};
  std::uint32_t found = 0;
  if (cl_->platforms(8, platforms, &found) != 0 || found == 0)
    return fail("OpenCL has no platform; install pocl-opencl-icd");
  void* device = nullptr;
  for (std::uint32_t i = 0; i < found && i < 8 && !device; ++i)
    if (cl_->devices(platforms[i], kCpu, 1, &device, nullptr) != 0) device = nullptr;
  if (!device) return fail("OpenCL has no CPU device; install pocl-opencl-icd");
  char name[256] = "";
  cl_->device_info(device, kName, sizeof name - 1, name, nullptr);
  name_ = name;
  std::uint32_t units = 1;
  cl_->device_info(device, kUnits, sizeof units, &units, nullptr);
  items_ = units;
  std::int32_t error = 0;
  context_ = cl_->make_context(nullptr, 1, &device, nullptr, nullptr, &error);
  if (!context_) return fail("clCreateContext failed");
  queue_ = cl_->make_queue(context_, device, 0, &error);
  if (!queue_) return fail("clCreateCommandQueue failed");
  const char* source = "__kernel void nothing(void) {}";
  program_ = cl_->make_program(context_, 1, &source, nullptr, &error);
  if (!program_ || cl_->build(program_, 1, &device, "", nullptr, nullptr) != 0)
    return fail("the OpenCL compiler failed");
  kernel_ = cl_->make_kernel(program_, "nothing", &error);
  return kernel_ || fail("clCreateKernel failed");
}

void OpenClPeer::launch() {
  const std::size_t one = 1;
  cl_->enqueue(queue_, kernel_, 1, nullptr, &items_, &one, 0, nullptr, nullptr);
  cl_->finish(queue_);
}

}  // namespace opennrt::bench
