// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <Poco/Util/HelpFormatter.h>
#include <Poco/Util/Option.h>
#include <Poco/Util/OptionProcessor.h>
#include <Poco/Util/OptionSet.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

#include "inspect/request.h"

namespace opennrt::tools {

namespace {

long parse_count(const std::string& option, const std::string& text, long lowest, long highest) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0' || value < lowest || value > highest)
    throw UsageError("--" + option + "=" + text + ": expected a number from " +
                     std::to_string(lowest) + " to " + std::to_string(highest));
  return value;
}

Poco::Util::OptionSet option_set() {
  using Poco::Util::Option;
  Poco::Util::OptionSet set;
  set.addOption(Option("help", "h", "print this text"));
  set.addOption(Option("input", "i",
                       "NAME=FILE.npy (type and shape of the input), NAME=FILE (its bytes) or "
                       "NAME=zeros|ones|ramp|random")
                    .argument("NAME=WHAT")
                    .repeatable(true));
  set.addOption(Option("fill", "f",
                       "inputs not named: zeros, ones, ramp (0, 1, ... 250, 0, ...) or random "
                       "(default; floats in [0, 1), integers 0 to 127)")
                    .argument("KIND"));
  set.addOption(Option("seed", "s", "seed of random inputs (default 1)").argument("N"));
  set.addOption(Option("executions", "n", "executions to run and time (default 1)").argument("N"));
  set.addOption(
      Option("output-dir", "o", "write each output as DIR/NAME.npy; makes DIR").argument("DIR"));
  set.addOption(Option("raw", "r", "outputs and dumps as raw bytes, DIR/NAME.bin"));
  set.addOption(Option("vnc", "c", "logical core (default: the least used)").argument("N"));
  set.addOption(Option("device", "d", "auto, kernel or emulator").argument("NAME"));
  set.addOption(Option("verify", "",
                       "software device: check the program; all (default) or a list of poison, "
                       "races, coverage, bounds, order=SEED. Exit code 1 when something is found")
                    .argument("LIST", false));
  set.addOption(Option("break", "",
                       "software device: [sgNN/]ENGINE:RECORD[@EXECUTION[.PASS]], where the --dump "
                       "options behind it look: after that record of the stream, counted as "
                       "`opennrt neff disasm` does")
                    .argument("PLACE")
                    .repeatable(true));
  set.addOption(Option("dump", "",
                       "[NAME=]SPEC: write memory to DIR/NAME.npy at the break; SPEC is "
                       "sbuf:PARTITIONS:BYTES:DTYPE, psum:..., var:NAME[:DTYPE] or "
                       "hbm:ADDRESS:BYTES[:DTYPE]; ranges are N, FIRST-LAST or FIRST+COUNT")
                    .argument("SPEC")
                    .repeatable(true));
  set.addOption(
      Option("dump-dir", "", "where dumps go (default: here); makes DIR").argument("DIR"));
  set.addOption(Option("compare", "",
                       "NAME=FILE.npy[,rtol=R][,atol=A]: compare an output or a dump with a file; "
                       "|value - reference| <= A + R |reference|, NaN equals NaN only. Exit code 1 "
                       "on a mismatch")
                    .argument("NAME=FILE")
                    .repeatable(true));
  return set;
}

// Characters of tensor names and dump specifications that trouble file names.
std::string file_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-' && c != '_'; },
      '_');
  return text;
}

double parse_tolerance(const std::string& whole, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0) || std::isinf(value))
    throw UsageError("--compare=" + whole + ": tolerance '" + text + "' is no number from 0 on");
  return value;
}

CompareRequest parse_compare(const std::string& text) {
  const std::size_t equals = text.find('=');
  CompareRequest request;
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--compare=" + text + ": expected NAME=FILE.npy[,rtol=R][,atol=A]");
  request.name = text.substr(0, equals);
  std::string rest = text.substr(equals + 1);
  // Tolerances from the end, so that a file name may hold commas.
  for (std::size_t comma; (comma = rest.rfind(',')) != std::string::npos;) {
    const std::string word = rest.substr(comma + 1);
    const std::string key = word.substr(0, word.find('='));
    if (key != "rtol" && key != "atol") break;
    std::optional<double>& value = key == "rtol" ? request.rtol : request.atol;
    if (value) throw UsageError("--compare=" + text + ": " + key + " is given twice");
    value = parse_tolerance(text, word.size() > 5 ? word.substr(5) : "");
    rest.resize(comma);
  }
  if (rest.empty()) throw UsageError("--compare=" + text + ": names no file");
  request.file = rest;
  return request;
}

// text: [NAME=]SPEC
DumpRequest parse_dump_option(const std::string& text, const std::string& at) {
  if (at.empty()) throw UsageError("--dump=" + text + ": a --break PLACE comes before it");
  DumpRequest request;
  request.at = at;
  request.what = text;
  // A '=' behind the first ':' belongs to the name of a variable.
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals < text.find(':')) {
    request.name = text.substr(0, equals);
    request.what = text.substr(equals + 1);
    if (request.name.empty() || request.name[0] == '.' || file_name(request.name) != request.name)
      throw UsageError("--dump=" + text + ": a name consists of letters, digits, '.', '-' and '_'");
  }
  std::string error;
  emu::Dump dump;
  if (!emu::parse_dump(request.what, &dump, &error)) throw UsageError("--dump: " + error);
  if (dump.type_given) request.dtype = dump.type->name;
  request.variable = dump.variable;
  if (request.name.empty()) request.name = file_name(at + "." + request.what);
  return request;
}

}  // namespace

bool is_fill(const std::string& kind) {
  return kind == "zeros" || kind == "ones" || kind == "ramp" || kind == "random";
}

RunOptions parse_run_options(const std::vector<std::string>& args, bool* help) {
  const Poco::Util::OptionSet set = option_set();
  Poco::Util::OptionProcessor processor(set);
  processor.setUnixStyle(true);
  RunOptions options;
  *help = false;
  std::string at;  // the last --break
  bool at_used = true;
  const auto close_break = [&] {
    if (!at_used) throw UsageError("--break=" + at + ": no --dump behind it");
  };
  const auto apply = [&](const std::string& name, const std::string& value) {
    if (name == "help") *help = true;
    if (name == "raw") options.raw = true;
    if (name == "fill") {
      if (!is_fill(value))
        throw UsageError("--fill=" + value + ": expected zeros, ones, ramp or random");
      options.fill = value;
    }
    if (name == "output-dir") options.output_dir = value;
    if (name == "dump-dir") {
      if (value.empty()) throw UsageError("--dump-dir: names no directory");
      options.dump_dir = value;
    }
    if (name == "device") options.device = value;
    if (name == "verify") options.verify = value.empty() ? "all" : value;
    if (name == "seed")
      options.seed = static_cast<std::uint64_t>(parse_count(name, value, 0, 1L << 62));
    if (name == "executions")
      options.executions = static_cast<int>(parse_count(name, value, 1, 100'000'000));
    if (name == "vnc") options.vnc = static_cast<int>(parse_count(name, value, -1, 255));
    if (name == "input") {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos || equals == 0)
        throw UsageError("--input=" + value + ": expected NAME=WHAT");
      const std::string input = value.substr(0, equals);
      if (!options.inputs.emplace(input, value.substr(equals + 1)).second)
        throw UsageError("--input=" + value + ": input '" + input + "' is given twice");
    }
    if (name == "compare") options.compares.push_back(parse_compare(value));
    if (name == "break") {
      close_break();
      std::string error;
      emu::Breakpoint parsed;
      if (!emu::parse_break(value, &parsed, &error)) throw UsageError("--break: " + error);
      at = value;
      at_used = false;
    }
    if (name == "dump") {
      options.dumps.push_back(parse_dump_option(value, at));
      at_used = true;
    }
  };
  for (const std::string& arg : args) {
    std::string name, value;
    if (processor.process(arg, name, value)) {
      if (!name.empty()) apply(name, value);  // empty: the value is the next word
    } else if (options.model.empty()) {
      options.model = arg;
    } else {
      throw UsageError("unexpected argument " + arg);
    }
  }
  processor.checkRequired();  // an option whose value never came
  close_break();
  std::set<std::string> names;
  for (const DumpRequest& dump : options.dumps)
    if (!names.insert(dump.name).second)
      throw UsageError("--dump: two dumps are called '" + dump.name + "'; name them NAME=SPEC");
  if (options.model.empty() && !*help) throw UsageError("no model given");
  return options;
}

void print_run_help() {
  Poco::Util::OptionSet set = option_set();
  Poco::Util::HelpFormatter help(set);
  help.setCommand("opennrt run");
  help.setUsage("MODEL.neff [options]");
  help.setHeader("Loads a compiled model, fills its inputs, executes it.");
  std::ostringstream text;
  help.format(text);
  std::fputs(text.str().c_str(), stdout);
}

}  // namespace opennrt::tools
