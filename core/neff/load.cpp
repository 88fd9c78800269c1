// SPDX-License-Identifier: Apache-2.0
#include "neff/loader.h"

#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "log/log.h"
#include "neff/blocks.h"
#include "neff/definition.h"
#include "neff/manifest.h"
#include "neff/queues.h"
#include "neff/streams.h"
#include "neff/tables.h"
#include "neff/variables.h"

namespace opennrt::neff {
namespace {

Status read_engine(Engine engine, MemberTable& members, SubgraphReader& reader,
                   BlockReader& blocks) {
  const std::string& name = reader.engine_members[static_cast<std::size_t>(engine)];
  if (name.empty()) return Status::ok();
  const Member* member = members.find(name);
  if (!member)
    return Status::invalid("{}: {}: member {} is not in the NEFF", printable(reader.definition),
                           engine_key(engine), quote(name));
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse(name, *member));
  const Json& root = document.root();
  ONRT_TRY(root.expect_object());
  ONRT_TRY(read_stream(root, engine, members, reader));
  ONRT_TRY(blocks.read(root, engine));
  if (engine == Engine::kAct) ONRT_TRY(read_activation_sets(root, members, reader));
  if (engine == Engine::kDve) ONRT_TRY(read_dve_tables(root, members, reader));
  return Status::ok();
}

Status read_program_of(SubgraphReader& reader, MemberTable& members, const LoadLimits& limits) {
  ONRT_TRY(read_queues(limits, reader));
  BlockReader blocks(limits, reader);
  for (std::size_t engine = 0; engine < kEngines; ++engine)
    ONRT_TRY(read_engine(static_cast<Engine>(engine), members, reader, blocks));
  ONRT_TRY(blocks.read(reader.document->root(), std::nullopt));
  blocks.finish();
  ONRT_TRY(check_triggers(reader.graph));
  reader.document.reset();
  return Status::ok();
}

Result<Program> load(std::span<const std::byte> bytes, const LoadLimits& limits) {
  ONRT_ASSIGN(const Header header, read_header(bytes));
  const auto payload = bytes.subspan(kHeaderBytes, header.data_size);
  if (limits.validate_hash) ONRT_TRY(check_hash(header, payload));
  ONRT_ASSIGN(MemberTable members, unpack(header, payload, limits.max_decompressed_bytes));
  return load_members(header, std::move(members), limits);
}

}  // namespace

Result<Program> load_members(const Header& header, MemberTable table, const LoadLimits& limits) {
  const auto members = std::make_shared<MemberTable>(std::move(table));
  ONRT_ASSIGN(Manifest manifest, read_manifest(*members, header, limits));

  std::vector<SubgraphReader> readers(manifest.graphs.size());
  for (std::size_t index = 0; index < readers.size(); ++index) {
    readers[index].graph.name = manifest.graphs[index].name;
    readers[index].definition = manifest.graphs[index].definition;
    ONRT_TRY(read_definition(*members, limits, readers[index]));
    ONRT_TRY(read_variables(*members, limits, manifest, readers[index]));
  }
  ONRT_TRY(resolve_remote_variables(readers));
  for (SubgraphReader& reader : readers) ONRT_TRY(read_program_of(reader, *members, limits));

  Program program;
  program.name = header.name;
  program.uuid = header.uuid;
  program.compiler_version = std::move(manifest.compiler_version);
  program.feature_bits = header.feature_bits;
  program.lnc_size = header.lnc_size;
  program.target = std::move(manifest.target);
  program.mac_count = manifest.mac_count;
  program.inputs = std::move(manifest.inputs);
  program.outputs = std::move(manifest.outputs);
  for (SubgraphReader& reader : readers) program.subgraphs.push_back(std::move(reader.graph));
  members->drop_unkept();
  program.storage = members;
  ONRT_LOG(kNeff, kInfo, "{}: target {}, compiler {}, NEFF version {}.{}, {} subgraphs",
           quote(program.name), printable(program.target),
           program.compiler_version.empty() ? "unknown" : printable(program.compiler_version),
           header.version_major, header.version_minor, program.subgraphs.size());
  return program;
}

namespace {

Result<Outline> outline(std::span<const std::byte> bytes) {
  ONRT_ASSIGN(const Header header, read_header(bytes));
  ONRT_ASSIGN(const MemberTable members,
              unpack(header, bytes.subspan(kHeaderBytes, header.data_size), 0));
  Outline out;
  ONRT_ASSIGN(out.target, read_target(members));
  if (header.version_major == 2 && (header.feature_bits & kFeatureVnc) != 0)
    out.lnc_size = header.lnc_size;
  return out;
}

}  // namespace

Result<Outline> read_outline(std::span<const std::byte> bytes) {
  try {
    return outline(bytes);
  } catch (const std::bad_alloc&) {
    return Status::resource("NEFF: no host memory to look at a file of {} bytes", bytes.size());
  } catch (const std::length_error&) {
    return Status::resource("NEFF: no host memory to look at a file of {} bytes", bytes.size());
  }
}

Result<Program> load_program(std::span<const std::byte> bytes, const LoadLimits& limits) {
  try {
    return load(bytes, limits);
  } catch (const std::bad_alloc&) {
    return Status::resource("NEFF: no host memory to load a file of {} bytes", bytes.size());
  } catch (const std::length_error&) {
    return Status::resource("NEFF: no host memory to load a file of {} bytes", bytes.size());
  }
}

}  // namespace opennrt::neff
