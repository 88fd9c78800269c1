// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff verify.
#include "neff/verify.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "json_writer.h"
#include "model_file.h"
#include "neff/commands.h"
#include "neff/member_kind.h"
#include "neff/text.h"
#include "output.h"

namespace opennrt::tools {
namespace {

void print_findings(const std::string& path, const Findings& findings) {
  for (const Finding& f : findings.kept())
    print(fmt::format("{:<7} {}{}: {}\n", f.severity == Severity::kError ? "error" : "warning",
                      neff::printable(f.member, 400),
                      f.record ? fmt::format(": record {}", *f.record) : "", f.text));
  const std::uint64_t all = findings.errors() + findings.warnings();
  if (all > findings.kept().size())
    print(fmt::format("... and {} more (--limit)\n", all - findings.kept().size()));
  print(fmt::format("{}: {} errors, {} warnings\n", path, findings.errors(), findings.warnings()));
}

void print_json(const std::string& path, const Findings& findings) {
  neffkit::JsonWriter json;
  json.begin_object();
  json.member("file", json_text(path));
  json.member("errors", findings.errors());
  json.member("warnings", findings.warnings());
  json.key("findings");
  json.begin_array();
  for (const Finding& f : findings.kept()) {
    json.begin_object();
    json.member("severity", f.severity == Severity::kError ? "error" : "warning");
    json.member("member", json_text(f.member));
    if (f.record) json.member("record", *f.record);
    json.member("text", json_text(f.text));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  print(json.str() + "\n");
}

// "member: text" of a refusal in two parts.
std::pair<std::string, std::string> split(std::string_view message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string_view::npos) return {"model", std::string(message)};
  return {std::string(message.substr(0, colon)), std::string(message.substr(colon + 2))};
}

void refusal(const Status& status, Findings& findings) {
  auto [member, text] = split(status.message());
  findings.error(std::move(member), std::nullopt, std::move(text));
}

void verify_header(const Model& model, Findings& findings) {
  if (!model.hash.is_ok()) refusal(model.hash, findings);
  const std::uint64_t beyond = model.file_bytes - neff::kHeaderBytes - model.header.data_size;
  if (beyond != 0)
    findings.warn("header", std::nullopt,
                  fmt::format("{} bytes follow the payload of {}", beyond, model.header.data_size));
  const bool no_uuid = std::all_of(model.header.uuid.begin(), model.header.uuid.end(),
                                   [](std::uint8_t b) { return b == 0; });
  if (no_uuid) findings.warn("header", std::nullopt, "uuid is zero: models cannot be told apart");
}

}  // namespace

void verify_members(const Model& model, Findings& findings) {
  static const std::set<std::string_view> kExpected = {"debug", "statistics", "tensor names",
                                                       "activation catalogue"};
  std::vector<std::string> unused;
  model.members->for_each([&](std::string_view name, const neff::Member&, bool read) {
    if (!read && !kExpected.contains(member_kind(name))) unused.emplace_back(name);
  });
  std::sort(unused.begin(), unused.end());
  for (std::string& name : unused)
    findings.warn(std::move(name), std::nullopt, "nothing in the model refers to this member");
  for (const neff::Subgraph& graph : model.program.subgraphs)
    for (std::size_t e = 0; e < neff::kEngines; ++e)
      if (graph.stream_members[e].empty())
        findings.warn(graph.name, std::nullopt,
                      fmt::format("engine {} has no program", kEngineNames[e]));
}

void verify_model(Model& model, Findings& findings) {
  verify_header(model, findings);
  if (const Status status = load(model, true); !status.is_ok()) {
    refusal(status, findings);
    // Without what only a running device asks for.
    if (!load(model, false).is_ok()) return;
  }
  for (const neff::Subgraph& graph : model.program.subgraphs) {
    verify_records(model, graph, findings);
    verify_queues(model, graph, findings);
  }
  verify_waits(model, findings);
  verify_members(model, findings);
}

int neff_verify(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff verify",
       .usage = "[options] MODEL.neff",
       .header = "Checks a model without running it: hash, manifests, every record against the "
                 "instruction table, memory ranges, DMA blocks, waits.",
       .footer = "Exit code: 1 when there are errors, with --strict also warnings."},
      {Option("strict", "s", "fail on warnings too"),
       Option("limit", "l", "findings shown (default 100; 0: all)").argument("N"),
       Option("json", "j",
              "for programs: {file, errors, warnings, findings: a list of {severity, member, "
              "record, text}}")});
  return line.run(words, [](const Arguments& arguments) {
    Findings findings(static_cast<std::uint64_t>(arguments.number("limit", 100)));
    const std::string& path = arguments.only_word("MODEL.neff");
    const std::vector<std::byte> bytes = need(read_model_file(path));
    auto model = open_model(path, bytes);
    if (model) {
      verify_model(*model, findings);
    } else {
      // The message begins with the path, which is said already.
      findings.error("file", std::nullopt,
                     std::string(model.status().message().substr(path.size() + 2)));
    }
    arguments.has("json") ? print_json(path, findings) : print_findings(path, findings);
    const bool bad =
        findings.errors() != 0 || (arguments.has("strict") && findings.warnings() != 0);
    return bad ? kFailed : kDone;
  });
}

}  // namespace opennrt::tools
