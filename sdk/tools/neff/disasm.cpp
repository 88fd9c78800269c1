// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff disasm and asm.
#include <algorithm>
#include <charconv>
#include <limits>

#include "json_writer.h"
#include "neff/commands.h"
#include "neff/directory.h"
#include "neff/files.h"
#include "neff/listing.h"
#include "neff/model.h"
#include "neff/text.h"
#include "output.h"

namespace opennrt::tools {
namespace {

struct Range {
  std::uint64_t first = 1, last = std::numeric_limits<std::uint64_t>::max();
  bool whole() const { return first == 1 && last == std::numeric_limits<std::uint64_t>::max(); }
};

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "5", "5:", ":9" or "5:9".
Range range_of(const std::optional<std::string>& text) {
  Range range;
  if (!text) return range;
  const std::size_t colon = text->find(':');
  const std::string first = text->substr(0, colon);
  const std::string last = colon == std::string::npos ? first : text->substr(colon + 1);
  const auto a = first.empty() ? std::optional(range.first) : decimal(first);
  const auto b = last.empty() ? std::optional(range.last) : decimal(last);
  if (!a || !b || *a == 0 || *a > *b || text->size() <= (colon == std::string::npos ? 0U : 1U))
    bad_value("range", *text, "FIRST:LAST, counted from 1");
  return {*a, *b};
}

// Text in pieces, to standard output or into memory for a file.
class Sink {
 public:
  explicit Sink(std::optional<std::string> file) : file_(std::move(file)) {}
  // False: nobody reads any more.
  bool put(std::string& text) {
    if (file_) {
      all_ += text;
      text.clear();
      return true;
    }
    const bool good = print(text);
    text.clear();
    return good;
  }
  void close() const {
    if (file_) need(write_whole(*file_, all_));
  }

 private:
  std::optional<std::string> file_;
  std::string all_;
};

// What the lines of a stream are about.
struct Place {
  std::string subgraph, engine, member;  // empty: of a bare stream
  isa::Generation generation;
};

// A record, or what is behind the last whole one, as an object of its own.
void append_object(const Place& place, std::optional<std::uint64_t> record, std::string_view text,
                   std::span<const std::byte> bytes, std::string* out) {
  neffkit::JsonWriter json;
  json.begin_object();
  if (!place.member.empty()) {
    json.member("subgraph", json_text(place.subgraph));
    json.member("engine", place.engine);
    json.member("member", json_text(place.member));
  }
  json.member("target", isa::generation_name(place.generation));
  if (record) {
    json.member("record", *record);
    json.member("instruction", text.substr(0, text.find(' ')));
    json.member("text", json_text(text));
  } else {
    json.key("rest");
    json.boolean(true);
  }
  json.member("bytes", neff::hex(bytes));
  json.end_object();
  *out += json.str() + "\n";
}

void append_objects(std::span<const std::byte> stream, const Place& place, std::uint64_t first,
                    std::uint64_t last, std::string* out) {
  for (std::uint64_t number = first; number <= last; ++number)
    append_object(place, number, isa::disassemble(record_at(stream, number - 1), place.generation),
                  stream.subspan((number - 1) * isa::kRecordBytes, isa::kRecordBytes), out);
}

bool put_stream(std::span<const std::byte> stream, const Place& place, const Range& range,
                bool json, Sink& sink) {
  constexpr std::uint64_t kPiece = 4096;  // records
  const std::uint64_t records = stream.size() / isa::kRecordBytes;
  const std::uint64_t last = std::min<std::uint64_t>(range.last, records);
  std::string text;
  for (std::uint64_t at = range.first; at <= last; at += kPiece) {
    const std::uint64_t end = std::min(at + kPiece - 1, last);
    json ? append_objects(stream, place, at, end, &text)
         : append_records(stream, place.generation, at, end, &text);
    if (!sink.put(text)) return false;
  }
  if (range.whole() && json && stream.size() % isa::kRecordBytes != 0)
    append_object(place, std::nullopt, "", stream.subspan(records * isa::kRecordBytes), &text);
  else if (range.whole() && !json)
    append_rest(stream, &text);
  return sink.put(text);
}

// The range names a record of a stream of at most that many.
Status check_range(const Range& range, std::uint64_t records, const std::string& where) {
  if (range.whole() || range.first <= records) return Status::ok();
  return Status::invalid("--range={}:...: {} has {} records, counted from 1", range.first, where,
                         records);
}

struct DisasmOptions {
  std::optional<std::size_t> engine, subgraph;
  Range range;
  std::optional<isa::Generation> target;
  bool json = false;
};

// Everything of a model that the options ask for.
Status put_model(const Model& model, const DisasmOptions& options, Sink& sink) {
  const auto& graphs = model.program.subgraphs;
  const auto chosen = [&](std::size_t g, std::size_t e) {
    return (!options.subgraph || *options.subgraph == g) &&
           (!options.engine || *options.engine == e);
  };
  if (options.subgraph && *options.subgraph >= graphs.size())
    return Status::invalid("--subgraph={}: the model has {}, counted from 0", *options.subgraph,
                           graphs.size());
  std::uint64_t longest = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for (std::size_t e = 0; e < neff::kEngines; ++e)
      if (chosen(g, e))
        longest = std::max<std::uint64_t>(longest, graphs[g].streams[e].size() / isa::kRecordBytes);
  ONRT_TRY(check_range(options.range, longest, "the longest stream that is asked for"));
  std::string text = fmt::format(".target {}\n", isa::generation_name(model.generation));
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    for (std::size_t e = 0; e < neff::kEngines; ++e) {
      const std::string& member = graphs[g].stream_members[e];
      // Empty: this engine has no program.
      if (!chosen(g, e) || member.empty()) continue;
      if (!options.json && (neff::printable(member, member.size()) != member ||
                            member.front() == ' ' || member.back() == ' '))
        return Status::invalid("{}: a stream whose name does not fit on a line", member);
      text += fmt::format("\n.stream {}\n# engine {}, {} records\n", member, kEngineNames[e],
                          graphs[g].streams[e].size() / isa::kRecordBytes);
      if (options.json) text.clear();
      const Place place{graphs[g].name, kEngineNames[e], member, model.generation};
      if (!sink.put(text) ||
          !put_stream(graphs[g].streams[e], place, options.range, options.json, sink))
        return Status::ok();
    }
  }
  if (!options.json) sink.put(text);
  return Status::ok();
}

Status put_bare(const std::string& path, const DisasmOptions& options, Sink& sink) {
  ONRT_ASSIGN(const std::vector<std::byte> stream, read_whole(path));
  ONRT_TRY(check_range(options.range, stream.size() / isa::kRecordBytes, path));
  std::string head = fmt::format(".target {}\n", isa::generation_name(*options.target));
  if (options.json) head.clear();
  if (sink.put(head))
    put_stream(stream, {"", "", "", *options.target}, options.range, options.json, sink);
  return Status::ok();
}

isa::Generation target_of(const std::string& name) {
  if (const auto found = isa::find_generation(name)) return *found;
  bad_value("target", name, "sunda, cayman or mariana");
}

DisasmOptions disasm_options(const Arguments& arguments) {
  DisasmOptions out;
  out.json = arguments.has("json");
  out.range = range_of(arguments.value("range"));
  if (const auto name = arguments.value("engine")) {
    out.engine = find_engine(*name);
    if (!out.engine) bad_value("engine", *name, "PE, ACT, POOL, DVE or SP");
  }
  if (arguments.has("subgraph"))
    out.subgraph = static_cast<std::size_t>(arguments.number("subgraph", 0));
  if (const auto name = arguments.value("target")) {
    out.target = target_of(*name);
    if (out.engine || out.subgraph)
      throw UsageError("--target reads one bare stream, without --engine and --subgraph");
  }
  return out;
}

Status write_streams(const std::vector<Stream>& streams, const std::string& output) {
  if (streams.empty()) return Status::invalid("the text holds no record and no .stream line");
  if (streams.size() == 1) return write_whole(output, streams.front().bytes);
  ONRT_ASSIGN(NewDirectory directory, NewDirectory::create(output));
  for (const Stream& s : streams) ONRT_TRY(directory.write(s.name, s.bytes));
  return directory.finish();
}

}  // namespace

int neff_disasm(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff disasm",
       .usage = "[options] MODEL.neff\n--target=NAME [options] STREAM.bin",
       .header =
           "Instruction streams as text, of a model or of one bare stream. Records count from 1. "
           "The text is what `asm` reads."},
      {Option("engine", "e", "only of PE, ACT, POOL, DVE or SP").argument("NAME"),
       Option("subgraph", "s", "only of that one, counted from 0").argument("N"),
       Option("range", "r", "only these records; N, N: and :N too").argument("FIRST:LAST"),
       Option("target", "t", "of a bare stream: sunda, cayman or mariana").argument("NAME"),
       Option("output", "o", "write to FILE instead of standard output").argument("FILE"),
       Option(
           "json", "j",
           "for programs: for each record a line with {subgraph, engine, member, target, record, "
           "instruction, text, bytes}; for what is behind the last whole one {.., rest: true, "
           "bytes}. A bare stream has no subgraph, engine and member")});
  return line.run(words, [](const Arguments& arguments) {
    const DisasmOptions options = disasm_options(arguments);
    const std::string& path = arguments.only_word(options.target ? "STREAM.bin" : "MODEL.neff");
    Sink sink(arguments.value("output"));
    need(options.target ? put_bare(path, options, sink)
                        : put_model(need(open_and_load(path)), options, sink));
    sink.close();
    return kDone;
  });
}

int neff_asm(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff asm",
       .usage = "[options] TEXT OUTPUT",
       .header =
           "Text back to instruction streams. OUTPUT is a file when the text holds one stream, "
           "else a new directory with one file per .stream line."},
      {Option("target", "t", "of text without a .target line: sunda, cayman or mariana")
           .argument("NAME")});
  return line.run(words, [](const Arguments& arguments) {
    std::optional<isa::Generation> target;
    if (const auto name = arguments.value("target")) target = target_of(*name);
    arguments.want_words(2, 2);
    const std::string& path = arguments.words[0];
    const std::vector<std::byte> text = need(read_whole(path));
    need(
        write_streams(need(assemble_listing(
                          {reinterpret_cast<const char*>(text.data()), text.size()}, path, target)),
                      arguments.words[1]));
    return kDone;
  });
}

}  // namespace opennrt::tools
