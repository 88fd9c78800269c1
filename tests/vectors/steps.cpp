// SPDX-License-Identifier: Apache-2.0
//
// Steps of a scenario.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "session.h"

namespace opennrt::replay {

namespace {

constexpr std::uint32_t kFirstPid = 1000;

std::map<std::string, std::string> inputs(const YAML::Node& step) {
  std::map<std::string, std::string> fields;
  if (step["in"])
    for (const auto& item : step["in"])
      fields[item.first.as<std::string>()] = item.second.as<std::string>();
  return fields;
}

std::string text(const YAML::Node& step, const char* key, const std::string& fallback = "") {
  return step[key] ? step[key].as<std::string>() : fallback;
}

}  // namespace

Session::Session(const Interface& interface, const emu::MachineConfig& config,
                 const std::string& scenario, const std::string& driver, Way way)
    : interface_(interface), scenario_(scenario), driver_(driver) {
  std::string error;
  machine_ = emu::Machine::create(config, &error);
  if (!machine_) throw NotYet{"no machine: " + error};
  transport_ = way == Way::kProcess ? make_local(*machine_)
                                    : make_remote(*machine_, way == Way::kEmu, &error);
  if (!transport_) throw NotYet{"no daemon: " + error};
}

Actor& Session::actor(const std::string& name) {
  Actor& a = actors_[name];
  if (!a.agent)
    a.agent = transport_->start(kFirstPid + static_cast<std::uint32_t>(std::stoul(name.substr(1))));
  return a;
}

int Session::descriptor(Actor& actor, const std::string& name) {
  for (const auto& [known, fd] : actor.descriptors)
    if (known == name) return fd;
  throw NotYet{"no descriptor " + name};
}

Report Session::run(const YAML::Node& scenario) {
  try {
    for (const auto& node : scenario["steps"]) {
      ++index_;
      title_ = "step " + std::to_string(index_) + ", " + node["who"].as<std::string>() + " " +
               node["do"].as<std::string>();
      step(node);
      // After a kernel fault the recorded device was unusable.
      if (node["result"]) break;
    }
  } catch (const NotYet& e) {
    report_.not_yet = title_ + ": " + e.reason;
  } catch (const std::exception& e) {
    report_.not_yet = title_ + ": " + e.what();
  }
  for (auto& [name, a] : actors_)
    if (a.pending.joinable()) a.pending.join();
  return report_;
}

void Session::step(const YAML::Node& step) {
  Actor& who = actor(step["who"].as<std::string>());
  const std::string what = step["do"].as<std::string>();
  using Member = void (Session::*)(Actor&, const YAML::Node&);
  static const std::map<std::string, Member> kSteps = {
      {"open", &Session::do_open},     {"close", &Session::do_close},
      {"fork", &Session::do_fork},     {"mmap", &Session::do_mmap},
      {"munmap", &Session::do_munmap}, {"load", &Session::do_load},
      {"store", &Session::do_store},   {"alloc_many", &Session::do_alloc_many}};
  if (const auto it = kSteps.find(what); it != kSteps.end()) return (this->*it->second)(who, step);
  if (what == "exit" || what == "kill") return do_exit(who);
  if (what == "dup") {
    const int fd = who.agent->duplicate(descriptor(who, step["fd"].as<std::string>()));
    if (fd >= 0) who.descriptors.emplace_back(step["to"].as<std::string>(), fd);
    return check_result(step, fd < 0 ? fd : 0);
  }
  if (what == "sleep") {
    std::this_thread::sleep_for(std::chrono::milliseconds(step["ms"].as<int>()));
    return;
  }
  if (what == "wait") {
    if (who.pending.joinable()) who.pending.join();
    return;
  }
  if (what == "dropcaps") return;  // no caller of the emulator has any
  if (what == "readfile" || what == "writefile") return do_file(who, step);
  do_request(who, step);
}

void Session::do_open(Actor& who, const YAML::Node& step) {
  static const std::map<std::string, std::uint32_t> kModes = {
      {"rdonly", 0}, {"wronly", 1}, {"rdwr", 2}};
  std::uint32_t flags = kModes.at(text(step, "mode", "rdwr"));
  if (step["in"] && step["in"]["flags"]) flags = 3;
  std::string path = text(step, "path", "/dev/neuron0");
  if (step["in"] && step["in"]["path"]) path = step["in"]["path"].as<std::string>();
  const int fd = who.agent->open(path, flags);
  if (fd >= 0) {
    const std::string name = step["fd"].as<std::string>();
    std::erase_if(who.descriptors, [&](const auto& d) { return d.first == name; });
    who.descriptors.emplace_back(name, fd);
  }
  check_result(step, fd < 0 ? fd : 0);
}

void Session::do_close(Actor& who, const YAML::Node& step) {
  const std::string name = step["fd"].as<std::string>();
  const int fd = descriptor(who, name);
  std::erase_if(who.descriptors, [&](const auto& d) { return d.first == name; });
  check_result(step, who.agent->close(fd));
}

void Session::do_fork(Actor& who, const YAML::Node& step) {
  const std::string name = step["child"].as<std::string>();
  std::vector<int> descriptors;
  for (const auto& [known, fd] : who.descriptors) descriptors.push_back(fd);
  Actor& child = actors_[name];
  child.agent = who.agent->fork(kFirstPid + static_cast<std::uint32_t>(std::stoul(name.substr(1))),
                                &descriptors);
  for (std::size_t i = 0; i < descriptors.size(); ++i)
    child.descriptors.emplace_back(who.descriptors[i].first, descriptors[i]);
}

void Session::do_exit(Actor& who) {
  who.agent->end();
  who.descriptors.clear();
  who.maps.clear();
  who.alive = false;
}

void Session::do_mmap(Actor& who, const YAML::Node& step) {
  auto in = inputs(step);
  const std::string prot = in.count("prot") ? in["prot"] : "rw";
  const std::uint32_t bits = (prot.find('r') != std::string::npos ? 1u : 0) |
                             (prot.find('w') != std::string::npos ? 2u : 0);
  Map map;
  map.offset = value(who, in["off"]);
  map.bytes = value(who, in["size"]);
  const int result = who.agent->mmap(descriptor(who, step["fd"].as<std::string>()), map.bytes, bits,
                                     map.offset, &map.address);
  map.refused = result != 0;
  for (const nrtp_driver_map& special : machine_->facts().special)
    if (special.device == map.offset && special.resource == NRTP_DRIVER_SEMAPHORES &&
        special.bytes == map.bytes)
      map.registers = true;
  who.maps[step["map"].as<std::string>()] = map;
  check_result(step, result);
}

Map& Session::map_of(Actor& who, const YAML::Node& step) {
  return who.maps[step["map"].as<std::string>()];  // empty: not inherited, or never made
}

void Session::do_munmap(Actor& who, const YAML::Node& step) {
  Map& map = map_of(who, step);
  const int result = who.agent->munmap(map.address, map.bytes);
  // The name stays: later steps ask for an address that is no longer mapped.
  check_result(step, result);
}

// A word of a register window that the emulator does not map.
bool Session::register_word(Actor& who, const Map& map, std::uint64_t offset, bool write,
                            std::uint32_t* value) {
  for (const nrtp_driver_map& special : machine_->facts().special) {
    if (special.device != map.offset || special.bytes != map.bytes) continue;
    emu::Device& silicon = *machine_->node(0)->device;
    const std::uint64_t bar0 = special.bar + offset;
    return (write ? silicon.bar0_write32(bar0, *value) : silicon.bar0_read32(bar0, value)) == 0;
  }
  return false;
}

void Session::do_load(Actor& who, const YAML::Node& step) {
  const Map& map = map_of(who, step);
  auto in = inputs(step);
  const std::uint64_t offset = std::stoull(in["off"], nullptr, 0);
  Buffer out(std::stoull(in["n"], nullptr, 0));
  if (map.refused) {
    std::uint32_t word = 0;
    if (!map.registers || out.bytes() != 4 || !register_word(who, map, offset, false, &word)) {
      deviate("load through a mapping that the emulator refuses is left out");
      return;
    }
    std::memcpy(out.data(), &word, sizeof word);
  } else {
    const int r = who.agent->load(map.address + offset, out.data(), out.bytes());
    const bool fault = step["fault"].IsDefined();
    if ((r != 0) != fault) differ(fault ? "load succeeds, a fault is recorded" : "load faults");
    if (r != 0) return;
  }
  const YAML::Node expected = step["out"]["data"];
  if (expected && !same_bytes(expected, out))
    differ("data " + hex(out.data(), std::min<std::size_t>(out.bytes(), 16)) + ".. recorded " +
           YAML::Dump(expected));
}

void Session::do_store(Actor& who, const YAML::Node& step) {
  const Map& map = map_of(who, step);
  auto in = inputs(step);
  if (!in.count("u32")) throw NotYet{"store of something else than a word"};
  const std::uint64_t offset = std::stoull(in["off"], nullptr, 0);
  std::uint32_t word = static_cast<std::uint32_t>(std::stoull(in["u32"], nullptr, 0));
  const bool fault = step["fault"].IsDefined();
  if (map.refused) {
    if (!fault && !(map.registers && register_word(who, map, offset, true, &word)))
      deviate("store through a mapping that the emulator refuses is left out");
    return;
  }
  const int r = who.agent->store(map.address + offset, &word, sizeof word);
  if ((r != 0) != fault) differ(fault ? "store succeeds, a fault is recorded" : "store faults");
}

void Session::do_file(Actor& who, const YAML::Node& step) {
  const std::string path = step["path"].as<std::string>();
  if (step["do"].as<std::string>() == "writefile")
    return check_result(step, who.agent->write_text(path, text(step, "text")));
  char buffer[256];
  const std::int64_t n = who.agent->read_text(path, buffer, sizeof buffer);
  check_result(step, n);
  const std::string recorded = step["out"] && step["out"]["text"]
                                   ? step["out"]["text"].as<std::string>()
                                   : text(step, "text");
  std::string shown;
  for (std::int64_t i = 0; i < n; ++i) {
    const char c = buffer[i];
    shown += c == ' ' ? "_" : c == '\n' ? "\\n" : std::string(1, c);
  }
  if (!recorded.empty() && shown != recorded) differ("text " + shown + ", recorded " + recorded);
}

void Session::do_alloc_many(Actor& who, const YAML::Node& step) {
  auto in = inputs(step);
  const std::uint64_t n = std::stoull(in["n"]);
  const std::string size = in["size"];
  const auto work = [this, &who, step, n, size] {
    const Request& request = interface_.requests.at("MEM_ALLOC_V2MT64");
    std::uint64_t done = 0, lowest = UINT64_MAX, highest = 0;
    std::int64_t error = 0;
    for (; done < n && error == 0; ++done) {
      const Outcome outcome = call(who, step, request, {{"size", size}, {"mem_type", "9"}});
      error = outcome.result;
      if (error != 0) break;
      std::uint64_t handle = 0;
      std::memcpy(&handle, outcome.inner.at("mem_handle")->data(), sizeof handle);
      lowest = std::min(lowest, handle);
      highest = std::max(highest, handle);
    }
    const std::map<std::string, std::uint64_t> actual = {
        {"allocated", done},
        {"last_errno", static_cast<std::uint64_t>(-error)},
        {"lowest", lowest},
        {"highest", highest}};
    for (const auto& item : step["out"])
      if (actual.at(item.first.as<std::string>()) != item.second.as<std::uint64_t>())
        differ(item.first.as<std::string>() + " is " +
               std::to_string(actual.at(item.first.as<std::string>())));
  };
  if (step["async"])
    who.pending = std::thread(work);
  else
    work();
}

void Session::do_request(Actor& who, const YAML::Node& step) {
  Request request;
  const std::string name = step["do"].as<std::string>();
  auto in = inputs(step);
  if (name == "ioctl") {
    request.name = name;
    request.code = static_cast<std::uint32_t>(std::stoull(in["code"], nullptr, 0));
    std::uint64_t address = 0;
    const auto buffer = make_buffer(who, in["arg"], &address);
    const std::int64_t result =
        who.agent->ioctl(descriptor(who, step["fd"].as<std::string>()), request.code, address);
    return check_result(step, result);
  }
  const auto it = interface_.requests.find(name);
  if (it == interface_.requests.end()) throw NotYet{"request " + name + " is not described"};
  request = it->second;
  const auto finish = [this, &who, step, request](const Outcome& outcome) {
    check_result(step, outcome.result);
    check_outputs(who, step, request, outcome);
    bind(step, request, outcome);
  };
  if (step["async"]) {
    who.pending = std::thread(
        [this, &who, step, request, in, finish] { finish(call(who, step, request, in)); });
    // The recording started it first; give the thread the same chance.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return;
  }
  const Outcome outcome = call(who, step, request, in);
  finish(outcome);
  // An index above 16 bits is cut by the driver and refused by the emulator:
  // go on from the state the recording has.
  if (outcome.result == -EINVAL && name == "SEMAPHORE_WRITE" && step["ret"].as<int>() == 0 &&
      std::stoull(in["semaphore_index"]) > 0xFFFF) {
    in["semaphore_index"] = std::to_string(std::stoull(in["semaphore_index"]) & 0xFFFF);
    (void)call(who, step, request, in);
  }
}

}  // namespace opennrt::replay
