// SPDX-License-Identifier: Apache-2.0
//
// Functions that libnrt.so.1 does not export and monitoring programs find in
// its symbol table all the same.
#pragma once

#include <dlfcn.h>
#include <elf.h>

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nrt/nrt.h"

namespace opennrt::test {

// Functions of the library that holds nrt_init, by name.
class SymbolTable {
 public:
  SymbolTable() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&nrt_init), &info) == 0) return;
    std::ifstream file(info.dli_fname, std::ios::binary | std::ios::ate);
    std::vector<char> image(file ? static_cast<std::size_t>(file.tellg()) : 0);
    file.seekg(0);
    if (!file.read(image.data(), static_cast<std::streamsize>(image.size()))) return;
    if (image.size() < sizeof(Elf64_Ehdr)) return;
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image.data());
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.data() + header->e_shoff);
    for (unsigned s = 0; s < header->e_shnum; ++s) {
      if (sections[s].sh_type != SHT_SYMTAB) continue;
      const char* names = image.data() + sections[sections[s].sh_link].sh_offset;
      const auto* symbols =
          reinterpret_cast<const Elf64_Sym*>(image.data() + sections[s].sh_offset);
      for (std::size_t i = 0; i < sections[s].sh_size / sizeof(Elf64_Sym); ++i)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx != SHN_UNDEF) {
          const std::string_view name = names + symbols[i].st_name;
          if (name.starts_with("ndl_") || name.starts_with("nds_"))  // a library has many others
            functions_.emplace(name, static_cast<char*>(info.dli_fbase) + symbols[i].st_value);
        }
    }
  }
  void* find(const char* name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, void*> functions_;
};

inline const SymbolTable& symbol_table() {
  static const SymbolTable one;
  return one;
}

}  // namespace opennrt::test

// ONRT_HIDDEN(ndl_open_device)(..) calls it as found; NULL: it is not there.
#define ONRT_HIDDEN(name) \
  reinterpret_cast<decltype(&name)>(opennrt::test::symbol_table().find(#name))
