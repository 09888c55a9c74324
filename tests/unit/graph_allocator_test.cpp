// ggml's allocator and scheduler on graphs worked out by hand: the comments say which tensor lies
// where. tests/truth compares whole models with llama.cpp's own accounting.
#include "engine/graph_allocator.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace vramgauge {
namespace {

constexpr uint16_t kInPlace = GraphNode::kInPlace;
constexpr uint16_t kInput = GraphNode::kInput;
constexpr uint16_t kKept = GraphNode::kKept;

constexpr uint32_t direct(uint32_t node) { return node * 2; }
constexpr uint32_t view(uint32_t node) { return node * 2 + 1; }

GraphNode node_of(uint64_t bytes, std::initializer_list<uint32_t> sources, uint16_t flags = 0) {
  GraphNode node{};
  node.bytes = bytes;
  node.flags = flags;
  for (const uint32_t source : sources)
    node.sources[node.num_sources++] = source;
  return node;
}

GraphNode at(uint8_t home, GraphNode node) {
  node.home = home;
  return node;
}

uint64_t host_bytes(const std::vector<GraphNode>& nodes) {
  return graph_buffer_bytes(nodes, {}).front();
}

GraphDevices one_gpu() {
  GraphDevices devices;
  devices.num_gpus = 1;
  return devices;
}

using Sizes = std::vector<uint64_t>;

TEST(GraphBuffer, PadsToItsAlignment) {
  GraphBuffer buffer(32);
  EXPECT_EQ(buffer.allocate(1), 0U);
  EXPECT_EQ(buffer.allocate(40), 32U);
  EXPECT_EQ(buffer.allocate(32), 96U);
  EXPECT_EQ(buffer.peak_bytes(), 128U);
}

TEST(GraphBuffer, TakesTheSmallestHoleThatFits) {
  GraphBuffer buffer(32);
  buffer.allocate(64);  // 0
  buffer.allocate(32);  // 64
  buffer.allocate(32);  // 96
  buffer.allocate(32);  // 128
  buffer.release(0, 64);
  buffer.release(96, 32);
  EXPECT_EQ(buffer.allocate(32), 96U);
  EXPECT_EQ(buffer.allocate(32), 0U);
  EXPECT_EQ(buffer.allocate(64), 160U);  // 32 .. 64 is too small
  EXPECT_EQ(buffer.peak_bytes(), 224U);
}

TEST(GraphBuffer, TakesTheLastOfEqualHoles) {
  GraphBuffer buffer(32);
  for (int i = 0; i < 4; ++i)
    buffer.allocate(32);
  buffer.release(0, 32);
  buffer.release(64, 32);
  EXPECT_EQ(buffer.allocate(32), 64U);
  EXPECT_EQ(buffer.allocate(32), 0U);
}

TEST(GraphBuffer, JoinsNeighbours) {
  GraphBuffer buffer(32);
  for (int i = 0; i < 4; ++i)
    buffer.allocate(32);
  buffer.release(0, 32);
  buffer.release(64, 32);
  buffer.release(32, 32);
  EXPECT_EQ(buffer.allocate(96), 0U);
  buffer.release(96, 32);
  EXPECT_EQ(buffer.allocate(1024), 96U);
  EXPECT_EQ(buffer.peak_bytes(), 1120U);
}

// Of a tensor without elements, placed where one hole has grown around it since.
TEST(GraphBuffer, HoleWithoutBytesKeepsNeighboursApart) {
  GraphBuffer buffer(32);
  buffer.allocate(32);  // 0
  EXPECT_EQ(buffer.allocate(0), 32U);
  buffer.allocate(32);  // 32
  buffer.allocate(32);  // 64
  buffer.release(0, 32);
  buffer.release(32, 32);  // a hole 0 .. 64
  buffer.release(32, 0);   // and one without bytes behind it
  EXPECT_EQ(buffer.allocate(64), 0U);
  buffer.release(0, 64);
  buffer.release(64, 32);  // 0 .. 96, beside the endless one
  EXPECT_EQ(buffer.allocate(128), 96U);
}

TEST(GraphAllocator, SourcesAreFreedBehindTheirLastReader) {
  // The input at 0, a at 32; b takes the input's place, c lies behind a's old one: 32.
  EXPECT_EQ(host_bytes({node_of(32, {}, kInput), node_of(64, {direct(0)}), node_of(32, {direct(1)}),
                        node_of(64, {direct(2)})}),
            96U);
  // A second reader keeps a: c lies behind it.
  EXPECT_EQ(host_bytes({node_of(32, {}, kInput), node_of(64, {direct(0)}), node_of(32, {direct(1)}),
                        node_of(64, {direct(2), direct(1)})}),
            160U);
}

TEST(GraphAllocator, InputsComeFirst) {
  // The input at 0 from the start, the first two at 128 and 256; the last one in the first's place.
  EXPECT_EQ(host_bytes({node_of(128, {}), node_of(128, {direct(0)}), node_of(128, {}, kInput),
                        node_of(32, {direct(1), direct(2)})}),
            384U);
}

TEST(GraphAllocator, ResultsTakeTheirSourcesPlace) {
  EXPECT_EQ(host_bytes({node_of(64, {}), node_of(64, {direct(0)}, kInPlace),
                        node_of(64, {direct(1)}, kInPlace)}),
            64U);
  // Not another size's,
  EXPECT_EQ(host_bytes({node_of(96, {}), node_of(64, {direct(0)}, kInPlace)}), 160U);
  // not through a view,
  EXPECT_EQ(host_bytes({node_of(64, {}), node_of(64, {view(0)}, kInPlace)}), 128U);
  // not while another reader comes,
  EXPECT_EQ(host_bytes({node_of(64, {}), node_of(64, {direct(0)}, kInPlace),
                        node_of(64, {direct(0), direct(1)}, kInPlace)}),
            128U);
  // but the second source's when the first one's is not free.
  EXPECT_EQ(
      host_bytes({node_of(64, {}), node_of(64, {}), node_of(64, {direct(0), direct(1)}, kInPlace),
                  node_of(64, {direct(0), direct(2)}, kInPlace)}),
      128U);
}

TEST(GraphAllocator, KeptResultsAreNeitherFreedNorTakenOver) {
  EXPECT_EQ(host_bytes({node_of(64, {}), node_of(64, {direct(0)}), node_of(64, {direct(1)})}),
            128U);
  EXPECT_EQ(host_bytes({node_of(64, {}, kKept), node_of(64, {direct(0)}, kInPlace),
                        node_of(64, {direct(1)})}),
            192U);
}

TEST(GraphAllocator, WritesIntoACacheTakeNothing) {
  EXPECT_EQ(host_bytes({node_of(64, {}), node_of(0, {direct(0)}), node_of(64, {})}), 64U);
  // Unless they have a place without elements.
  EXPECT_EQ(host_bytes({node_of(64, {}), node_of(0, {direct(0)}, GraphNode::kEmpty)}), 64U);
}

// In 128 bytes on a GPU, 32 on the host.
TEST(GraphDevices, OtherDevicesReadCopies) {
  const std::vector<GraphNode> nodes = {at(0, node_of(64, {})), at(1, node_of(64, {direct(0)})),
                                        at(0, node_of(64, {direct(1)}))};
  // GPU: the first node at 0, free once the host's copy is made; the copy of the host's result at
  // 0, the last node at 128. Host: a copy at 0, the result at 64.
  EXPECT_EQ(graph_buffer_bytes(nodes, one_gpu()), (Sizes{256, 128}));
  // The result takes the copy's place.
  std::vector<GraphNode> in_place = nodes;
  in_place[1].flags |= kInPlace;
  EXPECT_EQ(graph_buffer_bytes(in_place, one_gpu()), (Sizes{256, 64}));
}

TEST(GraphDevices, NodesWithoutAWeightFollowTheirNeighbours) {
  // The second node runs where the first one does, the last one too.
  const std::vector<GraphNode> nodes = {at(0, node_of(64, {})), node_of(64, {direct(0)}),
                                        node_of(64, {direct(1)})};
  EXPECT_EQ(graph_buffer_bytes(nodes, one_gpu()), (Sizes{256, 0}));
  // GPUs draw more than the host does: the middle one runs with the node behind it.
  EXPECT_EQ(graph_buffer_bytes(
                {at(1, node_of(64, {})), node_of(64, {direct(0)}), at(0, node_of(64, {direct(1)}))},
                one_gpu()),
            (Sizes{256, 64}));
  // What a GPU has no code for stays on the host.
  std::vector<GraphNode> host_only = nodes;
  host_only[1].flags |= GraphNode::kHostOnly;
  EXPECT_EQ(graph_buffer_bytes(host_only, one_gpu()), (Sizes{256, 128}));
}

TEST(GraphDevices, LargeBatchesCopyTheHostsWeights) {
  std::vector<GraphNode> nodes = {node_of(64, {}, kInput),
                                  at(1, node_of(64, {direct(0)}, GraphNode::kOffloads)),
                                  at(1, node_of(64, {direct(1)}, GraphNode::kOffloads))};
  nodes[1].weight_bytes = 1000;
  nodes[2].weight_bytes = 2000;
  // GPU: the first weight at 0, the input's copy at 1024, the first result at 1152. The second
  // weight, copied only then, does not fit into 0 .. 1152 and lies at 1280; its result at 0.
  EXPECT_EQ(graph_buffer_bytes(nodes, one_gpu()), (Sizes{3328, 64}));
  // Without, on the host: the input at 0, the results at 64 and 0.
  GraphDevices devices = one_gpu();
  devices.offloads_operations = false;
  EXPECT_EQ(graph_buffer_bytes(nodes, devices), (Sizes{0, 128}));
  nodes[1].flags = nodes[2].flags = 0;
  EXPECT_EQ(graph_buffer_bytes(nodes, one_gpu()), (Sizes{0, 128}));
}

TEST(GraphDevices, OverlappingBatchesKeepFourCopies) {
  const std::vector<GraphNode> nodes = {node_of(64, {}, kInput), at(0, node_of(64, {direct(0)})),
                                        at(1, node_of(64, {direct(1)}))};
  GraphDevices devices;
  devices.num_gpus = 2;
  // One copy of the input on the first GPU, of the first result on the second.
  EXPECT_EQ(graph_buffer_bytes(nodes, devices), (Sizes{256, 256, 64}));
  // Four inputs and four copies of each kind, kept; the results lie behind them.
  devices.num_copies = 4;
  EXPECT_EQ(graph_buffer_bytes(nodes, devices), (Sizes{640, 640, 256}));
}

TEST(GraphDevices, ConstantsLieWithTheirReader) {
  const std::vector<GraphNode> nodes = {node_of(64, {}, kInput | GraphNode::kConstant),
                                        at(0, node_of(64, {direct(0)}))};
  EXPECT_EQ(graph_buffer_bytes(nodes, one_gpu()), (Sizes{256, 0}));
}

// A GPU's extra bytes are given back when a smaller result takes the place.
TEST(GraphDevices, ExtraBytesEndWithTheirNode) {
  std::vector<GraphNode> nodes = {at(0, node_of(128, {})),
                                  at(0, node_of(128, {direct(0)}, kInPlace)),
                                  at(0, node_of(128, {direct(1)}))};
  nodes[0].gpu_extra_bytes = 128;
  EXPECT_EQ(graph_buffer_bytes(nodes, one_gpu()), (Sizes{256, 0}));
  nodes[1].flags = 0;
  EXPECT_EQ(graph_buffer_bytes(nodes, one_gpu()), (Sizes{384, 0}));
}

// Results of 64 bytes, each made from the one in front of it; a step each.
std::vector<GraphNode> chain(uint32_t num_steps, uint16_t flags = 0) {
  std::vector<GraphNode> nodes = {node_of(64, {})};
  for (uint32_t i = 0; i < num_steps; ++i)
    nodes.push_back(node_of(64, {direct(i)}, flags));
  return nodes;
}

/// The first five steps of a chain, of which more were left out.
Sizes cut_chain(uint32_t left_out, uint16_t flags, uint32_t period = 1) {
  const GraphCut cut{{1, 2, 3, 4, 5}, {{0, 5, period, left_out}}};
  return graph_buffer_bytes(chain(5, flags), {}, cut);
}

// Results lie at 0 and 64 in turn: after two steps everything is where it was.
TEST(GraphCut, StepsThatGoRoundMayBeLeftOut) {
  EXPECT_EQ(cut_chain(6, 0), (Sizes{128}));
  EXPECT_EQ(cut_chain(6, 0), graph_buffer_bytes(chain(11), {}));
  // One step does not come round, nor do five.
  EXPECT_TRUE(cut_chain(1, 0).empty());
  EXPECT_TRUE(cut_chain(5, 0).empty());
  // In place, every step leaves what it found.
  EXPECT_EQ(cut_chain(5, kInPlace), (Sizes{64}));
  // Where three steps are unlike, two cannot be left out.
  EXPECT_TRUE(cut_chain(6, 0, 3).empty());
  EXPECT_EQ(cut_chain(6, kInPlace, 3), (Sizes{64}));
}

TEST(GraphCut, StepsThatPileUpMayNot) { EXPECT_TRUE(cut_chain(6, kKept).empty()); }

// Every step reads a cache of its own that lies on the other device. The part of the graph that
// holds all steps makes all copies at its start, so that every step less is a copy less.
TEST(GraphCut, CopiesAheadAreSeen) {
  const auto steps = [](uint32_t count) {
    std::vector<GraphNode> nodes = {at(0, node_of(128, {}))};
    for (uint32_t i = 0; i < count; ++i) {
      GraphNode cache = at(1, node_of(128, {}, GraphNode::kExternal));
      const auto last = static_cast<uint32_t>(nodes.size()) - 1;
      nodes.push_back(cache);
      nodes.push_back(at(0, node_of(128, {direct(last), direct(last + 1)})));
    }
    return nodes;
  };
  const GraphCut cut{{1, 3, 5, 7}, {{0, 4, 1, 6}}};
  EXPECT_TRUE(graph_buffer_bytes(steps(4), one_gpu(), cut).empty());
  // Four copies and two results, ten copies and two results.
  EXPECT_EQ(graph_buffer_bytes(steps(4), one_gpu()), (Sizes{768, 0}));
  EXPECT_EQ(graph_buffer_bytes(steps(10), one_gpu()), (Sizes{1536, 0}));
}

}  // namespace
}  // namespace vramgauge
