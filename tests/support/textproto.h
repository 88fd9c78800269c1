// SPDX-License-Identifier: Apache-2.0
//
// Protobuf text form as a tree; throws std::runtime_error on a syntax error.
#pragma once

#include <cctype>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace opennrt::test {

struct ProtoMessage {
  struct Field {
    std::string text;                       // scalar; strings are unescaped
    std::shared_ptr<ProtoMessage> message;  // or this
  };
  std::multimap<std::string, Field> fields;

  bool has(const std::string& name) const { return fields.count(name) != 0; }
  const ProtoMessage& message(const std::string& name) const {
    const auto it = fields.find(name);
    if (it == fields.end() || !it->second.message) throw std::runtime_error("no message " + name);
    return *it->second.message;
  }
  std::vector<const ProtoMessage*> messages(const std::string& name) const {
    std::vector<const ProtoMessage*> out;
    for (auto [it, end] = fields.equal_range(name); it != end; ++it)
      if (it->second.message) out.push_back(it->second.message.get());
    return out;
  }
  std::string text(const std::string& name, const std::string& otherwise = {}) const {
    const auto it = fields.find(name);
    return it == fields.end() ? otherwise : it->second.text;
  }
  std::int64_t integer(const std::string& name, std::int64_t otherwise = 0) const {
    const auto it = fields.find(name);
    return it == fields.end() ? otherwise : std::stoll(it->second.text);
  }
  std::vector<std::int64_t> integers(const std::string& name) const {
    std::vector<std::int64_t> out;
    for (auto [it, end] = fields.equal_range(name); it != end; ++it)
      out.push_back(std::stoll(it->second.text));
    return out;
  }
};

class TextProtoParser {
 public:
  explicit TextProtoParser(const std::string& text) : text_(text) {}
  ProtoMessage parse() { return body(false); }

 private:
  ProtoMessage body(bool nested) {
    ProtoMessage out;
    for (;;) {
      skip_space();
      if (at_ == text_.size()) {
        if (nested) throw std::runtime_error("message without an end");
        return out;
      }
      if (text_[at_] == '}') {
        if (!nested) throw std::runtime_error("'}' without a message");
        ++at_;
        return out;
      }
      const std::string name = word();
      skip_space();
      ProtoMessage::Field field;
      if (peek() == ':') {
        ++at_;
        skip_space();
        field.text = peek() == '"' ? quoted() : word();
      } else if (peek() == '{') {
        ++at_;
        field.message = std::make_shared<ProtoMessage>(body(true));
      } else {
        throw std::runtime_error("neither value nor message after " + name);
      }
      out.fields.emplace(name, std::move(field));
    }
  }

  char peek() const {
    if (at_ >= text_.size()) throw std::runtime_error("text ends early");
    return text_[at_];
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
           text_[at_] != ':' && text_[at_] != '{' && text_[at_] != '}')
      ++at_;
    if (at_ == start) throw std::runtime_error("a name is missing");
    return text_.substr(start, at_ - start);
  }
  std::string quoted() {
    std::string out;
    for (++at_; peek() != '"'; ++at_) {
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      ++at_;
      const char c = peek();
      if (c >= '0' && c <= '7') {
        int value = 0;
        for (int i = 0; i < 3 && peek() >= '0' && peek() <= '7'; ++i, ++at_)
          value = value * 8 + (text_[at_] - '0');
        out += static_cast<char>(value);
        --at_;
      } else {
        out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
    }
    ++at_;
    return out;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace opennrt::test
