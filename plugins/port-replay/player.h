// SPDX-License-Identifier: Apache-2.0
//
// Answers calls from a recording. Each thread must ask what the thread of the
// same number asked then; the first call that is another ends the replay, and
// from then on every call fails with -EIO. Threads are numbered by their first
// call; of several that begin at once each gets the part that it asks for.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ndl-common/record/arguments.h"
#include "ndl-common/record/trace.h"
#include "opennrt/port.h"
#include "script.h"

namespace opennrt::replay {

class Player {
 public:
  // Begins with that attach of the recording.
  Player(const nrtp_host* host, std::string path, trace::Trace trace, std::size_t session);
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  int open(const char* path, std::uint32_t flags);
  int close(int fd);
  std::int64_t ioctl(int fd, std::uint32_t request, std::uintptr_t arg);
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset, void** out);
  int munmap(void* address, std::uint64_t bytes);
  int exists(const char* path);
  std::int64_t read_text(const char* path, char* buffer, std::size_t n);
  std::int64_t control(const char* request, char* reply, std::size_t n);
  // Shows the next change of memory that came before the thread's next call, else
  // waits a little.
  void sleep_us(std::uint32_t us);

  std::size_t session() const { return session_; }
  std::size_t sessions() const { return trace_.sessions.size(); }

 private:
  struct Mapping {
    std::uint64_t number, bytes;
  };

  // The recorded line of this call; nullptr: there is none, say -EIO.
  const trace::Line* expect(const char* call, const ndl::RequestShape* shape,
                            const trace::Fields& args);
  std::size_t part_of_thread(const char* call, const ndl::RequestShape* shape,
                             const trace::Fields& args);
  bool next_session();
  void show(const Script::Batch& batch);
  void show_of(const trace::Line& line);
  void diverge(const std::string& where, const std::string& what,
               const std::vector<std::string>& details);
  std::string place_of(const trace::Line& line) const;
  void log(std::uint32_t level, const std::string& text) const;

  const nrtp_host* const host_;
  const std::string path_;
  const trace::Trace trace_;
  const trace::UserMemory memory_;
  std::mutex lock_;  // guards all below
  std::size_t session_;
  std::unique_ptr<Script> script_;
  std::map<pid_t, std::size_t> parts_;  // by gettid: not used again soon
  std::vector<bool> taken_;             // parts that have a thread
  std::map<void*, Mapping> mappings_;
  std::size_t played_ = 0;  // calls
  bool diverged_ = false;
};

}  // namespace opennrt::replay
