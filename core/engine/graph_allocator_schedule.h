// Which device computes each node of a graph, and what is copied between devices: rules of
// ggml/src/ggml-backend.cpp (ggml_backend_sched_split_graph) at llama.cpp 34af94cd (2026-08-17).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph_allocator.h"

namespace vramgauge {

/// Consecutive nodes that one device computes, and the copies that are made in front of them.
struct GraphPart {
  uint32_t first_node;
  uint32_t end_node;
  uint32_t first_copy;
  uint32_t end_copy;
};

/// How far the schedule is where a step begins.
struct GraphBorder {
  uint32_t node;
  /// Copies for nodes in front of it, and what overlapping batches keep of them.
  uint32_t num_copies;
  uint32_t num_kept;
};

/// A graph spread over devices.
struct GraphSchedule {
  /// The graph's nodes with sources on their own device, and behind them the copies.
  std::vector<GraphNode> nodes;
  /// Per node.
  std::vector<uint8_t> device;
  std::vector<GraphPart> parts;
  /// Nodes that are copies, part by part.
  std::vector<uint32_t> copies;
  /// Inputs, and copies of tensors, that overlapping batches keep, in the order they are placed.
  std::vector<uint32_t> kept_inputs;
  std::vector<uint32_t> kept_copies;
  std::vector<GraphBorder> borders;
};

/// `borders`: nodes in order, at which the state is written down.
GraphSchedule schedule_graph(std::vector<GraphNode> nodes, const GraphDevices& devices,
                             const std::vector<uint32_t>& borders);

}  // namespace vramgauge
