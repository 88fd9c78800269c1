// SPDX-License-Identifier: Apache-2.0
//
// Names a file by a system call of its own: direct HOW PATH. Says what came back;
// also linked statically.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long raw(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}

// As the preloaded library calls: with its mark in the sixth argument.
static long marked(long number, long a, long b, long c) {
  register long r9 __asm__("r9") = 0x656d75316f6e7274;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* how = argv[1];
  const long path = (long)argv[2];
  struct stat status;
  long result = -ENOSYS;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);  // no way around it
  if (strcmp(how, "open") == 0) result = raw(SYS_open, path, O_RDONLY, 0, 0);
  if (strcmp(how, "openat") == 0) result = raw(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  if (strcmp(how, "stat") == 0) result = raw(SYS_stat, path, (long)&status, 0, 0);
  if (strcmp(how, "access") == 0) result = raw(SYS_access, path, F_OK, 0, 0);
  if (strcmp(how, "marked") == 0) result = marked(SYS_openat, AT_FDCWD, path, O_RDONLY);
  if (strcmp(how, "cwd") == 0) {  // relative to the directory
    if (chdir("/dev") != 0) return 3;
    result = raw(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  }
  if (strcmp(how, "fstat") == 0)
    result = raw(SYS_newfstatat, 0, (long)"", (long)&status, AT_EMPTY_PATH);
  if (strcmp(how, "ioctl") == 0) {  // on a descriptor of the C library
    const int fd = open(argv[2], O_RDWR);
    if (fd < 0) return 4;
    result = raw(SYS_ioctl, fd, 0x80084E03, 0, 0);
  }
  if (strcmp(how, "sleep") == 0) {  // outlives its parent
    if (fork() != 0) return 5;
    usleep(300000);
    result = raw(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
    FILE* file = fopen(argv[3], "w");
    if (file) {
      fprintf(file, "%ld\n", result);
      fclose(file);
    }
    return 0;
  }
  printf("%ld\n", result >= 0 ? 0 : result);
  return 0;
}
