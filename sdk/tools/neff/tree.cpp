// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff tree: the members of the archive.
#include <algorithm>
#include <vector>

#include "json_writer.h"
#include "neff/commands.h"
#include "neff/member_kind.h"
#include "neff/model.h"
#include "neff/text.h"
#include "output.h"

namespace opennrt::tools {
namespace {

struct Row {
  std::string name;
  std::uint64_t bytes;
  const char* kind;
};

std::vector<Row> rows_of(const Model& model) {
  std::vector<Row> rows;
  model.members->for_each([&](std::string_view name, const neff::Member& member, bool) {
    rows.push_back({std::string(name), member.bytes().size(), member_kind(name)});
  });
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  return rows;
}

void print_rows(const Model& model, const std::vector<Row>& rows) {
  std::uint64_t bytes = 0;
  std::size_t width = 8;
  for (const Row& row : rows) {
    bytes += row.bytes;
    width = std::max(width, std::to_string(row.bytes).size());
  }
  print(fmt::format("{}: {} members, {} bytes, {} stored\n", model.path, rows.size(), bytes,
                    model.header.data_size));
  std::string folder;
  for (const Row& row : rows) {
    const std::size_t slash = row.name.rfind('/');
    const std::string in = slash == std::string::npos ? "" : row.name.substr(0, slash + 1);
    if (in != folder && !in.empty()) print(fmt::format("{}\n", neff::printable(in, in.size())));
    folder = in;
    const std::string leaf = row.name.substr(in.size());
    print(fmt::format("{:>{}}  {}{}  ({})\n", row.bytes, width, in.empty() ? "" : "  ",
                      neff::printable(leaf, leaf.size()), row.kind));
  }
}

void print_json(const Model& model, const std::vector<Row>& rows) {
  neffkit::JsonWriter json;
  json.begin_object();
  json.member("file", json_text(model.path));
  json.member("stored_bytes", model.header.data_size);
  json.key("members");
  json.begin_array();
  for (const Row& row : rows) {
    json.begin_object();
    json.member("name", json_text(row.name));
    json.member("bytes", row.bytes);
    json.member("kind", row.kind);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  print(json.str() + "\n");
}

}  // namespace

int neff_tree(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff tree",
       .usage = "[options] MODEL.neff",
       .header = "Members of the archive with size and kind."},
      {Option("json", "j",
              "for programs: {file, stored_bytes, members: a list of {name, bytes, kind}}")});
  return line.run(words, [](const Arguments& arguments) {
    const Model model = need(open_model(arguments.only_word("MODEL.neff")));
    arguments.has("json") ? print_json(model, rows_of(model)) : print_rows(model, rows_of(model));
    return kDone;
  });
}

}  // namespace opennrt::tools
