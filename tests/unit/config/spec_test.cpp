// SPDX-License-Identifier: Apache-2.0
//
// Our table against the list of public variables, variable by variable: every
// difference has to stand in kDeviations with its reason.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "config/settings.h"
#include "config/value.h"

namespace opennrt::config {
namespace {

struct Facts {
  std::string key, type, fallback, range, action;
};

struct Deviation {
  std::string_view variable, field, ours, why;
};

constexpr std::string_view kActivity = "one variable sets one key";
constexpr std::string_view kWords = "the same in words";
constexpr std::string_view kMachine = "checked against the machine later";
constexpr std::string_view kByArch = "by arch, see the defaults of silicon below";
constexpr std::string_view kWidth = "the width of its number is all that is known";

constexpr Deviation kDeviations[] = {
    // Keys.
    {"NEURON_RT_INSPECT_SYSTEM_PROFILE", "key", "inspect.system_profile", kActivity},
    {"NEURON_RT_INSPECT_CPU_UTIL", "key", "inspect.cpu_util", kActivity},
    {"NEURON_RT_INSPECT_HOST_MEMORY", "key", "inspect.host_memory", kActivity},
    // Types.
    {"NEURON_RT_ULTRASERVER_MODE", "type", "numbers", "scripts write a list of allowed modes"},
    {"NEURON_RT_CC_ALG_TYPES", "type", "string", "the grammar is ours; a form checks it"},
    {"NEURON_RT_DBG_EXPERIMENTAL_CONTIGUOUS_SCRATCHPAD", "type", "bool",
     "second spelling of a bool"},
    {"NEURON_RT_LOG_LEVEL", "type", "level", "by substring"},
    {"NEURON_RT_LOG_LOCATION", "type", "location", "by substring, or a file name"},
    {"NEURON_RT_INSPECT_EVENT_FILTER_NC", "type", "ranges", "the list consists of ranges"},
    {"NEURON_RT_PROFILING_MODE", "type", "string", "its values are not known"},
    // Defaults.
    {"NEURON_LOGICAL_NC_CONFIG", "default", "", "by arch, from the geometry of the silicon"},
    {"NEURON_RT_VIRTUAL_CORE_SIZE", "default", "", "by arch, from the geometry of the silicon"},
    {"NEURON_RT_ENABLE_HW_EXECUTION_BARRIER", "default", "0", "no product here has the barrier"},
    {"NEURON_RT_DBG_DROP_EVENTSEM_NOTIF", "default", "0", kWords},
    {"NEURON_RT_DBG_HW_DECODE_TOGGLE", "default", "", kByArch},
    {"NEURON_RT_INSTR_FETCH_ON_H2D", "default", "", kByArch},
    {"NEURON_RT_DBG_DIRECT_BAR4_WRITE_SIZE", "default", "", kByArch},
    {"NEURON_RT_DBG_INTRA_RDH_CHANNEL_BUFFER_SIZE", "default", "41943040", kByArch},
    {"NEURON_RT_DBG_CC_STOCHASTIC_ROUNDING_EN", "default", "",
     "unset follows numerics.stochastic_rounding"},
    {"NEURON_RT_ONE_TMPBUF_PAGE_SIZE_MB", "range", "512..3584 multiple of 512",
     "second spelling; a key has one range"},
    {"NEURON_RT_CONTIGUOUS_SCRATCHPAD", "default", "", "the scratchpad is one region anyway"},
    {"NEURON_RT_DBG_EXPERIMENTAL_CONTIGUOUS_SCRATCHPAD", "default", "",
     "the scratchpad is one region anyway"},
    {"NEURON_RT_INSPECT_SYSTEM_PROFILE", "default", "1", "nothing is recorded without ENABLE"},
    {"NEURON_RT_INSPECT_DEVICE_PROFILE", "default", "0", "what the documentation says"},
    {"NEURON_RT_DEBUG_STREAM_BUFFER_SIZE", "default", "65536", "what the header says"},
    {"NEURON_RT_DBG_INPUT_DUMP_DIRECTORY", "default", "${tmp}/neuron-input-dump",
     "that of the release followed"},
    // Buffers of a device profile: the sizes of real profiles.
    {"NEURON_RT_PROFILE_BUF_EVENT_MB", "default", "64", "seen in profiles"},
    {"NEURON_RT_PROFILE_BUF_DMA_MB", "default", "128", "seen in profiles"},
    {"NEURON_RT_PROFILE_BUF_THROTTLE_MB", "default", "64", "seen in profiles"},
    {"NEURON_RT_PROFILE_BUF_CC_CORE_INSTRUCTION_MB", "default", "64", "seen in profiles"},
    {"NEURON_RT_PROFILE_BUF_CC_CORE_EVENT_MB", "default", "2", "seen in profiles"},
    {"NEURON_RT_PROFILE_BUF_EVENT_MB", "range", "0..4294967295", kWidth},
    {"NEURON_RT_PROFILE_BUF_DMA_MB", "range", "0..4294967295", kWidth},
    {"NEURON_RT_PROFILE_BUF_THROTTLE_MB", "range", "0..4294967295", kWidth},
    {"NEURON_RT_PROFILE_BUF_CC_CORE_INSTRUCTION_MB", "range", "0..4294967295", kWidth},
    {"NEURON_RT_PROFILE_BUF_CC_CORE_EVENT_MB", "range", "0..4294967295", kWidth},
    // Ranges.
    {"NEURON_RT_NUM_CORES", "range", "0..65536", kMachine},
    {"NEURON_RT_VISIBLE_CORES", "range", "", "the type has the grammar"},
    {"NEURON_LOGICAL_NC_CONFIG", "range", "1..64 power of two", kMachine},
    {"NEURON_RT_VIRTUAL_CORE_SIZE", "range", "1..64 power of two", kMachine},
    {"NEURON_RT_FAKE_INSTANCE_TYPE", "range", "instance type", kWords},
    {"NEURON_RT_DBG_VIRTUAL_SERVER_SIZE", "range", "0..4294967295",
     "the size of the world is not known yet"},
    {"NEURON_RT_ULTRASERVER_MODE", "range", "0..4", kWords},
    {"NEURON_RT_ULTRASERVER_NODE_ID", "range", "0..4294967295",
     "the number of nodes is not known yet"},
    {"NEURON_RT_LOW_LATENCY_TASKS_CPU_AFFINITY", "range", "", "the type has the grammar"},
    {"NEURON_RT_DBG_HW_DECODE_TOGGLE", "range", "0..4294967295", "the arch is not known yet"},
    {"NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB", "range", "1..4294967295 power of two",
     "the size of the memory is not known yet"},
    {"NEURON_RT_DBG_DISABLE_DGE", "range", "0..255", kWords},
    {"NEURON_RT_ROOT_COMM_ID", "range", "endpoint", kWords},
    {"NEURON_RT_CC_ALG_TYPES", "range", "algorithms", kWords},
    {"NEURON_RT_DBG_CC_DMA_PACKET_SIZE", "range", "0..65536 at most 16", kWords},
    {"NEURON_RT_RANKS_PER_NETWORK_PROXY", "range", "1..4294967295",
     "the barrier is a rule between settings"},
    {"NEURON_RT_DBG_CC_PROXY_HISTOGRAM_CONFIG", "range", "histogram", kWords},
    {"NEURON_RT_DBG_FP8_EMAX_E4M3", "range", "0..4294967295", kWidth},
    {"NEURON_RT_DBG_FP8_EMAX_E5M2", "range", "0..4294967295", kWidth},
    {"NEURON_RT_NUMERICAL_ERRORS_VERBOSITY", "range", "none|critical|debug|verbose or a place",
     kWords},
    {"NEURON_SCRATCHPAD_PAGE_SIZE", "range", "512..3584 multiple of 512", kWords},
    {"NEURON_RT_LOG_LEVEL", "range", "", "the type has the words"},
    {"NEURON_RT_LOG_LOCATION", "range", "", "the type has the words"},
    {"NEURON_PROCESS_TAG", "range", "", "who writes it truncates it"},
    {"NEURON_RT_INSPECT_OUTPUT_DIR", "range", "output directory", kWords},
    {"NEURON_RT_INSPECT_DEVICE_PROFILE", "range", "0|1|model|2|session", kWords},
    {"NEURON_RT_INSPECT_EVENT_FILTER_NC", "range", "", "the type has the grammar"},
    {"NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "range", "", "who reads it knows the names"},
    {"NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC", "range", "1024..1048576", kWords},
    {"NEURON_RT_DEBUG_STREAM_BUFFER_SIZE", "range", "1..16777216 power of two",
     "an end, so that a slip does not take all memory"},
    {"NEURON_RT_DBG_DUMP_INPUTS_ON_ERR", "range", "0..9223372036854775807",
     "statuses of later releases are no mistake"},
    {"NEURON_RT_DBG_INPUT_DUMP_DIRECTORY", "range", "max 4096 bytes", "the longest path there is"},
};

std::string type_name(const Setting& row) {
  constexpr std::string_view kNames[] = {"bool",   "uint", "size",  "enum",   "level",   "location",
                                         "string", "list", "cores", "ranges", "numbers", "any"};
  std::string out(kNames[static_cast<std::size_t>(row.type)]);
  return row.count == 0 ? out : out + fmt::format("[{}]", row.count);
}

std::string range_of(const Setting& row) {
  constexpr std::string_view kForms[] = {
      "",          "instance type",    "endpoint",    "algorithms",
      "histogram", "output directory", "verify modes"};
  if (row.type == Type::kEnum) return std::string(row.choices) + (row.indexed ? " or a place" : "");
  if (row.must_be == MustBe::kFile) return "existing file";
  if (row.must_be == MustBe::kDirectory) return "directory";
  if (row.max_bytes != 0) return fmt::format("max {} bytes", row.max_bytes);
  if (row.form != Form::kNone) return std::string(kForms[static_cast<std::size_t>(row.form)]);
  if (row.type != Type::kUint && row.type != Type::kSize && row.type != Type::kNumbers) return "";
  std::string out = fmt::format("{}..{}", row.min, row.max);
  if (row.multiple_of != 1) out += fmt::format(" multiple of {}", row.multiple_of);
  if (row.power_of_two) out += " power of two";
  if (row.max_count != 0 && row.bad == OnBad::kClamp)
    out += fmt::format(" at most {}", row.max_count);
  return out;
}

Facts facts_of(const Setting& row) {
  constexpr std::string_view kActions[] = {"init-fail", "warn-default", "warn-clamp", "accept-any"};
  return {std::string(row.key), type_name(row), std::string(row.fallback), range_of(row),
          std::string(kActions[static_cast<std::size_t>(row.bad)])};
}

// The words of the list in ours; what has no counterpart stays as it is.
Facts expected(const YAML::Node& variable) {
  static const std::map<std::string, std::string, std::less<>> kTypes = {
      {"bool", "bool"},          {"uint", "uint"},
      {"uint (s)", "uint"},      {"uint (bytes)", "uint"},
      {"uint (MiB)", "uint"},    {"ulong", "uint"},
      {"ulong (MiB)", "uint"},   {"ulong (entries)", "uint"},
      {"long", "uint"},          {"long (s)", "uint"},
      {"int", "uint"},           {"bitmap", "uint"},
      {"ulong (bytes)", "size"}, {"core-list", "cores"},
      {"cpu-list", "ranges"},    {"string", "string"},
      {"path", "string"},        {"template", "string"},
      {"uint[5]", "numbers[5]"}, {"ulong[5]", "numbers[5]"},
      {"int list", "numbers"},   {"enum", "enum"},
      {"list", "list"}};
  const auto text = [&](const char* field) { return variable[field].as<std::string>(); };
  const std::string type = text("type"), fallback = text("default"), range = text("range");
  Facts out{text("key"), type, fallback, range, text("on_bad_value")};
  if (const auto found = kTypes.find(type); found != kTypes.end()) out.type = found->second;
  if (fallback == "unset" || fallback == "unset (all)" || fallback == "all") out.fallback = "";
  const std::string limit = type.starts_with("ulong")  ? "18446744073709551615"
                            : type.starts_with("long") ? "9223372036854775807"
                                                       : "4294967295";
  static const std::regex kAtLeast(">=(\\d+)"), kAbove(">(\\d+)"),
      kBetween("(\\d+)\\.\\.(\\w+)( \\(.*)?");
  static const std::set<std::string> kWholeWidth = {
      "bytes",  "bytes; 0 = off",    "bit mask", "bit per engine",
      "32 bit", "32-bit fill value", "0 = off"};
  static const std::set<std::string> kAnyText = {"opaque", "%d %c %p %t %l %i", "same variables",
                                                 "-"};
  std::smatch m;
  if (type == "bool" || kAnyText.contains(range))
    out.range = "";
  else if (range == "0/1")
    out.range = out.key == "memory.scratchpad.contiguous" ? "" : "0..1";
  else if (kWholeWidth.contains(range))
    out.range = "0.." + limit;
  else if (std::regex_match(range, m, kAtLeast))
    out.range = m.str(1) + ".." + limit;
  else if (std::regex_match(range, m, kAbove))
    out.range = std::to_string(std::stoull(m.str(1)) + 1) + ".." + limit;
  else if (std::regex_match(range, m, kBetween))
    out.range =
        m.str(1) + ".." +
        (m.str(2) == "INT_MAX" ? "2147483647" : std::to_string(parse_uint(m.str(2)).value_or(0)));
  return out;
}

const Setting* setting_of(std::string_view variable) {
  for (const Setting& row : settings())
    for (std::string_view name : row.variables)
      if (name == variable) return &row;
  return nullptr;
}

class SpecTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* configured = std::getenv("OPENNRT_SPEC");
    const std::string file =
        std::string(configured != nullptr ? configured : OPENNRT_SPEC_DIR) + "/config-env.yaml";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
    list_ = YAML::LoadFile(file);
  }

  void compare(const std::string& variable, const Setting& row, const Facts& want) {
    const Facts have = facts_of(row);
    const auto field = [&](std::string_view name, const std::string& ours,
                           const std::string& theirs) {
      if (ours == theirs) return;
      for (const Deviation& d : kDeviations) {
        if (d.variable != variable || d.field != name) continue;
        EXPECT_EQ(ours, d.ours) << variable << ": " << name;
        used_.insert(&d);
        return;
      }
      ADD_FAILURE() << variable << ": " << name << " is '" << ours << "', the list says '" << theirs
                    << "'";
    };
    field("key", have.key, want.key);
    field("type", have.type, want.type);
    field("default", have.fallback, want.fallback);
    field("range", have.range, want.range);
    field("action", have.action, want.action);
  }

  YAML::Node list_;
  std::set<const Deviation*> used_;
};

// One variable of the list for each module or each kind of buffer.
std::vector<std::string> names_of(std::string name) {
  constexpr std::string_view kType = "<TYPE>";
  const auto at = name.find(kType);
  if (at == std::string::npos) return {name};
  std::vector<std::string> out;
  for (const char* type : {"EVENT", "DMA", "THROTTLE", "CC_CORE_INSTRUCTION", "CC_CORE_EVENT"})
    out.push_back(std::string(name).replace(at, kType.size(), type));
  return out;
}

TEST_F(SpecTest, EveryPublicVariableIsAsTheListSays) {
  std::size_t compared = 0;
  for (const YAML::Node& variable : list_["variables"]) {
    const auto pattern = variable["name"].as<std::string>();
    if (pattern.find("<MOD>") != std::string::npos) continue;  // free keys
    for (const std::string& name : names_of(pattern)) {
      ++compared;
      const auto removed = removed_variables();
      if (std::find(removed.begin(), removed.end(), name) != removed.end()) {
        EXPECT_EQ(variable["source"].as<std::string>(), "removed") << name;
        continue;
      }
      const Setting* row = setting_of(name);
      ASSERT_NE(row, nullptr) << name << " is not in the table";
      Facts want = expected(variable);
      if (name != pattern) want.key = std::string(row->key);  // inspect.buffers_mb.<type>
      compare(name, *row, want);
    }
  }
  EXPECT_GE(compared, 150u);
  for (const Deviation& d : kDeviations)
    EXPECT_TRUE(used_.contains(&d))
        << d.variable << ": " << d.field << " does not differ (" << d.why << ")";
}

TEST_F(SpecTest, NoVariableOfOthersIsOurInvention) {
  std::set<std::string> listed;
  for (const YAML::Node& variable : list_["variables"])
    for (const std::string& name : names_of(variable["name"].as<std::string>()))
      listed.insert(name);
  // Second spellings that the list names in its texts.
  listed.insert({"NEURON_RT_HW_EXECUTION_BARRIER", "NEURON_RT_DBG_DISABLE_RMV_DST_ROUTE"});
  for (const Setting& row : settings())
    for (std::string_view name : row.variables)
      EXPECT_TRUE(!name.starts_with("NEURON_") || listed.contains(std::string(name))) << name;
}

// Defaults that depend on the silicon: configuration guide and recorded loads.
TEST(ArchDefaults, AreThoseOfEachArch) {
  using Three = std::array<std::string_view, 3>;
  EXPECT_EQ(setting(Key::kLoadHwDecodeToggle).arch_fallback, (Three{"0", "3", "11"}));
  EXPECT_EQ(setting(Key::kLoadInstrFetchH2d).arch_fallback, (Three{"0", "1", "1"}));
  EXPECT_EQ(setting(Key::kDmaDirectBar4Bytes).arch_fallback, (Three{"0", "4096", "4096"}));
  EXPECT_EQ(setting(Key::kCcBufIntraRdhBytes).arch_fallback, (Three{"", "", "83886080"}));
}

}  // namespace
}  // namespace opennrt::config
