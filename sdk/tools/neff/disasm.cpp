// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff disasm and asm.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

#include "neff/args.h"
#include "neff/commands.h"
#include "neff/directory.h"
#include "neff/files.h"
#include "neff/listing.h"
#include "neff/model.h"
#include "neff/text.h"

namespace opennrt::tools {
namespace {

struct Range {
  std::uint64_t first = 1, last = std::numeric_limits<std::uint64_t>::max();
  bool whole() const { return first == 1 && last == std::numeric_limits<std::uint64_t>::max(); }
};

// "5", "5:", ":9" or "5:9".
Result<Range> parse_range(const std::optional<std::string>& text) {
  Range range;
  if (!text) return range;
  const std::size_t colon = text->find(':');
  const std::string first = text->substr(0, colon);
  const std::string last = colon == std::string::npos ? first : text->substr(colon + 1);
  const auto a = first.empty() ? std::optional(range.first) : decimal(first);
  const auto b = last.empty() ? std::optional(range.last) : decimal(last);
  if (!a || !b || *a == 0 || *a > *b || text->size() <= (colon == std::string::npos ? 0U : 1U))
    return Status::invalid("--range={}: expected FIRST:LAST, counted from 1", *text);
  return Range{*a, *b};
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
  Status close() const { return file_ ? write_whole(*file_, all_) : finish_output(); }

 private:
  std::optional<std::string> file_;
  std::string all_;
};

bool put_stream(std::span<const std::byte> stream, isa::Generation generation, const Range& range,
                Sink& sink) {
  constexpr std::uint64_t kPiece = 4096;  // records
  const std::uint64_t last = std::min<std::uint64_t>(range.last, stream.size() / isa::kRecordBytes);
  std::string text;
  for (std::uint64_t at = range.first; at <= last; at += kPiece) {
    append_records(stream, generation, at, std::min(at + kPiece - 1, last), &text);
    if (!sink.put(text)) return false;
  }
  if (range.whole()) append_rest(stream, &text);
  return sink.put(text);
}

// The range names a record of a stream of at most that many.
Status check_range(const Range& range, std::uint64_t records, const std::string& where) {
  if (range.whole() || range.first <= records) return Status::ok();
  return Status::invalid("--range={}:...: {} has {} records, counted from 1", range.first, where,
                         records);
}

// Everything of a model that the options ask for.
Status put_model(const Model& model, std::optional<std::size_t> engine,
                 std::optional<std::uint64_t> subgraph, const Range& range, Sink& sink) {
  const auto& graphs = model.program.subgraphs;
  if (subgraph && *subgraph >= graphs.size())
    return Status::invalid("--subgraph={}: the model has {}, counted from 0", *subgraph,
                           graphs.size());
  std::uint64_t longest = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for (std::size_t e = 0; e < neff::kEngines; ++e)
      if ((!subgraph || *subgraph == g) && (!engine || *engine == e))
        longest = std::max<std::uint64_t>(longest, graphs[g].streams[e].size() / isa::kRecordBytes);
  ONRT_TRY(check_range(range, longest, "the longest stream that is asked for"));
  std::string text = fmt::format(".target {}\n", isa::generation_name(model.generation));
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    if (subgraph && *subgraph != g) continue;
    for (std::size_t e = 0; e < neff::kEngines; ++e) {
      if (engine && *engine != e) continue;
      const std::string& member = graphs[g].stream_members[e];
      if (member.empty()) continue;  // this engine has no program
      if (neff::printable(member, member.size()) != member || member.front() == ' ' ||
          member.back() == ' ')
        return Status::invalid("{}: a stream whose name does not fit on a line", member);
      text += fmt::format("\n.stream {}\n# engine {}, {} records\n", member, kEngineNames[e],
                          graphs[g].streams[e].size() / isa::kRecordBytes);
      if (!sink.put(text)) return Status::ok();
      if (!put_stream(graphs[g].streams[e], model.generation, range, sink)) return Status::ok();
    }
  }
  sink.put(text);
  return Status::ok();
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
  auto args = Args::parse(
      words,
      {{"engine", true}, {"subgraph", true}, {"range", true}, {"target", true}, {"output", true}},
      1, 1);
  if (!args) return bad_usage("disasm", args.status());
  const auto range = parse_range(args->value("range"));
  if (!range) return bad_usage("disasm", range.status());
  std::optional<std::size_t> engine;
  if (const auto name = args->value("engine")) {
    engine = find_engine(*name);
    if (!engine)
      return bad_usage("disasm",
                       Status::invalid("--engine={}: expected PE, ACT, POOL, DVE or SP", *name));
  }
  const auto subgraph = args->number("subgraph", 0);
  if (!subgraph) return bad_usage("disasm", subgraph.status());
  const std::string& path = args->positional()[0];
  Sink sink(args->value("output"));
  if (const auto name = args->value("target")) {
    const auto target = isa::find_generation(*name);
    if (!target || engine || args->has("subgraph"))
      return bad_usage("disasm", Status::invalid("--target={} reads one bare stream of sunda, "
                                                 "cayman or mariana",
                                                 *name));
    const auto stream = read_whole(path);
    if (!stream) return fail("disasm", stream.status());
    const Status inside = check_range(*range, stream->size() / isa::kRecordBytes, path);
    if (!inside.is_ok()) return fail("disasm", inside);
    std::string head = fmt::format(".target {}\n", *name);
    if (sink.put(head)) put_stream(*stream, *target, *range, sink);
  } else {
    const auto model = open_and_load(path);
    if (!model) return fail("disasm", model.status());
    const Status status =
        put_model(*model, engine, args->has("subgraph") ? std::optional(*subgraph) : std::nullopt,
                  *range, sink);
    if (!status.is_ok()) return fail("disasm", status);
  }
  const Status status = sink.close();
  return status.is_ok() ? kDone : fail("disasm", status);
}

int neff_asm(const Words& words) {
  auto args = Args::parse(words, {{"target", true}}, 2, 2);
  if (!args) return bad_usage("asm", args.status());
  std::optional<isa::Generation> target;
  if (const auto name = args->value("target")) {
    target = isa::find_generation(*name);
    if (!target)
      return bad_usage("asm",
                       Status::invalid("--target={}: expected sunda, cayman or mariana", *name));
  }
  const std::string& path = args->positional()[0];
  const auto text = read_whole(path);
  if (!text) return fail("asm", text.status());
  const auto streams =
      assemble_listing({reinterpret_cast<const char*>(text->data()), text->size()}, path, target);
  if (!streams) return fail("asm", streams.status());
  const Status status = write_streams(*streams, args->positional()[1]);
  return status.is_ok() ? kDone : fail("asm", status);
}

}  // namespace opennrt::tools
