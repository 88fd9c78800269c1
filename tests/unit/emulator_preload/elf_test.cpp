// SPDX-License-Identifier: Apache-2.0
#include "launcher/elf.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "run_program.h"

namespace opennrt::emu::launcher {
namespace {

// The smallest file that says what it is.
std::string elf(unsigned char size_class, std::uint16_t machine, const std::string& loader,
                const std::string& note = "") {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = size_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  std::vector<Elf64_Phdr> parts;
  std::string data;
  const std::size_t count = (loader.empty() ? 0u : 1u) + (note.empty() ? 0u : 1u);
  const auto add = [&](std::uint32_t type, const std::string& bytes) {
    Elf64_Phdr part{};
    part.p_type = type;
    part.p_offset = sizeof header + count * sizeof part + data.size();
    part.p_filesz = bytes.size();
    parts.push_back(part);
    data += bytes;
  };
  if (!loader.empty()) add(PT_INTERP, loader + '\0');
  if (!note.empty()) add(PT_NOTE, note);
  header.e_phnum = static_cast<std::uint16_t>(parts.size());
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof(Elf64_Phdr));
  return file + data;
}

class ElfTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes, mode_t mode = 0755) {
    const std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), mode);
    return path;
  }
  void refused(const std::string& path, const std::string& why) {
    std::string reason;
    EXPECT_EQ(inspect(path, &program_, &reason), Verdict::kRefused) << path;
    EXPECT_NE(reason.find(why), std::string::npos) << reason;
    EXPECT_NE(reason.find(path), std::string::npos) << reason;
  }
  void fits(const std::string& path) {
    std::string reason;
    EXPECT_EQ(inspect(path, &program_, &reason), Verdict::kFits) << reason;
  }
  test::Directory directory_;
  Program program_;
};

constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";

TEST_F(ElfTest, RealPrograms) {
  fits("/bin/ls");
  EXPECT_NE(std::find(program_.linkage.needed.begin(), program_.linkage.needed.end(), "libc.so.6"),
            program_.linkage.needed.end());
  EXPECT_FALSE(program_.go || program_.is_static);
  fits(OPENNRT_DIRECT);
  refused(OPENNRT_STATIC, "linked statically");
  EXPECT_TRUE(program_.is_static);
}

TEST_F(ElfTest, VersionsAndPathsOfARealLibrary) {
  Linkage c;
  std::string reason;
  ASSERT_TRUE(read_library("/lib/x86_64-linux-gnu/libc.so.6", &c, &reason)) << reason;
  EXPECT_EQ(c.soname, "libc.so.6");
  EXPECT_EQ(std::count(c.offers_versions.begin(), c.offers_versions.end(), "GLIBC_2.2.5"), 1);
  fits("/bin/ls");
  EXPECT_EQ(program_.file, "/bin/ls");
  EXPECT_EQ(program_.loader, kLoader);
  const std::vector<std::string>& needs = program_.linkage.requires_versions["libc.so.6"];
  EXPECT_EQ(std::count(needs.begin(), needs.end(), "GLIBC_2.2.5"), 1);
  EXPECT_TRUE(program_.linkage.soname.empty() && program_.linkage.rpath.empty());
}

// Whatever stands there, it ends, and reads nothing that is not in the file.
TEST_F(ElfTest, DamagedLibraries) {
  std::string whole(std::filesystem::file_size("/bin/ls"), '\0');
  std::ifstream("/bin/ls", std::ios::binary)
      .read(whole.data(), static_cast<std::streamsize>(whole.size()));
  std::minstd_rand random(7);
  Linkage linkage;
  std::string reason;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole.substr(0, i % 3 == 0 ? random() % whole.size() : whole.size());
    for (int n = 0; n < 40 && !damaged.empty(); ++n)
      damaged[random() % std::min<std::size_t>(damaged.size(), 0x2000)] =
          static_cast<char>(random());
    read_library(write("damaged", damaged), &linkage, &reason);
    inspect(write("damaged", damaged), &program_, &reason);
  }
  EXPECT_FALSE(read_library("/nonexistent", &linkage, &reason));
  EXPECT_FALSE(read_library(write("text", "no library"), &linkage, &reason));
  EXPECT_NE(reason.find("is no library"), std::string::npos) << reason;
}

TEST_F(ElfTest, Kinds) {
  fits(write("good", elf(ELFCLASS64, EM_X86_64, kLoader)));
  fits(
      write("nix", elf(ELFCLASS64, EM_X86_64, "/nix/store/x-glibc-2.40/lib/ld-linux-x86-64.so.2")));
  refused(write("static", elf(ELFCLASS64, EM_X86_64, "")), "linked statically");
  refused(write("musl", elf(ELFCLASS64, EM_X86_64, "/lib/ld-musl-x86_64.so.1")), "musl");
  refused(write("other", elf(ELFCLASS64, EM_X86_64, "/libexec/ld-elf.so.1")), "not glibc's");
  refused(write("32", elf(ELFCLASS32, EM_386, "/lib/ld-linux.so.2")), "32-bit");
  refused(write("arm", elf(ELFCLASS64, EM_AARCH64, "/lib/ld-linux-aarch64.so.1")),
          "another processor");
  refused(write("mode", elf(ELFCLASS64, EM_X86_64, kLoader), 0644), "not executable");
  refused(directory_.path(), "is a directory");
  refused("/dev/null", "no regular file");
  std::string reason;
  EXPECT_EQ(inspect("/nonexistent", &program_, &reason), Verdict::kMissing);
}

TEST_F(ElfTest, Go) {
  Elf64_Nhdr note{.n_namesz = 4, .n_descsz = 8, .n_type = 4};
  std::string bytes(reinterpret_cast<const char*>(&note), sizeof note);
  bytes += std::string("Go\0\0", 4) + "buildid!";
  fits(write("go", elf(ELFCLASS64, EM_X86_64, kLoader, bytes)));
  EXPECT_TRUE(program_.go);
  fits(write("cut", elf(ELFCLASS64, EM_X86_64, kLoader, bytes.substr(0, 13))));
  EXPECT_FALSE(program_.go);
}

TEST_F(ElfTest, Privileged) {
  const std::string good = elf(ELFCLASS64, EM_X86_64, kLoader);
  refused(write("setuid", good, 04755), "setuid");
  refused(write("setgid", good, 02755), "setuid or setgid");
  const std::string path = write("capable", good);
  // VFS_CAP_REVISION_2 with CAP_NET_RAW permitted and effective.
  const std::uint32_t data[5] = {0x02000001, 1u << 13, 0, 0, 0};
  if (::setxattr(path.c_str(), "security.capability", data, sizeof data, 0) != 0)
    GTEST_SKIP() << "file capabilities need privileges here";
  refused(path, "file capabilities");
}

TEST_F(ElfTest, Scripts) {
  const std::string fixed = write("static", elf(ELFCLASS64, EM_X86_64, ""));
  fits(write("sh", "#!/bin/sh\ntrue\n"));
  fits(write("blank", "#! /bin/sh -e\ntrue\n"));
  fits(write("env", "#!/usr/bin/env -S A=b sh -e\ntrue\n"));
  fits(write("plain", "true\n"));  // for the shell
  fits(write("empty", ""));
  refused(write("bad", "#!" + fixed + " -x\n"), "linked statically");
  refused(write("twice", "#!" + (directory_ / "bad") + "\n"), "linked statically");
  refused(write("none", "#!/no/interpreter\n"), "/no/interpreter");
  refused(write("noenv", "#!/usr/bin/env no-such-program-at-all\n"), "no-such-program-at-all");
  const std::string self = directory_ / "self";
  refused(write("self", "#!" + self + "\n"), "too many interpreters");
}

// Whatever the bytes, there is an answer.
TEST_F(ElfTest, Damage) {
  const std::string good = test::contents("/bin/true");
  for (std::size_t size : {4u, 5u, 20u, 63u, 64u, 65u, 100u, 500u, 4000u}) {
    std::string reason;
    (void)inspect(write("cut", good.substr(0, size)), &program_, &reason);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good.substr(0, 4096);
    for (int n = 0; n < 4; ++n) bytes[64 + random() % 900] = static_cast<char>(random());
    for (int n = 0; n < 2; ++n) bytes[16 + random() % 48] = static_cast<char>(random());
    std::string reason;
    const Verdict verdict = inspect(write("damaged", bytes), &program_, &reason);
    EXPECT_TRUE(verdict == Verdict::kFits || !reason.empty());
  }
}

TEST(FindProgram, LikeAShell) {
  EXPECT_EQ(find_program("/bin/ls"), "/bin/ls");
  EXPECT_EQ(find_program("./x"), "./x");
  EXPECT_NE(find_program("ls"), "");
  EXPECT_EQ(find_program("no-such-program-at-all"), "");
  EXPECT_EQ(find_program(""), "");
}

}  // namespace
}  // namespace opennrt::emu::launcher
