// Really takes what was predicted, touches it, measures, and gives it back, whatever happens.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "allocate_plan.h"
#include "driver_cuda.h"
#include "units/json.h"

namespace vramgauge::tools {

/// Why an allocation must end now: a signal, or its time.
class StopSign {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StopSign(std::chrono::seconds time) : deadline_(Clock::now() + time) {}

  bool is_timed_out() const { return Clock::now() >= deadline_; }
  Clock::time_point deadline() const { return deadline_; }
  /// Whether a signal came; `catch_signals` arms this.
  static bool is_signalled();
  /// From now on SIGINT, SIGTERM and SIGHUP only ask to stop.
  static void catch_signals();

 private:
  Clock::time_point deadline_;
};

enum class AllocationState {
  complete,       ///< everything was there
  no_room,        ///< the next buffer would not have left the margin
  out_of_memory,  ///< the driver had less than it said
  stopped,        ///< by a signal
  timed_out,
  failed,  ///< another error of the driver
};

struct AllocatedStage {
  std::string term;
  uint64_t planned_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t num_buffers = 0;
  /// How much less was free afterwards.
  uint64_t taken_bytes = 0;
};

/// What happened on one device.
struct AllocationReport {
  int ordinal = 0;
  AllocationState state = AllocationState::complete;
  std::string error;
  uint64_t free_before_bytes = 0;
  uint64_t lowest_free_bytes = 0;
  uint64_t free_after_bytes = 0;
  std::vector<AllocatedStage> stages;
};

struct AllocationLimits {
  /// Stays free on each device at every moment.
  uint64_t margin_bytes = 0;
  std::chrono::seconds time{120};
};

/// Called from several threads with a line for people.
using Progress = std::function<void(const std::string&)>;

/// Carries out one plan per device, all at once. A driver that does not come back within its time
/// ends the program with exit code 3: the kernel then takes the memory back.
std::vector<AllocationReport> allocate_all(const Cuda& cuda,
                                           const std::vector<AllocationPlan>& plans,
                                           const AllocationLimits& limits,
                                           const Progress& progress);

json::Value allocation_json(const std::vector<AllocationReport>& reports,
                            const AllocationLimits& limits);

/// The name of a state in JSON.
std::string_view state_name(AllocationState state);

}  // namespace vramgauge::tools
