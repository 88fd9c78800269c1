// SPDX-License-Identifier: Apache-2.0
#include "plugin/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <fstream>
#include <vector>

#include "base/file.h"

namespace opennrt::plugin {

namespace {

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
#error "unknown machine"
#endif
constexpr std::size_t kMaxProgramHeaders = 256;

bool same_file(const char* a, const char* b) {
  struct stat x{}, y{};
  return ::stat(a, &x) == 0 && ::stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

}  // namespace

Status check_elf(const std::string& path) {
  if (!is_plain_file(path)) return Status::invalid("{}: not a regular file", path);
  errno = 0;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return Status::invalid("{}: {}", path, strerror(errno != 0 ? errno : EIO));
  const auto bytes = static_cast<std::uint64_t>(in.tellg());
  Elf64_Ehdr head{};
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(&head), sizeof head) ||
      memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return Status::invalid("{}: not a shared library", path);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN || head.e_machine != kMachine)
    return Status::invalid("{}: built for machine {} class {}, this process is machine {} class {}",
                           path, head.e_machine, head.e_ident[EI_CLASS], kMachine, ELFCLASS64);
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > kMaxProgramHeaders)
    return Status::invalid("{}: broken program headers", path);
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  in.seekg(static_cast<std::streamoff>(head.e_phoff));
  const auto table = static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr));
  if (!in.read(reinterpret_cast<char*>(segments.data()), table))
    return Status::invalid("{}: truncated: {} bytes", path, bytes);
  for (const Elf64_Phdr& s : segments)
    if (s.p_type == PT_LOAD && (s.p_offset > bytes || s.p_filesz > bytes - s.p_offset))
      return Status::invalid("{}: truncated: {} bytes, a segment ends at {}", path, bytes,
                             s.p_offset + s.p_filesz);
  return {};
}

Result<void*> open_symbol(const std::string& path, const char* symbol) {
  ONRT_TRY(check_elf(path));
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return Status::invalid("{}: {}", path, reason != nullptr ? reason : "cannot be loaded");
  }
  void* const address = ::dlsym(handle, symbol);
  if (address == nullptr) return Status::invalid("{}: exports no symbol {}", path, symbol);
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr ||
      !same_file(info.dli_fname, path.c_str()))
    return Status::invalid("{}: symbol {} comes from {}, not from this file", path, symbol,
                           info.dli_fname != nullptr ? info.dli_fname : "an unknown file");
  return address;
}

}  // namespace opennrt::plugin
