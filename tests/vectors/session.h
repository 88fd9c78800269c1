// SPDX-License-Identifier: Apache-2.0
//
// One scenario of a transcript against a fresh machine.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent.h"
#include "buffer.h"
#include "driver/machine.h"
#include "layout.h"

namespace opennrt::replay {

// Second word of the send descriptors of the recording, and the one that the
// software device takes for a plain copy.
inline constexpr std::uint64_t kRecordedMeta = 0x00480003, kPlainCopyMeta = 0x01080003;

// A step that cannot be replayed; the text says why.
struct NotYet {
  std::string reason;
};

// Outcome of a scenario.
struct Report {
  std::vector<std::string> differences;
  std::vector<std::string> deviations;  // stated ones that were met
  std::string not_yet;
};

struct Map {
  std::uint64_t address = 0, bytes = 0, offset = 0;
  bool registers = false;  // refused by the emulator, reached through BAR requests
  bool refused = false;
};

struct Actor {
  std::unique_ptr<Agent> agent;
  std::vector<std::pair<std::string, int>> descriptors;  // in the order of opening
  std::map<std::string, Map> maps;
  std::thread pending;
  bool alive = true;
};

// What a request left behind.
struct Outcome {
  std::int64_t result = 0;
  std::shared_ptr<Buffer> argument;
  std::vector<std::uint8_t> before;                      // argument before the call
  std::map<std::string, std::shared_ptr<Buffer>> inner;  // by field name
};

// kProcess: all processes of the recording are played in this one; else each is
// one of its own, of this program or an unmodified one.
enum class Way { kProcess, kDaemon, kEmu };

class Session {
 public:
  Session(const Interface& interface, const emu::MachineConfig& config, const std::string& scenario,
          const std::string& driver, Way way);
  Report run(const YAML::Node& scenario);

 private:
  // steps.cpp
  void step(const YAML::Node& step);
  void do_open(Actor& actor, const YAML::Node& step);
  void do_close(Actor& actor, const YAML::Node& step);
  void do_fork(Actor& actor, const YAML::Node& step);
  void do_exit(Actor& actor);
  void do_mmap(Actor& actor, const YAML::Node& step);
  void do_munmap(Actor& actor, const YAML::Node& step);
  void do_load(Actor& actor, const YAML::Node& step);
  void do_store(Actor& actor, const YAML::Node& step);
  void do_file(Actor& who, const YAML::Node& step);
  void do_alloc_many(Actor& actor, const YAML::Node& step);
  void do_request(Actor& actor, const YAML::Node& step);
  Outcome call(Actor& actor, const YAML::Node& step, const Request& request,
               std::map<std::string, std::string> fields);
  Map& map_of(Actor& actor, const YAML::Node& step);
  int descriptor(Actor& actor, const std::string& name);
  Actor& actor(const std::string& name);
  bool register_word(Actor& actor, const Map& map, std::uint64_t offset, bool write,
                     std::uint32_t* value);

  // values.cpp
  std::uint64_t value(Actor& actor, const std::string& text);
  std::shared_ptr<Buffer> make_buffer(Actor& actor, const std::string& text,
                                      std::uint64_t* address);

  // compare.cpp
  void check_result(const YAML::Node& step, std::int64_t result);
  void check_outputs(Actor& actor, const YAML::Node& step, const Request& request,
                     const Outcome& outcome);
  void bind(const YAML::Node& step, const Request& request, const Outcome& outcome);
  std::string show(const std::string& name, const Request& request, const Outcome& outcome,
                   const YAML::Node& expected);
  bool same(const YAML::Node& expected, const std::vector<std::string>& actual);
  bool same_text(const std::string& expected, const std::string& actual);
  bool same_bytes(const YAML::Node& expected, const Buffer& buffer);
  bool same_output(const std::string& name, const YAML::Node& expected, const Request& request,
                   const Outcome& outcome, std::string* actual);
  void differ(const std::string& text);
  void deviate(const std::string& text);

  // deviations.cpp: true when the step is one where the emulator answers
  // otherwise on purpose; *expected_result is what it must answer then.
  bool stated_result(const YAML::Node& step, std::int64_t result, std::int64_t* expected_result);
  bool must_map(const YAML::Node& step);
  bool stated_output(const YAML::Node& step, const std::string& name, const std::string& actual);

  const Interface& interface_;
  std::unique_ptr<emu::Machine> machine_;
  std::unique_ptr<Transport> transport_;
  std::string scenario_, driver_;
  std::map<std::string, Actor> actors_;
  std::map<std::string, std::uint64_t> bound_;
  std::map<std::string, std::uint64_t> host_pages_;  // label -> page
  std::vector<std::shared_ptr<Buffer>> keep_;
  std::size_t index_ = 0;
  std::string title_;
  Report report_;
};

}  // namespace opennrt::replay
