// SPDX-License-Identifier: Apache-2.0
#include "player.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace opennrt::replay {

namespace {

using trace::Fields;
using trace::Line;
using trace::Value;

constexpr char kComponent[] = "RPLAY";
constexpr std::uint32_t kLongestSleepUs = 50;

std::string shown(const char* call, const Fields& args) {
  std::string out = call;
  if (!args.empty()) out.push_back(' ');
  trace::append(&out, args);
  constexpr std::size_t kLongest = 400;
  if (out.size() > kLongest) out = out.substr(0, kLongest) + "...";
  return out;
}

}  // namespace

Player::Player(const nrtp_host* host, std::string path, trace::Trace trace, std::size_t session)
    : host_(host), path_(std::move(path)), trace_(std::move(trace)), session_(session) {
  script_ = std::make_unique<Script>(trace_.sessions[session_]);
  taken_.resize(script_->threads());
}

Player::~Player() {
  for (const auto& [address, mapping] : mappings_) ::munmap(address, mapping.bytes);
  if (!diverged_ && script_->left() != 0)
    log(NRTP_LOG_INFO,
        path_ + ": " + std::to_string(script_->left()) + " recorded calls were not asked for");
}

void Player::log(std::uint32_t level, const std::string& text) const {
  host_->log(host_->self, level, kComponent, text.c_str());
}

std::string Player::place_of(const Line& line) const {
  return path_ + ":" + std::to_string(line.number);
}

void Player::diverge(const std::string& where, const std::string& what,
                     const std::vector<std::string>& details) {
  diverged_ = true;
  log(NRTP_LOG_ERROR, where + ": the run leaves the recording after " + std::to_string(played_) +
                          " calls: " + what);
  for (const std::string& detail : details) log(NRTP_LOG_ERROR, where + ":   " + detail);
}

bool Player::next_session() {
  if (script_->left() != 0 || session_ + 1 >= trace_.sessions.size()) return false;
  ++session_;
  script_ = std::make_unique<Script>(trace_.sessions[session_]);
  parts_.clear();
  taken_.assign(script_->threads(), false);
  return true;
}

std::size_t Player::part_of_thread(const char* call, const ndl::RequestShape* shape,
                                   const Fields& args) {
  const auto known = parts_.find(gettid());
  if (known != parts_.end()) return known->second;
  std::size_t first = kNowhere, fitting = kNowhere;
  for (std::size_t part = 0; part < taken_.size() && fitting == kNowhere; ++part) {
    const std::size_t place = script_->next(part);
    if (taken_[part] || place == kNowhere) continue;
    if (first == kNowhere) first = part;
    const Line& line = script_->line(place);
    if (line.call == call && trace::differences(shape, line.args, args).empty()) fitting = part;
  }
  const std::size_t part = fitting != kNowhere ? fitting : first;
  if (part == kNowhere) return kNowhere;
  taken_[part] = true;
  parts_[gettid()] = part;
  return part;
}

void Player::show(const Script::Batch& batch) {
  for (std::size_t place = batch.begin; place < batch.end; ++place) {
    const Line& line = script_->line(place);
    const std::uint64_t number = trace::number_of(line.args, "map");
    const std::uint64_t offset = trace::number_of(line.args, "offset");
    const Value* data = find(line.args, "data");
    const auto at = std::find_if(mappings_.begin(), mappings_.end(),
                                 [&](const auto& m) { return m.second.number == number; });
    if (!data || data->kind != Value::Kind::kBytes || at == mappings_.end()) continue;
    const auto& [address, mapping] = *at;
    if (offset > mapping.bytes || data->text.size() > mapping.bytes - offset) continue;
    if (data->keep == Value::Keep::kWhole || data->keep == Value::Keep::kCut)
      std::memcpy(static_cast<char*>(address) + offset, data->text.data(), data->text.size());
  }
}

void Player::show_of(const Line& line) {
  const auto place = static_cast<std::size_t>(&line - &script_->line(0));
  Script::Batch batch{};
  while (script_->take_of_call(place, &batch)) show(batch);
}

const Line* Player::expect(const char* call, const ndl::RequestShape* shape, const Fields& args) {
  if (diverged_) return nullptr;
  std::size_t part = part_of_thread(call, shape, args);
  if ((part == kNowhere || script_->next(part) == kNowhere) && next_session())
    part = part_of_thread(call, shape, args);
  if (part == kNowhere) {
    diverge(path_,
            "another thread than the " + std::to_string(script_->threads()) +
                " recorded asks for " + shown(call, args),
            {});
    return nullptr;
  }
  const std::size_t place = script_->next(part);
  if (place == kNowhere) {
    diverge(path_,
            "thread " + std::to_string(part) + " has no further recorded call, now " +
                shown(call, args),
            {});
    return nullptr;
  }
  const Line& line = script_->line(place);
  if (line.call != call) {
    diverge(place_of(line),
            "recorded " + shown(line.call.c_str(), line.args) + ", now " + shown(call, args), {});
    return nullptr;
  }
  const std::vector<std::string> different = trace::differences(shape, line.args, args);
  if (!different.empty()) {
    diverge(place_of(line), std::string(call) + " with other values", different);
    return nullptr;
  }
  Script::Batch batch{};
  while (script_->take_before(place, &batch)) show(batch);
  script_->advance(part);
  ++played_;
  return &line;
}

int Player::open(const char* path, std::uint32_t flags) {
  const std::lock_guard guard(lock_);
  const Line* line =
      expect("open", nullptr, {{"path", Value::of_text(path)}, {"flags", Value::of(flags)}});
  if (!line) return -EIO;
  show_of(*line);
  return static_cast<int>(line->result);
}

int Player::close(int fd) {
  const std::lock_guard guard(lock_);
  const Line* line = expect("close", nullptr, {{"fd", Value::of_signed(fd)}});
  if (!line) return -EIO;
  show_of(*line);
  return static_cast<int>(line->result);
}

std::int64_t Player::ioctl(int fd, std::uint32_t request, std::uintptr_t arg) {
  const std::lock_guard guard(lock_);
  if (diverged_) return -EIO;
  const ndl::RequestShape* shape = ndl::find_shape(request);
  Fields args = {{"fd", Value::of_signed(fd)}};
  if (shape)
    for (auto& field : trace::inputs(*shape, arg, memory_)) args.push_back(std::move(field));
  else
    args.emplace_back("code", Value::of(request));
  const Line* line = expect(shape ? shape->name() : "ioctl", shape, args);
  if (!line) return -EIO;
  std::string why;
  Fields outs = line->outs;
  if (shape && shape->code == ndl::kDmabuf && line->result >= 0) {
    // The recorded descriptor is of the other process; the caller will close this.
    const int own = memfd_create("opennrt-replay", MFD_CLOEXEC);
    if (own < 0) return -errno;
    const std::uint64_t bytes = trace::number_of(args, "size");
    if (ftruncate(own, static_cast<off_t>(std::min<std::uint64_t>(bytes, INT64_MAX))) != 0) {
      ::close(own);
      return -ENOMEM;
    }
    outs = {{"fd", Value::of(static_cast<std::uint64_t>(own))}};
  }
  const int bad = shape ? trace::store(*shape, arg, outs, memory_, &why) : 0;
  if (bad == -EINVAL) {
    diverge(place_of(*line), line->call + " cannot be answered: " + why, {});
    return -EIO;
  }
  show_of(*line);
  return bad ? bad : line->result;
}

int Player::mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
                 void** out) {
  const std::lock_guard guard(lock_);
  const Line* line = expect("mmap", nullptr,
                            {{"fd", Value::of_signed(fd)},
                             {"bytes", Value::of(bytes)},
                             {"prot", Value::of(prot)},
                             {"offset", Value::of(offset)}});
  if (!line) return -EIO;
  if (line->result < 0) return static_cast<int>(line->result);
  // Always writable: recorded changes are written into it.
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return -ENOMEM;
  mappings_[address] = {trace::number_of(line->outs, "map"), bytes};
  *out = address;
  show_of(*line);
  return static_cast<int>(line->result);
}

int Player::munmap(void* address, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  const auto at = mappings_.find(address);
  const std::uint64_t number = at == mappings_.end() ? 0 : at->second.number;
  const Line* line =
      expect("munmap", nullptr, {{"map", Value::of(number)}, {"bytes", Value::of(bytes)}});
  // Memory goes away even when the run left the recording.
  if (at != mappings_.end() && at->second.bytes == bytes && (!line || line->result >= 0)) {
    mappings_.erase(at);
    ::munmap(address, bytes);
  }
  if (!line) return -EIO;
  show_of(*line);
  return static_cast<int>(line->result);
}

int Player::exists(const char* path) {
  const std::lock_guard guard(lock_);
  const Line* line = expect("exists", nullptr, {{"path", Value::of_text(path)}});
  if (!line) return -EIO;
  show_of(*line);
  return static_cast<int>(line->result);
}

std::int64_t Player::read_text(const char* path, char* buffer, std::size_t n) {
  const std::lock_guard guard(lock_);
  const Line* line =
      expect("read_text", nullptr, {{"path", Value::of_text(path)}, {"n", Value::of(n)}});
  if (!line) return -EIO;
  const Value* text = find(line->outs, "text");
  if (text && buffer) std::memcpy(buffer, text->text.data(), std::min(n, text->text.size()));
  show_of(*line);
  // Not more than was written, whatever the file says.
  return line->result < 0 ? line->result
                          : static_cast<std::int64_t>(text ? std::min(n, text->text.size()) : 0);
}

std::int64_t Player::control(const char* request, char* reply, std::size_t n) {
  const std::lock_guard guard(lock_);
  if (diverged_) return -EIO;
  const std::size_t place = script_->answer(request ? request : "");
  if (place == kNowhere) return -EINVAL;
  const Line& line = script_->line(place);
  if (line.result < 0) return line.result;
  const Value* text = find(line.outs, "reply");
  const std::string& whole = text ? text->text : std::string();
  if (reply && n != 0) {
    const std::size_t copied = std::min(whole.size(), n - 1);
    std::memcpy(reply, whole.data(), copied);
    reply[copied] = '\0';
  }
  return static_cast<std::int64_t>(whole.size());
}

void Player::sleep_us(std::uint32_t us) {
  {
    const std::lock_guard guard(lock_);
    const auto known = parts_.find(gettid());
    const std::size_t next = known == parts_.end() ? kNowhere : script_->next(known->second);
    Script::Batch batch{};
    if (!diverged_ && script_->take_before(next, &batch)) return show(batch);
  }
  const timespec pause{0, static_cast<long>(std::min(us, kLongestSleepUs)) * 1000};
  nanosleep(&pause, nullptr);
}

}  // namespace opennrt::replay
