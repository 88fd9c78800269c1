// SPDX-License-Identifier: Apache-2.0
//
// Exported: processes. A program that is started gets the library, and the
// descriptors that are not closed on exec stay usable in it.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "preload/environment.h"
#include "preload/next.h"
#include "preload/session.h"

namespace opennrt::emu::preload {
namespace {

// Calls start(environment); for exec it comes back only when there is no new image.
template <typename F>
int with_environment(char* const* from, bool in_place, F start) noexcept {
  char closed[kClosedBytes];
  const bool any = in_place && session().active && session().closed_by_exec(closed);
  const Environment environment(from, any ? closed : nullptr);
  if (environment.get()) return start(environment.get());
  errno = ENOMEM;
  return -1;
}

int run(const char* path, char* const* words, char* const* environment) noexcept {
  return with_environment(environment, true,
                          [&](char* const* all) { return OPENNRT_NEXT(execve)(path, words, all); });
}

int run_found(const char* file, char* const* words, char* const* environment) noexcept {
  return with_environment(
      environment, true, [&](char* const* all) { return OPENNRT_NEXT(execvpe)(file, words, all); });
}

// The words of execl(3), which end with a null. Calls start(words, rest).
template <typename F>
int with_words(const char* first, va_list list, F start) noexcept {
  va_list count_list;
  va_copy(count_list, list);
  std::size_t count = 1;
  while (va_arg(count_list, char*)) ++count;
  va_end(count_list);
  auto** words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  words[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i <= count; ++i) words[i] = va_arg(list, char*);
  return start(words, list);
}

}  // namespace

OPENNRT_EXPORT(int, execve, const char* path, char* const* words, char* const* environment) {
  return run(path, words, environment);
}
OPENNRT_EXPORT(int, execv, const char* path, char* const* words) {
  return run(path, words, environ);
}
OPENNRT_EXPORT(int, execvp, const char* file, char* const* words) {
  return run_found(file, words, environ);
}
OPENNRT_EXPORT(int, execvpe, const char* file, char* const* words, char* const* environment) {
  return run_found(file, words, environment);
}
OPENNRT_EXPORT(int, fexecve, int fd, char* const* words, char* const* environment) {
  return with_environment(environment, true,
                          [&](char* const* all) { return OPENNRT_NEXT(fexecve)(fd, words, all); });
}
OPENNRT_EXPORT(int, execl, const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result =
      with_words(first, list, [&](char** words, va_list) { return run(path, words, environ); });
  va_end(list);
  return result;
}
OPENNRT_EXPORT(int, execlp, const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_words(
      first, list, [&](char** words, va_list) { return run_found(file, words, environ); });
  va_end(list);
  return result;
}
OPENNRT_EXPORT(int, execle, const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_words(first, list, [&](char** words, va_list rest) {
    return run(path, words, va_arg(rest, char* const*));
  });
  va_end(list);
  return result;
}

OPENNRT_EXPORT(int, posix_spawn, pid_t* child, const char* path,
               const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
               char* const* words, char* const* environment) {
  return with_environment(environment, false, [&](char* const* all) {
    return OPENNRT_NEXT(posix_spawn)(child, path, actions, attributes, words, all);
  });
}
OPENNRT_EXPORT(int, posix_spawnp, pid_t* child, const char* file,
               const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
               char* const* words, char* const* environment) {
  return with_environment(environment, false, [&](char* const* all) {
    return OPENNRT_NEXT(posix_spawnp)(child, file, actions, attributes, words, all);
  });
}

// A child of vfork shares the memory of its parent, and with it what we know of
// descriptors; it gets memory of its own. The parent need not wait then.
OPENNRT_EXPORT(pid_t, vfork) { return OPENNRT_NEXT(fork)(); }
OPENNRT_EXPORT(pid_t, __vfork) { return OPENNRT_NEXT(fork)(); }

// Runs no fork handlers of its own.
OPENNRT_EXPORT(pid_t, _Fork) {
  Session& s = session();
  if (!s.connected()) return OPENNRT_NEXT(_Fork)();
  s.before_fork();
  const pid_t child = OPENNRT_NEXT(_Fork)();
  const int error = errno;
  if (child == 0)
    s.in_child();
  else
    s.in_parent();
  errno = error;
  return child;
}

namespace {
__attribute__((constructor)) void start() { session().start(); }
}  // namespace

}  // namespace opennrt::emu::preload
