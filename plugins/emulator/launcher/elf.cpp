// SPDX-License-Identifier: Apache-2.0
#include "launcher/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace opennrt::emu::launcher {

namespace {

constexpr int kMostInterpreters = 4;  // as the kernel follows them
constexpr std::size_t kMostHeaders = 4096, kMostText = 1 << 20;

class File {
 public:
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool good() const { return fd_ >= 0; }
  // All of it, or false.
  bool read(std::uint64_t offset, void* out, std::size_t bytes) const {
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
      const ssize_t n = ::pread(fd_, to, bytes, static_cast<off_t>(offset));
      if (n <= 0) return false;
      to += n;
      offset += static_cast<std::uint64_t>(n);
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
  std::string head(std::size_t bytes) const {
    std::string text(bytes, '\0');
    const ssize_t n = ::pread(fd_, text.data(), bytes, 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
  std::string text(std::uint64_t offset, std::uint64_t bytes) const {
    std::string out(std::min<std::uint64_t>(bytes, kMostText), '\0');
    if (!read(offset, out.data(), out.size())) out.clear();
    return out;
  }

 private:
  int fd_;
};

struct Elf {
  std::vector<Elf64_Phdr> headers;
  // Offset in the file of an address of the program. False: not in it.
  bool offset_of(std::uint64_t address, std::uint64_t* out) const {
    for (const Elf64_Phdr& p : headers) {
      if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz) continue;
      *out = p.p_offset + (address - p.p_vaddr);
      return true;
    }
    return false;
  }
};

// Names of DT_NEEDED. Damaged tables give fewer names: the loader says the rest.
void read_needed(const File& file, const Elf& elf, std::vector<std::string>* out) {
  for (const Elf64_Phdr& p : elf.headers) {
    if (p.p_type != PT_DYNAMIC) continue;
    const std::string table = file.text(p.p_offset, p.p_filesz);
    std::uint64_t strings = 0, bytes = 0;
    std::vector<std::uint64_t> names;
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, table.data() + at, sizeof entry);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    }
    std::uint64_t offset = 0;
    if (!elf.offset_of(strings, &offset)) return;
    const std::string text = file.text(offset, bytes);
    for (const std::uint64_t name : names)
      if (name < text.size()) out->push_back(text.c_str() + name);
  }
}

// The toolchain leaves a note of its own.
bool has_go_note(const File& file, const Elf& elf) {
  for (const Elf64_Phdr& p : elf.headers) {
    if (p.p_type != PT_NOTE) continue;
    const std::string notes = file.text(p.p_offset, p.p_filesz);
    std::size_t at = 0;
    while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
      Elf64_Nhdr note;
      std::memcpy(&note, notes.data() + at, sizeof note);
      at += sizeof note;
      if (note.n_namesz > notes.size() - at) break;
      if (note.n_namesz >= 2 && std::memcmp(notes.data() + at, "Go", 2) == 0) return true;
      const std::uint64_t size = ((std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3}) +
                                 ((std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3});
      if (size > notes.size() - at) break;
      at += size;
    }
  }
  return false;
}

Verdict refuse(const std::string& path, const std::string& why, std::string* reason) {
  *reason = path + " " + why;
  return Verdict::kRefused;
}

Verdict inspect_elf(const std::string& path, const File& file, const std::string& head,
                    Program* out, std::string* reason) {
  const auto ident = [&](int at) {
    return static_cast<unsigned char>(head[static_cast<unsigned>(at)]);
  };
  if (head.size() < sizeof(Elf64_Ehdr)) return refuse(path, "is cut short", reason);
  if (ident(EI_CLASS) == ELFCLASS32)
    return refuse(path, "is a 32-bit program; the driver's interface is 64-bit only", reason);
  Elf64_Ehdr header;
  std::memcpy(&header, head.data(), sizeof header);
  if (ident(EI_CLASS) != ELFCLASS64 || ident(EI_DATA) != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    return refuse(path, "is a program for another processor", reason);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostHeaders)
    return refuse(path, "has a damaged header", reason);
  Elf elf;
  elf.headers.resize(header.e_phnum);
  if (!file.read(header.e_phoff, elf.headers.data(), elf.headers.size() * sizeof(Elf64_Phdr)))
    return refuse(path, "has a damaged header", reason);
  out->go = has_go_note(file, elf);
  read_needed(file, elf, &out->needed);
  const auto interpreter = std::find_if(elf.headers.begin(), elf.headers.end(),
                                        [](const Elf64_Phdr& p) { return p.p_type == PT_INTERP; });
  if (interpreter == elf.headers.end()) {
    out->is_static = true;
    return refuse(path,
                  "is linked statically, so that no library can serve it the devices; link it "
                  "dynamically",
                  reason);
  }
  const std::string loader = file.text(interpreter->p_offset, interpreter->p_filesz).c_str();
  const std::string name = loader.substr(loader.rfind('/') + 1);
  if (name.starts_with("ld-musl"))
    return refuse(path, "is linked against musl (" + loader + "); only glibc programs are served",
                  reason);
  if (!name.starts_with("ld-linux"))
    return refuse(path, "is loaded by \"" + loader + "\", which is not glibc's", reason);
  return Verdict::kFits;
}

// Words of the first line behind "#!": the interpreter, and what it gets.
std::pair<std::string, std::string> interpreter_line(std::string_view head) {
  const auto strip = [](std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return std::string_view();
    text.remove_prefix(first);
    text.remove_suffix(text.size() - 1 - text.find_last_not_of(" \t"));
    return text;
  };
  const std::string_view line = strip(head.substr(2, head.find('\n') - 2));
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return {std::string(line), ""};
  return {std::string(line.substr(0, blank)), std::string(strip(line.substr(blank)))};
}

// What "env ARGUMENTS" runs: the first word that is neither an option nor a
// variable.
std::string behind_env(const std::string& arguments) {
  std::size_t at = 0;
  while (at < arguments.size()) {
    const std::size_t end = std::min(arguments.find_first_of(" \t", at), arguments.size());
    const std::string word = arguments.substr(at, end - at);
    at = end + 1;
    if (!word.empty() && word[0] != '-' && word.find('=') == std::string::npos) return word;
  }
  return "";
}

Verdict inspect_level(const std::string& path, int level, Program* out, std::string* reason) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    *reason = path + ": " + std::strerror(errno);
    return errno == ENOENT || errno == ENOTDIR ? Verdict::kMissing : Verdict::kRefused;
  }
  if (S_ISDIR(status.st_mode)) return refuse(path, "is a directory", reason);
  if (!S_ISREG(status.st_mode)) return refuse(path, "is no regular file", reason);
  if (::access(path.c_str(), X_OK) != 0) return refuse(path, "is not executable", reason);
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0)
    return refuse(path,
                  "is a setuid or setgid program; the loader serves those no preloaded library",
                  reason);
  if (::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return refuse(path,
                  "has file capabilities; the loader serves such programs no preloaded library",
                  reason);
  const File file(path);
  if (!file.good())
    return refuse(path, std::string("cannot be looked at: ") + std::strerror(errno), reason);
  const std::string head = file.head(256);
  if (head.size() >= SELFMAG && head.compare(0, SELFMAG, ELFMAG) == 0)
    return inspect_elf(path, file, head, out, reason);
  // Without a first line the caller's shell would run it; so will execvp.
  std::string interpreter = "/bin/sh";
  if (head.starts_with("#!")) {
    if (level == kMostInterpreters) return refuse(path, "has too many interpreters", reason);
    const auto [program, arguments] = interpreter_line(head);
    interpreter = program;
    if (program.substr(program.rfind('/') + 1) == "env") {
      const std::string name = behind_env(arguments);
      const std::string found = find_program(name);
      if (!name.empty() && found.empty())
        return refuse(path, "names the interpreter " + name + ", which is not on PATH", reason);
      if (!found.empty()) interpreter = found;
    }
  }
  const Verdict verdict = inspect_level(interpreter, level + 1, out, reason);
  if (verdict == Verdict::kFits) return verdict;
  *reason = path + " is a script; its interpreter " + *reason;
  return Verdict::kRefused;
}

}  // namespace

Verdict inspect(const std::string& path, Program* out, std::string* reason) {
  *out = Program{};
  return inspect_level(path, 0, out, reason);
}

std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return name;
  const char* variable = std::getenv("PATH");
  std::string_view list = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  std::string unusable;
  for (;;) {
    const std::size_t colon = list.find(':');
    const std::string_view directory = list.substr(0, colon);
    const std::string path =
        (directory.empty() ? std::string(".") : std::string(directory)) + "/" + name;
    struct stat status;
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (::access(path.c_str(), X_OK) == 0) return path;
      if (unusable.empty()) unusable = path;
    }
    if (colon == std::string_view::npos) return unusable;
    list.remove_prefix(colon + 1);
  }
}

}  // namespace opennrt::emu::launcher
