// SPDX-License-Identifier: Apache-2.0
//
// An unmodified program: what it sees of the served names, by scenario. It knows
// nothing of the library; every expectation is what a driver's node or a sysfs
// file does. Exit code: the number of surprises.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int surprises;
#define EXPECT(c)                                                               \
  do {                                                                          \
    errno = 0;                                                                  \
    if (!(c)) {                                                                 \
      fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #c, errno); \
      ++surprises;                                                              \
    }                                                                           \
  } while (0)
#define FAILS(call, error) EXPECT((call) == -1 && errno == (error))

#define OPEN_COUNT 0x4E01
#define DESCRIPTOR 0x4E02
#define ECHO 0x4E03
#define NO_SUPPORT 0x4E04

static long raw(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}

static int descriptor_of(int fd) {
  int value = -1;
  return ioctl(fd, DESCRIPTOR, &value) == 0 ? value : -1;
}

static void numbers(void) {
  const int lowest = dup(0);
  close(lowest);
  const int fd = open("/dev/neuron0", O_RDWR | O_CLOEXEC);
  EXPECT(fd == lowest);
  EXPECT(ioctl(fd, OPEN_COUNT) == 1);
  EXPECT(ioctl(fd, ECHO, 7) == 7);
  FAILS(ioctl(fd, 0x4EFF), EINVAL);
  FAILS(ioctl(fd, NO_SUPPORT), 524);
  EXPECT((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
  EXPECT(fcntl(fd, F_GETFD) == FD_CLOEXEC);
  EXPECT(ioctl(fd, FIONCLEX) == 0 && fcntl(fd, F_GETFD) == 0);

  const int misc = open64("/dev/neuron0", O_WRONLY);
  EXPECT(misc == lowest + 1 && (fcntl(misc, F_GETFL) & O_ACCMODE) == O_WRONLY);
  EXPECT(fcntl(misc, F_GETFD) == 0);
  const int readable = openat(AT_FDCWD, "/dev/neuron1", O_RDONLY);
  EXPECT((fcntl(readable, F_GETFL) & O_ACCMODE) == O_RDONLY);
  EXPECT(ioctl(fd, OPEN_COUNT) == 3);

  struct stat status;
  EXPECT(fstat(readable, &status) == 0 && S_ISCHR(status.st_mode) && minor(status.st_rdev) == 1);
  char byte;
  FAILS(read(fd, &byte, 1), EINVAL);
  FAILS(write(fd, &byte, 1), EINVAL);
  FAILS(pread(fd, &byte, 1, 0), EINVAL);
  FAILS(read(misc, &byte, 1), EBADF);
  FAILS(write(readable, &byte, 1), EBADF);
  FAILS(lseek(fd, 0, SEEK_SET), ESPIPE);
  struct pollfd ready = {fd, POLLIN | POLLOUT, 0};
  EXPECT(poll(&ready, 1, 0) == 1 && ready.revents == (POLLIN | POLLOUT));
  EXPECT(!isatty(fd));

  // Each duplicate is a descriptor of its own that must be closed.
  const int copy = dup(fd);
  EXPECT(copy == readable + 1 && descriptor_of(copy) != descriptor_of(fd));
  EXPECT(dup2(fd, 40) == 40 && descriptor_of(40) > 0);
  EXPECT(dup3(fd, 41, O_CLOEXEC) == 41 && fcntl(41, F_GETFD) == FD_CLOEXEC);
  FAILS(dup3(fd, fd, 0), EINVAL);
  FAILS(dup3(fd, 44, 12345), EINVAL);
  EXPECT(dup2(fd, fd) == fd);
  EXPECT(fcntl(fd, F_DUPFD, 42) == 42 && fcntl(42, F_GETFD) == 0);
  EXPECT(fcntl(fd, F_DUPFD_CLOEXEC, 42) == 43 && fcntl(43, F_GETFD) == FD_CLOEXEC);
  EXPECT(ioctl(fd, OPEN_COUNT) == 8);
  // A duplicate onto one of ours closes that one.
  EXPECT(dup2(copy, 40) == 40 && ioctl(fd, OPEN_COUNT) == 8);
  const int other = open("/dev/null", O_RDONLY);
  EXPECT(dup2(other, 40) == 40 && ioctl(fd, OPEN_COUNT) == 7);
  FAILS(ioctl(40, OPEN_COUNT), ENOTTY);
  FAILS(dup2(99, 41), EBADF);
  EXPECT(ioctl(41, OPEN_COUNT) == 7);
  EXPECT(close_range(41, 43, 0) == 0 && ioctl(fd, OPEN_COUNT) == 4);
  FAILS(ioctl(42, OPEN_COUNT), EBADF);
  EXPECT(close(copy) == 0 && ioctl(fd, OPEN_COUNT) == 3);
  FAILS(close(copy), EBADF);

  const int low = dup(0);
  close(low);
  EXPECT(dup2(fd, low) == low && fcntl(low, F_GETFD) == 0 && ioctl(low, OPEN_COUNT) == 4);
  close(low);
  EXPECT(dup3(fd, low, O_CLOEXEC) == low && fcntl(low, F_GETFD) == FD_CLOEXEC);
  close(low);

  // Closed by a call of its own, and the number given to another file.
  EXPECT(raw(SYS_close, misc, 0, 0, 0) == 0);
  const int file = dup(other);
  EXPECT(file == misc);
  FAILS(ioctl(file, OPEN_COUNT), ENOTTY);
  EXPECT(ioctl(fd, OPEN_COUNT) == 2);
  EXPECT(fstat(file, &status) == 0 && major(status.st_rdev) == 1);
  EXPECT(read(file, &byte, 1) == 0);

  // The same with a file of the very kind that stands behind ours.
  const int third = open("/dev/neuron0", O_RDWR);
  EXPECT(raw(SYS_close, third, 0, 0, 0) == 0 && memfd_create("other", 0) == third);
  FAILS(ioctl(third, OPEN_COUNT), ENOTTY);
  EXPECT(write(third, "x", 1) == 1 && close(third) == 0);

  FAILS(open("/dev/neuron7", O_RDWR), ENOENT);
  FAILS(open("/dev/neuron7", O_RDWR | O_CREAT, 0600), EACCES);
  FAILS(open("/dev/neuron0", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
  FAILS(open("/dev/neuron0", O_RDONLY | O_DIRECTORY), ENOTDIR);
  const char* volatile no_path = NULL;
  FAILS(open(no_path, O_RDONLY), EFAULT);
  closefrom(3);
  FAILS(ioctl(fd, OPEN_COUNT), EBADF);
}

static int listed(const char* directory, const char* name, int type) {
  DIR* stream = opendir(directory);
  int found = 0;
  for (const struct dirent* e; stream && (e = readdir(stream));)
    found += strcmp(e->d_name, name) == 0 && e->d_type == type;
  if (stream) closedir(stream);
  return found;
}

static void names(void) {
  struct stat status;
  EXPECT(stat("/dev/neuron0", &status) == 0 && S_ISCHR(status.st_mode) &&
         minor(status.st_rdev) == 0);
  EXPECT(lstat("/dev/../dev//neuron1", &status) == 0 && minor(status.st_rdev) == 1);
  FAILS(stat("/dev/neuron2", &status), ENOENT);
  FAILS(stat("/dev/neuron01", &status), ENOENT);
  struct statx more;
  EXPECT(statx(AT_FDCWD, "/dev/neuron1", 0, STATX_BASIC_STATS, &more) == 0 &&
         S_ISCHR(more.stx_mode) && more.stx_rdev_minor == 1);
  EXPECT(stat("/sys/module/neuron", &status) == 0 && S_ISDIR(status.st_mode));
  EXPECT(stat("/sys/module/neuron/version", &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_size == 4096 && (status.st_mode & 0777) == 0444);
  EXPECT(access("/dev/neuron0", R_OK | W_OK) == 0);
  FAILS(access("/dev/neuron0", X_OK), EACCES);
  FAILS(access("/dev/neuron2", F_OK), ENOENT);
  EXPECT(faccessat(AT_FDCWD, "/sys/module/neuron/version", R_OK, AT_EACCESS) == 0);
  EXPECT(euidaccess("/dev/neuron0", R_OK) == 0);
  EXPECT(access("/dev/null", F_OK) == 0 && stat("/dev/null", &status) == 0 &&
         S_ISCHR(status.st_mode));
  FAILS(stat("", &status), ENOENT);
  const char* volatile wild[] = {(const char*)8, (const char*)-8};
  for (int i = 0; i < 2; ++i) {
    FAILS(stat(wild[i], &status), EFAULT);
    FAILS(open(wild[i], O_RDONLY), EFAULT);
    FAILS(access(wild[i], F_OK), EFAULT);
  }

  // A served name stays what it is, and nothing real is made in its place.
  FAILS(chmod("/dev/neuron0", 0600), EPERM);
  FAILS(fchmodat(AT_FDCWD, "/dev/neuron0", 0600, 0), EPERM);
  FAILS(chown("/dev/neuron0", 0, 0), EPERM);
  FAILS(lchown("/dev/neuron0", 0, 0), EPERM);
  FAILS(fchownat(AT_FDCWD, "/dev/neuron0", 0, 0, 0), EPERM);
  FAILS(unlink("/dev/neuron0"), EPERM);
  FAILS(unlinkat(AT_FDCWD, "/dev/neuron0", 0), EPERM);
  FAILS(rename("/dev/neuron0", "/tmp/neuron0"), EPERM);
  FAILS(renameat(AT_FDCWD, "/nothing", AT_FDCWD, "/dev/neuron0"), EPERM);
  FAILS(renameat2(AT_FDCWD, "/nothing", AT_FDCWD, "/dev/neuron0", 0), EPERM);
  FAILS(mknod("/dev/neuron0", S_IFCHR | 0600, 0), EEXIST);
  FAILS(mknodat(AT_FDCWD, "/dev/neuron0", S_IFCHR | 0600, 0), EEXIST);
  FAILS(mkdir("/dev/neuron0", 0700), EEXIST);
  FAILS(mkdirat(AT_FDCWD, "/dev/neuron0", 0700), EEXIST);
  FAILS(symlink("/dev/null", "/dev/neuron0"), EEXIST);
  FAILS(symlinkat("/dev/null", AT_FDCWD, "/dev/neuron0"), EEXIST);
  EXPECT(stat("/dev/neuron0", &status) == 0 && S_ISCHR(status.st_mode));
  char attribute[16];
  FAILS(getxattr("/dev/neuron0", "user.x", attribute, sizeof attribute), ENODATA);
  FAILS(lgetxattr("/dev/neuron0", "user.x", attribute, sizeof attribute), ENODATA);
  EXPECT(listxattr("/dev/neuron0", attribute, sizeof attribute) == 0);
  EXPECT(llistxattr("/dev/neuron0", attribute, sizeof attribute) == 0);

  EXPECT(listed("/dev", "neuron0", DT_CHR) == 1 && listed("/dev", "neuron1", DT_CHR) == 1);
  EXPECT(listed("/dev", "neuron2", DT_CHR) == 0 && listed("/dev", "null", DT_CHR) == 1);
  EXPECT(listed("/sys/class", "neuron_device", DT_DIR) == 1);
  EXPECT(listed("/sys/class/neuron_device", "neuron1", DT_DIR) == 1);
  EXPECT(listed("/sys/class/neuron_device/neuron0", "reset", DT_REG) == 1);
  DIR* stream = opendir("/sys/module");
  int seen = 0;
  while (readdir(stream)) ++seen;
  rewinddir(stream);
  while (readdir(stream)) --seen;
  EXPECT(seen == 0);
  closedir(stream);
  struct dirent** list = NULL;
  const int count = scandir("/sys/class/neuron_device", &list, NULL, alphasort);
  EXPECT(count == 5 && strcmp(list[2]->d_name, "neuron0") == 0 &&
         strcmp(list[4]->d_name, "node_id_2") == 0);
  for (int i = 0; i < count; ++i) free(list[i]);
  free(list);
  glob_t found;
  EXPECT(glob("/dev/neuron*", 0, NULL, &found) == 0 && found.gl_pathc == 2 &&
         strcmp(found.gl_pathv[1], "/dev/neuron1") == 0);
  globfree(&found);
  EXPECT(glob("/sys/class/neuron_device/neuron*/reset", 0, NULL, &found) == 0 &&
         found.gl_pathc == 1);
  globfree(&found);

  char path[4096];
  EXPECT(realpath("/sys/../dev/neuron0", path) && strcmp(path, "/dev/neuron0") == 0);
  EXPECT(realpath("/dev/neuron2", path) == NULL && errno == ENOENT);
  EXPECT(realpath("/proc/self/exe", path) != NULL);
  FAILS(readlink("/dev/neuron0", path, sizeof path), EINVAL);

  // Relative to a directory, by descriptor and by the working directory.
  const int dev = open("/dev", O_RDONLY | O_DIRECTORY);
  const int node = openat(dev, "neuron0", O_RDWR);
  EXPECT(ioctl(node, OPEN_COUNT) >= 1);
  const int null = openat(dev, "null", O_RDWR);
  EXPECT(write(null, "x", 1) == 1);
  const int sys = open("/", O_RDONLY | O_DIRECTORY);
  EXPECT(fstatat(sys, "sys/class/neuron_device/neuron0/reset", &status, 0) == 0);
  const int class = open("/sys/class/neuron_device", O_RDONLY | O_DIRECTORY);
  const int text = openat(class, "neuron0/core_count", O_RDONLY);
  EXPECT(read(text, path, sizeof path) == 52 &&
         memcmp(path, "text of /sys/class/neuron_device/neuron0/core_count\n", 52) == 0);
  const int up = openat(class, "../../../dev/neuron1", O_RDONLY);
  EXPECT(fstat(up, &status) == 0 && minor(status.st_rdev) == 1);
  EXPECT(fchdir(class) == 0 && strcmp(getcwd(path, sizeof path), "/sys/class/neuron_device") == 0);
  EXPECT(stat("neuron0/reset", &status) == 0 && S_ISREG(status.st_mode));
  EXPECT(stat("../../../etc/passwd", &status) == 0);
  EXPECT(realpath("neuron0", path) && strcmp(path, "/sys/class/neuron_device/neuron0") == 0);
  EXPECT(chdir("neuron0") == 0 && access("core_count", R_OK) == 0);
  EXPECT(chdir("../../../../dev") == 0 && strcmp(getcwd(path, sizeof path), "/dev") == 0);
  EXPECT(access("neuron1", F_OK) == 0 && access("neuron2", F_OK) == -1);
  EXPECT(chdir("/tmp") == 0 && access("neuron1", F_OK) == -1);
}

static void texts(void) {
  char line[256];
  FILE* file = fopen("/sys/module/neuron/version", "r");
  EXPECT(file && fgets(line, sizeof line, file) &&
         strcmp(line, "text of /sys/module/neuron/version\n") == 0);
  EXPECT(fgets(line, sizeof line, file) == NULL && feof(file));
  if (file) fclose(file);
  EXPECT(fopen("/sys/module/neuron/nothing", "r") == NULL && errno == ENOENT);
  const int fd = open("/sys/module/neuron/version", O_RDONLY);
  EXPECT(pread(fd, line, 4, 8) == 4 && memcmp(line, "/sys", 4) == 0);
  EXPECT(lseek(fd, 5, SEEK_SET) == 5 && read(fd, line, 2) == 2 && memcmp(line, "of", 2) == 0);
  // One file by its name and by its descriptor, or cp takes it for replaced; its
  // page has no hole, or cp keeps one.
  struct stat by_name, by_number;
  EXPECT(stat("/sys/module/neuron/version", &by_name) == 0 && fstat(fd, &by_number) == 0 &&
         by_name.st_ino == by_number.st_ino && by_name.st_dev == by_number.st_dev &&
         by_name.st_size == by_number.st_size);
  EXPECT(lseek(fd, 0, SEEK_DATA) == 0 && lseek(fd, 0, SEEK_HOLE) == 4096);
  EXPECT(read(fd, line, 4) == 0);
  FAILS(lseek(fd, 4096, SEEK_DATA), ENXIO);
  FAILS(write(fd, "1", 1), EBADF);
  close(fd);
  FAILS(open("/sys/module/neuron/version", O_WRONLY), EACCES);
  FAILS(open("/sys/module/neuron", O_WRONLY), EISDIR);
  const char* reset = "/sys/class/neuron_device/neuron0/reset";
  const int write_only = open(reset, O_WRONLY | O_TRUNC);
  EXPECT(write(write_only, "1", 1) == 1);
  void* volatile bad = (void*)16;
  FAILS(write(write_only, bad, 1), EFAULT);
  close(write_only);
  file = fopen(reset, "w");
  EXPECT(file && fprintf(file, "2") == 1 && fclose(file) == 0);
  file = freopen(reset, "w", stdout);
  EXPECT(file && printf("3") == 1 && fflush(stdout) == 0);
  EXPECT(freopen("/dev/null", "w", stdout) != NULL);
  const int both = open(reset, O_RDWR);
  EXPECT(read(both, line, 4) == 4);
  close(both);
  file = freopen("/sys/module/neuron/version", "r", stdin);
  EXPECT(file && fgets(line, sizeof line, stdin) && strncmp(line, "text of", 7) == 0);
}

static void memory(void) {
  const int fd = open("/dev/neuron0", O_RDWR);
  const size_t page = 4096;
  char* map = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char* again = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, fd, 0);
  EXPECT(map != MAP_FAILED && again != MAP_FAILED);
  strcpy(map + page, "hello");
  EXPECT(strcmp(again + page, "hello") == 0);
  EXPECT(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 1 << 20) == MAP_FAILED && errno == EPERM);
  EXPECT(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 7) == MAP_FAILED && errno == EINVAL);
  EXPECT(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
  EXPECT(mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) == MAP_FAILED &&
         errno == EINVAL);
  char* private = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE, fd, 0);
  EXPECT(private != MAP_FAILED && strcmp(private + page, "hello") == 0);
  FAILS(mprotect(again, page, PROT_READ | PROT_WRITE), EACCES);
  EXPECT(mprotect(map, page, PROT_READ) == 0 && mprotect(map, page, PROT_READ | PROT_WRITE) == 0);
  EXPECT(mremap(map, 4 * page, 8 * page, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
  EXPECT(mremap(map, 4 * page, 3 * page, 0) == map);
  // A part unmapped is not there, and its place is not given to others.
  EXPECT(munmap(map, page) == 0);
  int pair[2];
  EXPECT(pipe(pair) == 0);
  const void* volatile gone = map;
  FAILS(write(pair[1], (const void*)gone, 1), EFAULT);
  EXPECT(strcmp(map + page, "hello") == 0);
  EXPECT(munmap(map, page) == 0);  // nothing there: fine
  EXPECT(munmap(map + page, 2 * page) == 0);
  // A range that holds one of ours and more.
  char* space = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(mmap(space + 2 * page, 4 * page, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
         space + 2 * page);
  EXPECT(strcmp(space + 3 * page, "hello") == 0);
  EXPECT(mmap(space + 2 * page, page, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) ==
             MAP_FAILED &&
         errno == EEXIST);
  EXPECT(mmap(space + 3 * page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
             MAP_FAILED &&
         errno == ENOTSUP);
  EXPECT(mmap(space, 8 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == space);
  EXPECT(space[3 * page] == 0);
  EXPECT(mmap(space + 2 * page, 4 * page, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
         space + 2 * page);
  EXPECT(munmap(space, 8 * page) == 0);
  gone = space + 3 * page;
  FAILS(write(pair[1], (const void*)gone, 1), EFAULT);
  FAILS(munmap(again + 1, page), EINVAL);
  // A mapping outlives its descriptor.
  close(fd);
  EXPECT(strcmp(again + page, "hello") == 0);
  EXPECT(munmap(again, 4 * page) == 0 && munmap(private, 2 * page) == 0);
}

static int wait_for(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                               : -1;
}

extern char** environ;

static void processes(const char* self) {
  const int fd = open("/dev/neuron0", O_RDWR);
  const int closed = open("/dev/neuron1", O_RDWR | O_CLOEXEC);
  char* map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int number = descriptor_of(fd);
  pid_t child = fork();
  if (child == 0) {
    // Its own descriptors, none of its parent's mappings in the lists.
    close(closed);
    _exit(descriptor_of(fd) == number && ioctl(fd, OPEN_COUNT) == 1 ? 0 : 1);
  }
  EXPECT(wait_for(child) == 0);
  EXPECT(ioctl(fd, OPEN_COUNT) == 2);
  child = vfork();
  if (child == 0) {
    close(fd);
    close(closed);
    _exit(3);
  }
  EXPECT(wait_for(child) == 3);
  EXPECT(ioctl(fd, OPEN_COUNT) == 2);
  child = _Fork();
  if (child == 0) _exit(descriptor_of(fd) == number ? 4 : 1);
  EXPECT(wait_for(child) == 4);
  EXPECT(map != MAP_FAILED && munmap(map, 4096) == 0);

  // A new program has what was not closed on exec; without our environment too.
  char number_text[16];
  snprintf(number_text, sizeof number_text, "%d", fd);
  char* words[] = {(char*)self, "inherited", number_text, NULL};
  char log[512];  // where the test looks what the machine was asked
  snprintf(log, sizeof log, "OPENNRT_FAKE_LOG=%s", getenv("OPENNRT_FAKE_LOG"));
  char* nothing[] = {log, NULL};
  if ((child = fork()) == 0) {
    execve(self, words, nothing);
    _exit(99);
  }
  EXPECT(wait_for(child) == 0);
  if ((child = fork()) == 0) {
    execle(self, self, "inherited", number_text, NULL, nothing);
    _exit(99);
  }
  EXPECT(wait_for(child) == 0);
  if ((child = fork()) == 0) {
    execl("/nonexistent", "x", NULL);
    // Back, with everything as it was.
    _exit(errno == ENOENT && descriptor_of(fd) == number ? 0 : 99);
  }
  EXPECT(wait_for(child) == 0);
  EXPECT(posix_spawn(&child, self, NULL, NULL, words, nothing) == 0 && wait_for(child) == 0);
  EXPECT(posix_spawnp(&child, self, NULL, NULL, words, environ) == 0 && wait_for(child) == 0);
  char command[600];
  snprintf(command, sizeof command, "exec %s served", self);
  EXPECT(system(command) == 0);
  EXPECT(descriptor_of(fd) == number);
}

static void inherited(int fd) {
  struct stat status;
  EXPECT(fstat(fd, &status) == 0 && S_ISCHR(status.st_mode));
  EXPECT(ioctl(fd, ECHO, 5) == 5);
  EXPECT(access("/dev/neuron1", F_OK) == 0);
}

static void calls(void) {
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/neuron0", O_RDWR);
  EXPECT(fd >= 0 && syscall(SYS_ioctl, fd, ECHO, 9L) == 9);
  EXPECT(syscall(SYS_ioctl, fd, 0x4EFFL, 0L) == -1 && errno == EINVAL);
  const long copy = syscall(SYS_dup, fd);
  EXPECT(ioctl((int)copy, OPEN_COUNT) == 2);
  EXPECT(syscall(SYS_close, copy) == 0 && ioctl(fd, OPEN_COUNT) == 1);
  struct {
    unsigned long flags, mode, resolve;
  } how = {O_RDONLY, 0, 0};
  const int third = (int)syscall(SYS_openat2, AT_FDCWD, "/dev/neuron1", &how, sizeof how);
  EXPECT(ioctl(third, OPEN_COUNT) == 2);
  FAILS(syscall(SYS_openat2, AT_FDCWD, "/dev/neuron1", 8L, sizeof how), EFAULT);
  FAILS(syscall(SYS_openat2, AT_FDCWD, "/dev/neuron1", &how, 7L), EINVAL);
  how.resolve = 0x08;  // RESOLVE_BENEATH
  FAILS(syscall(SYS_openat2, AT_FDCWD, "/dev/neuron1", &how, sizeof how), EXDEV);
  how.resolve = 1UL << 40;
  FAILS(syscall(SYS_openat2, AT_FDCWD, "/dev/neuron1", &how, sizeof how), EINVAL);
  char* map = (char*)syscall(SYS_mmap, 0L, 4096L, (long)PROT_READ, (long)MAP_SHARED, (long)fd, 0L);
  EXPECT(map != MAP_FAILED && syscall(SYS_munmap, map, 4096L) == 0);
  // Untouched: six words, a result, an error.
  EXPECT(syscall(SYS_getpid) == getpid());
  char* plain = (char*)syscall(SYS_mmap, 0L, 4096L, (long)PROT_READ,
                               (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
  EXPECT(plain != MAP_FAILED && plain[0] == 0);
  FAILS(syscall(SYS_tgkill, -1L, -1L, 0L), EINVAL);
  FAILS(syscall(100000L), ENOSYS);
  const pid_t child = (pid_t)syscall(SYS_fork);
  if (child == 0) _exit(descriptor_of(fd) > 0 ? 6 : 7);
  EXPECT(wait_for(child) == 6);
  const pid_t other = (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
  if (other == 0) _exit(8);
  EXPECT(wait_for(other) == 8);
}

// What daemons do first: close all they know nothing of, and count on the numbers.
static void daemons(void) {
  const int early = open("/dev/neuron0", O_RDWR);
  EXPECT(ioctl(early, ECHO, 1) == 1);
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  close(0);
  EXPECT(open("/dev/neuron0", O_RDWR) == 0 && ioctl(0, ECHO, 2) == 2);
  EXPECT(close_range(3, ~0u, 0) == 0);
  closefrom(3);
  EXPECT(open("/dev/neuron1", O_RDONLY) == 3 && ioctl(3, ECHO, 3) == 3);
  EXPECT(ioctl(3, OPEN_COUNT) == 2);
  // A descriptor of the kernel that comes out of a request.
  struct {
    unsigned long address, bytes;
    int* out;
  } form = {0, 0, NULL};
  int made = -1;
  form.out = &made;
  EXPECT(ioctl(3, 0x80084E6BUL, &form) == 0 && made == 4 && fcntl(made, F_GETFD) == FD_CLOEXEC);
  EXPECT(write(made, "x", 1) == 1 && close(made) == 0);
  FAILS(write(made, "x", 1), EBADF);
}

static void* churn(void* argument) {
  (void)argument;
  for (int i = 0; i < 400; ++i) {
    const int fd = open("/dev/neuron0", O_RDWR);
    const int copy = dup(fd);
    const int plain = open("/dev/null", O_RDONLY);
    char byte;
    if (ioctl(fd, ECHO, 3) != 3 || ioctl(copy, ECHO, 4) != 4 || read(plain, &byte, 1) != 0)
      __atomic_add_fetch(&surprises, 1, __ATOMIC_RELAXED);
    if (close(plain) != 0 || close(fd) != 0 || close(copy) != 0)
      __atomic_add_fetch(&surprises, 1, __ATOMIC_RELAXED);
    if (i % 50 == 0) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      if (wait_for(child) != 0) __atomic_add_fetch(&surprises, 1, __ATOMIC_RELAXED);
    }
  }
  return NULL;
}

static volatile sig_atomic_t signals;
static void on_alarm(int number) {
  (void)number;
  const int error = errno;
  const int fd = open("/dev/neuron1", O_RDWR);
  if (fd < 0 || ioctl(fd, ECHO, 3) != 3 || close(fd) != 0)
    __atomic_add_fetch(&surprises, 1, __ATOMIC_RELAXED);
  ++signals;
  errno = error;
}

static void threads(void) {
  pthread_t all[4];
  for (int i = 0; i < 4; ++i) pthread_create(&all[i], NULL, churn, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(all[i], NULL);
  // A handler that does the same in the middle of it.
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (signals < 200) {
    const int fd = open("/dev/neuron0", O_RDWR);
    if (fd < 0 || dup2(fd, 50) != 50 || close(50) != 0 || close(fd) != 0) ++surprises;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  const int fd = open("/dev/neuron0", O_RDWR);
  EXPECT(ioctl(fd, OPEN_COUNT) == 1);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "numbers") == 0)
    numbers();
  else if (strcmp(what, "names") == 0)
    names();
  else if (strcmp(what, "texts") == 0)
    texts();
  else if (strcmp(what, "memory") == 0)
    memory();
  else if (strcmp(what, "processes") == 0)
    processes(argv[0]);
  else if (strcmp(what, "inherited") == 0)
    inherited(atoi(argv[2]));
  else if (strcmp(what, "served") == 0)
    EXPECT(access("/dev/neuron0", F_OK) == 0);
  else if (strcmp(what, "calls") == 0)
    calls();
  else if (strcmp(what, "daemons") == 0)
    daemons();
  else if (strcmp(what, "threads") == 0)
    threads();
  else
    return 100;
  return surprises;
}
