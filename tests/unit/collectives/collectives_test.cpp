// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "collectives/communicators.h"
#include "collectives/dynamic_table.h"
#include "collectives/local_address.h"
#include "collectives/topology.h"

namespace opennrt::collectives {
namespace {

TEST(Communicators, OneRankIsThereAtOnce) {
  Communicators all(2);
  EXPECT_FALSE(all.find(Context::kModels, 0).has_value());
  EXPECT_TRUE(all.build(Context::kModels, 0, {0, 1}).is_ok());
  EXPECT_TRUE(all.build(Context::kModels, 0, {0, 1}).is_ok());
  EXPECT_EQ(all.find(Context::kModels, 0), (Rank{0, 1}));
  // Contexts and cores are apart.
  EXPECT_FALSE(all.find(Context::kHost, 0).has_value());
  EXPECT_FALSE(all.find(Context::kModels, 1).has_value());
}

TEST(Communicators, WrongArguments) {
  Communicators all(2);
  for (const auto context : {Context::kModels, Context::kHost}) {
    EXPECT_EQ(all.build(context, 0, {0, 0}).code(), NRT_INVALID);
    EXPECT_EQ(all.build(context, 0, {1, 1}).code(), NRT_INVALID);
    EXPECT_EQ(all.build(context, 0, {7, 3}).code(), NRT_INVALID);
    EXPECT_EQ(all.build(context, -1, {0, 1}).code(), NRT_INVALID);
    EXPECT_EQ(all.build(context, 2, {0, 1}).code(), NRT_INVALID);
    EXPECT_EQ(all.build(context, 0xFFFFFFFF, {0, 1}).code(), NRT_INVALID);
  }
  EXPECT_EQ(all.find(Context::kModels, 5), std::nullopt);
}

TEST(Communicators, SeveralRanksAreRefusedByName) {
  Communicators all(1);
  const Status status = all.build(Context::kHost, 0, {1, 4});
  EXPECT_EQ(status.code(), NRT_FAILURE);
  EXPECT_NE(status.message().find("communicators of several ranks"), std::string_view::npos);
  EXPECT_NE(status.message().find("rank 1 of 4"), std::string_view::npos);
  // Nothing is left behind.
  EXPECT_TRUE(all.build(Context::kHost, 0, {0, 1}).is_ok());
  EXPECT_EQ(all.build(Context::kHost, 0, {1, 4}).code(), NRT_INVALID);  // another rank now
}

TEST(Communicators, BarrierThatFailedStaysBroken) {
  Communicators all(2);
  EXPECT_TRUE(all.barrier(0, {0, 1}).is_ok());
  EXPECT_EQ(all.find(Context::kModels, 0), (Rank{0, 1}));
  EXPECT_EQ(all.barrier(1, {1, 1}).code(), NRT_INVALID);
  EXPECT_EQ(all.barrier(1, {0, 2}).code(), NRT_FAILURE);
  EXPECT_EQ(all.barrier(1, {0, 1}).code(), NRT_FAILURE);
  EXPECT_TRUE(all.barrier(0, {0, 1}).is_ok());
}

TEST(Communicators, GatherOfOneRankIsACopy) {
  Communicators all(1);
  const std::string in = "all of it";
  std::string out(in.size(), 'x');
  EXPECT_TRUE(all.all_gather(0, {0, 1}, in.size(), in.data(), out.data()).is_ok());
  EXPECT_EQ(out, in);
  EXPECT_TRUE(all.all_gather(0, {0, 1}, out.size(), out.data(), out.data()).is_ok());
  EXPECT_EQ(out, in);
  Communicators others(1);
  out.assign(in.size(), 'x');
  EXPECT_EQ(others.all_gather(0, {0, 2}, in.size(), in.data(), out.data()).code(), NRT_FAILURE);
  EXPECT_EQ(out, std::string(in.size(), 'x'));
}

TEST(Streams, LastNameCounts) {
  create_stream(3);
  EXPECT_EQ(stream(), 3u);
  create_stream(0);
  EXPECT_EQ(stream(), 0u);
}

TEST(DynamicTable, RowsAreApart) {
  std::vector<std::uint32_t> memory(4 * 3);
  for (std::uint32_t i = 0; i < memory.size(); ++i) memory[i] = 10 + i;
  DynamicTable table(std::as_writable_bytes(std::span(memory)), 3);
  using Row = DynamicTable::Row;
  EXPECT_EQ(table.bytes(Row::kSendCount, 0, 4), 40u);
  EXPECT_EQ(table.bytes(Row::kSendCount, 2, 1), 12u);
  EXPECT_EQ(table.bytes(Row::kSendOffset, 0, 2), 26u);
  EXPECT_EQ(table.bytes(Row::kRecvOffset, 2, 1), 21u);
  table.set_bytes(Row::kRecvCount, 1, 4, 84);
  EXPECT_EQ(memory[7], 21u);
  table.set_bytes(Row::kRecvCount, 1, 4, ~std::size_t{0});
  EXPECT_EQ(memory[7], 0xFFFFFFFFu);
  EXPECT_EQ(memory[6], 16u);
  EXPECT_EQ(memory[8], 18u);
  // A full entry does not overflow.
  EXPECT_EQ(table.bytes(Row::kRecvCount, 1, 8), 8ull * 0xFFFFFFFF);
}

TEST(DynamicTable, OutsideIsNothing) {
  std::array<std::uint32_t, 8> memory{};
  memory.fill(5);
  const auto bytes = std::as_writable_bytes(std::span(memory));
  using Row = DynamicTable::Row;
  DynamicTable table(bytes, 2);
  for (std::int64_t rank : {-1, 2, 1 << 30}) {
    EXPECT_EQ(table.bytes(Row::kSendCount, rank, 1), 0u);
    table.set_bytes(Row::kRecvCount, rank, 1, 9);
  }
  table.set_bytes(Row::kRecvCount, 0, 0, 9);  // elements without size
  for (std::int64_t ranks : {std::int64_t{3}, std::int64_t{0}, std::int64_t{-1}, INT64_MAX}) {
    DynamicTable wrong(bytes, ranks);
    EXPECT_EQ(wrong.bytes(Row::kSendCount, 0, 1), 0u) << ranks;
    wrong.set_bytes(Row::kRecvCount, 0, 1, 9);
  }
  EXPECT_EQ(DynamicTable({}, 1).bytes(Row::kSendCount, 0, 1), 0u);
  for (std::uint32_t word : memory) EXPECT_EQ(word, 5u);
}

TEST(Topology, ViewsOfDevices) {
  Topology topology;
  const std::vector<std::uint32_t> routing = {3, 2, 1, 0};
  EXPECT_FALSE(topology.has(0, 0));
  const Topology::Place places[] = {{0, 1}, {5, 3}};
  ASSERT_TRUE(topology.set_view(7, places, routing).is_ok());
  EXPECT_TRUE(topology.has(7, 0));
  EXPECT_TRUE(topology.has(7, 5));
  EXPECT_FALSE(topology.has(7, 1));
  EXPECT_FALSE(topology.has(0, 0));
  EXPECT_EQ(topology.routing_id(7, 0), 2);
  EXPECT_EQ(topology.routing_id(7, 5), 0);
  EXPECT_EQ(topology.position(7, 2), 0);
  EXPECT_EQ(topology.position(7, 0), 5);
  EXPECT_EQ(topology.position(7, 3), std::nullopt);
  // What is refused leaves the old view.
  const Topology::Place twice[] = {{1, 0}, {1, 2}};
  const Topology::Place beyond[] = {{1, 4}};
  const Topology::Place negative[] = {{1, -1}};
  EXPECT_EQ(topology.set_view(7, twice, routing).code(), NRT_INVALID);
  EXPECT_EQ(topology.set_view(7, beyond, routing).code(), NRT_INVALID);
  EXPECT_EQ(topology.set_view(7, negative, routing).code(), NRT_INVALID);
  EXPECT_EQ(topology.routing_id(7, 5), 0);
  topology.clear();
  EXPECT_FALSE(topology.has(7, 5));
}

TEST(LocalAddress, Classes) {
  for (const char* local : {"127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_EQ(classify_address(local), Address::kLocal) << local;
  // Addresses for documentation belong to nobody.
  for (const char* remote : {"192.0.2.1", "2001:db8::1"})
    EXPECT_EQ(classify_address(remote), Address::kRemote) << remote;
  for (const char* wrong : {"", "localhost", "1.2.3", "1.2.3.4.5", "::g"})
    EXPECT_EQ(classify_address(wrong), Address::kInvalid) << wrong;
}

}  // namespace
}  // namespace opennrt::collectives
