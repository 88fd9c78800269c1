// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "inspect/request.h"

namespace opennrt::tools {

namespace {

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
    bad_value("compare", text, "NAME=FILE.npy[,rtol=R][,atol=A]");
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

CommandLine run_command_line() {
  return {
      {.command = "opennrt run",
       .usage = "[options] MODEL.neff",
       .header = "Loads a compiled model, fills its inputs, executes it.",
       .footer =
           "With --json standard output is {good, error, device, product, core, model, tensors: "
           "a list of {usage, name, dtype, shape, bytes, source}, latency_us: {count, min, p50, "
           "p90, p99, max}, outputs: a list of {name, file}, dumps: a list of {name, break, dump, "
           "file, reason}, comparisons: a list of {name, file, match, elements, mismatches, "
           "non_finite_mismatches, rtol, atol, max_abs_error, max_rel_error, first, worst}, "
           "verify: {checks, findings}}; first and worst are {index, value, reference}. What is "
           "not known, did not happen, or is NaN or infinite is null. The findings themselves are "
           "in the log.\n\n"
           "Exit code: 0 done; 1 failed, a finding or a mismatch; 2 wrong usage."},
      {Option("input", "i",
              "NAME=FILE.npy (type and shape of the input), NAME=FILE (its bytes) or "
              "NAME=zeros|ones|ramp|random")
           .argument("NAME=WHAT")
           .repeatable(true),
       Option("fill", "f",
              "inputs not named: zeros, ones, ramp (0, 1, ... 250, 0, ...) or random "
              "(default; floats in [0, 1), integers 0 to 127)")
           .argument("KIND"),
       Option("seed", "s", "seed of random inputs (default 1)").argument("N"),
       Option("executions", "n", "executions to run and time (default 1)").argument("N"),
       Option("output-dir", "o", "write each output as DIR/NAME.npy; makes DIR").argument("DIR"),
       Option("raw", "r", "outputs and dumps as raw bytes, DIR/NAME.bin"),
       Option("vnc", "c", "logical core (default: the least used)").argument("N"),
       Option("device", "d", "auto, kernel or emulator").argument("NAME"),
       Option("verify", "",
              "software device: check the program; all (default) or a list of poison, "
              "races, coverage, bounds, order=SEED. Exit code 1 when something is found")
           .argument("LIST", false),
       Option("break", "",
              "software device: [sgNN/]ENGINE:RECORD[@EXECUTION[.PASS]], where the --dump "
              "options behind it look: after that record of the stream, counted as "
              "`opennrt neff disasm` does")
           .argument("PLACE")
           .repeatable(true),
       Option("dump", "",
              "[NAME=]SPEC: write memory to DIR/NAME.npy at the break; SPEC is "
              "sbuf:PARTITIONS:BYTES:DTYPE, psum:..., var:NAME[:DTYPE] or "
              "hbm:ADDRESS:BYTES[:DTYPE]; ranges are N, FIRST-LAST or FIRST+COUNT")
           .argument("SPEC")
           .repeatable(true),
       Option("dump-dir", "", "where dumps go (default: here); makes DIR").argument("DIR"),
       Option("compare", "",
              "NAME=FILE.npy[,rtol=R][,atol=A]: compare an output or a dump with a file; "
              "|value - reference| <= A + R |reference|, NaN equals NaN only. Exit code 1 "
              "on a mismatch")
           .argument("NAME=FILE")
           .repeatable(true),
       Option("json", "j", "for programs: one JSON document instead of lines")}};
}

RunOptions run_options(const Arguments& arguments) {
  RunOptions options;
  std::string at;  // the last --break
  bool at_used = true;
  const auto close_break = [&] {
    if (!at_used) throw UsageError("--break=" + at + ": no --dump behind it");
  };
  const auto apply = [&](const std::string& name, const std::string& value) {
    if (name == "json") options.json = true;
    if (name == "raw") options.raw = true;
    if (name == "fill") {
      if (!is_fill(value)) bad_value(name, value, "zeros, ones, ramp or random");
      options.fill = value;
    }
    if (name == "output-dir") options.output_dir = value;
    if (name == "dump-dir") options.dump_dir = value;
    if (name == "device") options.device = value;
    if (name == "verify") options.verify = value.empty() ? "all" : value;
    if (name == "seed")
      options.seed = static_cast<std::uint64_t>(number_of(name, value, 0, 1L << 62));
    if (name == "executions")
      options.executions = static_cast<int>(number_of(name, value, 1, 100'000'000));
    if (name == "vnc") options.vnc = static_cast<int>(number_of(name, value, -1, 255));
    if (name == "input") {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos || equals == 0) bad_value(name, value, "NAME=WHAT");
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
  for (const auto& [name, value] : arguments.all)
    if (!name.empty()) apply(name, value);
  close_break();
  std::set<std::string> names;
  for (const DumpRequest& dump : options.dumps)
    if (!names.insert(dump.name).second)
      throw UsageError("--dump: two dumps are called '" + dump.name + "'; name them NAME=SPEC");
  options.model = arguments.only_word("MODEL.neff");
  return options;
}

}  // namespace opennrt::tools
