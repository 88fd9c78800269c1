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
constexpr std::size_t kMostHeaders = 4096, kMostRecords = 16384, kMostText = 16 << 20;

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

// The dynamic section, entry by entry. Damaged tables give less: the loader says
// the rest.
class DynamicSection {
 public:
  DynamicSection(const File& file, const Elf& elf) : file_(file), elf_(elf) {
    for (const Elf64_Phdr& p : elf.headers) {
      if (p.p_type != PT_DYNAMIC) continue;
      const std::string table = file.text(p.p_offset, p.p_filesz);
      for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        std::memcpy(&entry, table.data() + at, sizeof entry);
        if (entry.d_tag == DT_NULL) break;
        entries_.push_back(entry);
      }
      break;
    }
    std::uint64_t offset = 0;
    if (elf.offset_of(value(DT_STRTAB), &offset)) strings_ = file.text(offset, value(DT_STRSZ));
  }

  void read(Linkage* out) const {
    for (const Elf64_Dyn& entry : entries_)
      if (entry.d_tag == DT_NEEDED) out->needed.push_back(string(entry.d_un.d_val));
    out->soname = named(DT_SONAME);
    out->rpath = named(DT_RPATH);
    out->runpath = named(DT_RUNPATH);
    std::uint64_t at = 0;
    if (elf_.offset_of(value(DT_VERNEED), &at))
      walk<Elf64_Verneed>(
          at, value(DT_VERNEEDNUM), [&](const Elf64_Verneed& need, std::uint64_t here) {
            std::vector<std::string>& versions = out->requires_versions[string(need.vn_file)];
            walk<Elf64_Vernaux>(here + need.vn_aux, need.vn_cnt,
                                [&](const Elf64_Vernaux& version, std::uint64_t) {
                                  versions.push_back(string(version.vna_name));
                                  return std::uint64_t{version.vna_next};
                                });
            return std::uint64_t{need.vn_next};
          });
    if (elf_.offset_of(value(DT_VERDEF), &at))
      walk<Elf64_Verdef>(at, value(DT_VERDEFNUM),
                         [&](const Elf64_Verdef& version, std::uint64_t here) {
                           Elf64_Verdaux name{};
                           if ((version.vd_flags & VER_FLG_BASE) == 0 &&
                               file_.read(here + version.vd_aux, &name, sizeof name))
                             out->offers_versions.push_back(string(name.vda_name));
                           return std::uint64_t{version.vd_next};
                         });
  }

 private:
  std::uint64_t value(Elf64_Sxword tag) const {
    for (const Elf64_Dyn& entry : entries_)
      if (entry.d_tag == tag) return entry.d_un.d_val;
    return 0;
  }
  std::string string(std::uint64_t at) const {
    return at < strings_.size() ? strings_.c_str() + at : "";
  }
  std::string named(Elf64_Sxword tag) const {
    const std::uint64_t at = value(tag);
    return at != 0 ? string(at) : "";
  }
  // Records that say how far the next one is; 0 ends the chain.
  template <typename Record, typename Visit>
  void walk(std::uint64_t at, std::uint64_t count, Visit visit) const {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, kMostHeaders); ++i) {
      Record record;
      if (++records_ > kMostRecords || !file_.read(at, &record, sizeof record)) return;
      const std::uint64_t next = visit(record, at);
      if (next == 0) return;
      at += next;
    }
  }

  const File& file_;
  const Elf& elf_;
  mutable std::size_t records_ = 0;
  std::vector<Elf64_Dyn> entries_;
  std::string strings_;
};

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

// Headers of a file for this processor.
Verdict read_headers(const std::string& path, const File& file, const std::string& head, Elf* out,
                     std::string* reason) {
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
  out->headers.resize(header.e_phnum);
  if (!file.read(header.e_phoff, out->headers.data(), out->headers.size() * sizeof(Elf64_Phdr)))
    return refuse(path, "has a damaged header", reason);
  return Verdict::kFits;
}

Verdict inspect_elf(const std::string& path, const File& file, const std::string& head,
                    Program* out, std::string* reason) {
  Elf elf;
  if (const Verdict verdict = read_headers(path, file, head, &elf, reason);
      verdict != Verdict::kFits)
    return verdict;
  out->go = has_go_note(file, elf);
  out->file = path;
  DynamicSection(file, elf).read(&out->linkage);
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
  out->loader = loader;
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

bool read_library(const std::string& path, Linkage* out, std::string* reason) {
  *out = Linkage{};
  const File file(path);
  if (!file.good()) {
    *reason = path + ": " + std::strerror(errno);
    return false;
  }
  const std::string head = file.head(sizeof(Elf64_Ehdr));
  if (head.compare(0, SELFMAG, ELFMAG) != 0) {
    *reason = path + " is no library";
    return false;
  }
  Elf elf;
  if (read_headers(path, file, head, &elf, reason) != Verdict::kFits) return false;
  DynamicSection(file, elf).read(out);
  return true;
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
