// SPDX-License-Identifier: Apache-2.0
//
// Command lines of all tools: options, help, what is said of a wrong one, exit codes.
#pragma once

#include <Poco/Util/OptionSet.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opennrt::tools {

enum ExitCode { kDone = 0, kFailed = 1, kBadUsage = 2 };

using Words = std::vector<std::string>;
using Poco::Util::Option;

// The command line is wrong: told with the usage, exit code kBadUsage.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws a UsageError: "--option=value: expected ...".
[[noreturn]] void bad_value(std::string_view option, std::string_view value,
                            std::string_view expected);
// Numbers of options, decimal or 0x..; anything else is a UsageError.
std::int64_t number_of(std::string_view option, const std::string& value, std::int64_t lowest = 0,
                       std::int64_t highest = std::numeric_limits<std::int64_t>::max());
double seconds_of(std::string_view option, const std::string& value, double lowest, double highest);

struct CommandHelp {
  std::string command;  // "opennrt neff info"
  // Behind the command. A further line is another form; one that begins with a
  // space belongs to the line before it.
  std::string usage;
  std::string header = "";  // what it does
  std::string footer = "";  // below the options
  int trouble = kFailed;    // exit code of failures
};

struct Argument {
  std::string option;  // full name; empty: a word that is no option
  std::string value;   // of the option (empty: none), or the word
};

struct Arguments {
  std::vector<Argument> all;  // as they stand
  Words words;                // those that are no options

  bool has(std::string_view option) const { return value(option).has_value(); }
  // The first.
  std::optional<std::string> value(std::string_view option) const;
  std::int64_t number(std::string_view option, std::int64_t otherwise) const;
  // The word is there and no further one. what: "FILE"; throws a UsageError.
  const std::string& only_word(std::string_view what) const;
  // Throws a UsageError unless there are that many words.
  void want_words(std::size_t least, std::size_t most) const;
};

class CommandLine {
 public:
  // What begins behind the first word that is no option.
  enum class Behind { kMore, kProgram };

  // --help is added to the options.
  CommandLine(CommandHelp help, const std::vector<Option>& options, Behind behind = Behind::kMore);

  // Empty: the help is asked for. "--" ends the options. Throws a UsageError.
  std::optional<Arguments> parse(const Words& words) const;
  std::string help_text() const;
  std::string usage_text() const;

  // Parses, prints the help or calls `body`, tells what goes wrong, and what did not
  // arrive at standard output. Returns the exit code.
  int run(const Words& words, const std::function<int(const Arguments&)>& body) const;

 private:
  int run_body(const Words& words, const std::function<int(const Arguments&)>& body) const;
  int tell(const std::string& text, int code) const;

  CommandHelp help_;
  Poco::Util::OptionSet options_;
  Behind behind_;
};

// Names and what they are, for a footer.
std::string table_text(std::string_view title,
                       const std::vector<std::pair<std::string, std::string>>& rows);

// main() of the tools that are programs of their own. A closed pipe is an error that
// is told, not a silent end.
int tool_main(int argc, char** argv, int (*run)(const Words&));
void ignore_closed_pipes();
// As this program was started, for one that takes its place.
void restore_closed_pipes();

}  // namespace opennrt::tools
