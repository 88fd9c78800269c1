// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <Poco/Exception.h>
#include <Poco/Util/HelpFormatter.h>
#include <Poco/Util/OptionException.h>
#include <Poco/Util/OptionProcessor.h>
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

#include "base/spelling.h"
#include "output.h"

namespace opennrt::tools {

namespace {

constexpr int kWidth = 100;

using Handler = void (*)(int);
Handler pipe_handler = SIG_DFL;

// "--range" of "--range=1:2", "-n" of "-n5".
std::string option_of(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find_first_of(":=")) : word.substr(0, 2);
}

// "-n5" and "-n=5" as "--executions=5": the option library would take the letters of
// the value for those of a long name.
std::string long_form(const std::string& word, const Poco::Util::OptionSet& options) {
  if (word.size() < 2 || word[0] != '-' || word[1] == '-') return word;
  for (const Option& option : options) {
    if (option.shortName() != word.substr(1, 1)) continue;
    const std::string value = word.substr(word.size() > 2 && word[2] == '=' ? 3 : 2);
    return "--" + option.fullName() + (word.size() > 2 ? "=" + value : "");
  }
  throw UsageError("unknown option " + word);
}

// ", did you mean --input?" behind a long option that there is not.
std::string meant(const std::string& name, const Poco::Util::OptionSet& options) {
  if (!name.starts_with("--")) return "";
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.fullName());
  const std::string_view near = nearest_name(std::string_view(name).substr(2), names);
  return near.empty() ? "" : ", did you mean --" + std::string(near) + "?";
}

// One word through the option library; its refusals in our words. False: no option.
bool process(Poco::Util::OptionProcessor& processor, const Poco::Util::OptionSet& options,
             const std::string& word, const std::string& waiting, Argument* out) {
  using namespace Poco::Util;
  const std::string name = waiting.empty() ? option_of(word) : waiting;
  try {
    const std::string text = waiting.empty() ? long_form(word, options) : word;
    if (!processor.process(text, out->option, out->value)) return false;
  } catch (const UnknownOptionException&) {
    throw UsageError("unknown option " + word + meant(name, options));
  } catch (const AmbiguousOptionException&) {
    throw UsageError(name + " is short for more than one option");
  } catch (const DuplicateOptionException&) {
    throw UsageError(name + " is given twice");
  } catch (const UnexpectedArgumentException&) {
    throw UsageError(name + " takes no value");
  } catch (const OptionException& e) {
    throw UsageError(word + ": " + e.displayText());
  }
  if (!out->option.empty() && out->value.empty() &&
      options.getOption(out->option).argumentRequired())
    throw UsageError(name + " needs a value");
  return true;
}

// Lines without blanks at their ends.
std::string trimmed(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t last = end;
    while (last > begin && text[last - 1] == ' ') --last;
    out.append(text, begin, last - begin) += '\n';
    begin = end + 1;
  }
  return out;
}

}  // namespace

void bad_value(std::string_view option, std::string_view value, std::string_view expected) {
  std::string text = "--";
  text += option;
  text += '=';
  text += value;
  throw UsageError(text + ": expected " + std::string(expected));
}

std::int64_t number_of(std::string_view option, const std::string& value, std::int64_t lowest,
                       std::int64_t highest) {
  std::string_view digits = value;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const int base = digits.starts_with("0x") || digits.starts_with("0X") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (error == std::errc() && stop == end && number <= kMost) {
    const auto result = static_cast<std::int64_t>(number);
    if (const std::int64_t signed_result = negative ? -result : result;
        signed_result >= lowest && signed_result <= highest)
      return signed_result;
  }
  bad_value(option, value,
            highest == std::numeric_limits<std::int64_t>::max()
                ? "a number from " + std::to_string(lowest) + " on"
                : "a number from " + std::to_string(lowest) + " to " + std::to_string(highest));
}

double seconds_of(std::string_view option, const std::string& value, double lowest,
                  double highest) {
  double seconds = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, seconds);
  if (error == std::errc() && stop == end && std::isfinite(seconds) && seconds >= lowest &&
      seconds <= highest)
    return seconds;
  std::ostringstream expected;
  expected << lowest << " to " << highest << " seconds";
  bad_value(option, value, expected.str());
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  for (const Argument& argument : all)
    if (argument.option == option) return argument.value;
  return std::nullopt;
}

std::int64_t Arguments::number(std::string_view option, std::int64_t otherwise) const {
  const auto text = value(option);
  return text ? number_of(option, *text) : otherwise;
}

const std::string& Arguments::only_word(std::string_view what) const {
  if (words.empty() || words[0].empty()) throw UsageError(std::string(what) + " is missing");
  want_words(1, 1);
  return words[0];
}

void Arguments::want_words(std::size_t least, std::size_t most) const {
  if (words.size() > most) throw UsageError("unexpected argument " + words[most]);
  if (words.size() < least) throw UsageError("an argument is missing");
}

CommandLine::CommandLine(CommandHelp help, const std::vector<Option>& options, Behind behind)
    : help_(std::move(help)), behind_(behind) {
  options_.addOption(Option("help", "h", "print this text"));
  for (const Option& option : options) options_.addOption(option);
}

std::optional<Arguments> CommandLine::parse(const Words& words) const {
  Arguments out;
  Poco::Util::OptionProcessor processor(options_);
  processor.setUnixStyle(true);
  std::string waiting;  // an option whose value is the next word
  std::size_t rest = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (waiting.empty() && word == "--") {
      rest = i + 1;
      break;
    }
    Argument argument;
    if (process(processor, options_, word, waiting, &argument)) {
      waiting = argument.option.empty() ? option_of(word) : "";
      if (argument.option == "help") return std::nullopt;
      if (waiting.empty()) out.all.push_back(std::move(argument));
      continue;
    }
    if (behind_ == Behind::kProgram) {
      rest = i;
      break;
    }
    out.all.push_back({"", word});
  }
  if (!waiting.empty()) throw UsageError(waiting + " needs a value");
  for (; rest < words.size(); ++rest) out.all.push_back({"", words[rest]});
  for (const Argument& argument : out.all)
    if (argument.option.empty()) out.words.push_back(argument.value);
  return out;
}

std::string CommandLine::usage_text() const {
  std::string text;
  for (std::size_t begin = 0; begin <= help_.usage.size();) {
    const std::size_t end = std::min(help_.usage.find('\n', begin), help_.usage.size());
    const std::string line = help_.usage.substr(begin, end - begin);
    text += text.empty() ? "usage: " : "       ";
    text += line.starts_with(' ') ? std::string(help_.command.size(), ' ') : help_.command;
    if (!line.empty()) text += (line[0] == ' ' ? "" : " ") + line;
    text += '\n';
    begin = end + 1;
  }
  return text;
}

std::string CommandLine::help_text() const {
  Poco::Util::HelpFormatter formatter(options_);
  formatter.setUnixStyle(true);
  formatter.setWidth(kWidth);
  formatter.setHeader(help_.header);
  formatter.setFooter(help_.footer);
  std::ostringstream text;
  formatter.format(text);
  // Its first line would break a usage that has several.
  const std::string all = text.str();
  return usage_text() + trimmed(all.substr(all.find('\n') + 1));
}

int CommandLine::tell(const std::string& text, int code) const {
  std::fprintf(stderr, "%s: %s\n", help_.command.c_str(), text.c_str());
  return code;
}

int CommandLine::run_body(const Words& words,
                          const std::function<int(const Arguments&)>& body) const {
  try {
    if (const auto arguments = parse(words)) return body(*arguments);
    print(help_text());
    return kDone;
  } catch (const UsageError& e) {
    tell(e.what(), kBadUsage);
    std::fprintf(stderr, "%s(%s --help says more)\n", usage_text().c_str(), help_.command.c_str());
    return kBadUsage;
  } catch (const std::bad_alloc&) {
    return tell("no memory left", help_.trouble);
  } catch (const Poco::Exception& e) {
    return tell(e.displayText(), help_.trouble);
  } catch (const std::exception& e) {
    return tell(e.what(), help_.trouble);
  }
}

int CommandLine::run(const Words& words, const std::function<int(const Arguments&)>& body) const {
  return finish_output(help_.command, run_body(words, body), help_.trouble);
}

std::string table_text(std::string_view title,
                       const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text = std::string(title) + ":";
  for (const auto& [name, summary] : rows)
    text += "\n  " + name + std::string(width - name.size() + 2, ' ') + summary;
  return text;
}

void ignore_closed_pipes() { pipe_handler = ::signal(SIGPIPE, SIG_IGN); }

void restore_closed_pipes() {
  ::signal(SIGPIPE, pipe_handler);
  // Poco blocks it when its library is loaded.
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

int tool_main(int argc, char** argv, int (*run)(const Words&)) {
  ignore_closed_pipes();
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return kFailed;
  }
}

}  // namespace opennrt::tools
