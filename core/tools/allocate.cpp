#include "allocate.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "commands.h"
#include "probe_json.h"
#include "text.h"

namespace vramgauge::tools {
namespace {

/// Touched at once; between two of them a stop is noticed.
constexpr uint64_t kTouchBytes = uint64_t{256} << 20;
/// How long a driver may take to come back once it should stop.
constexpr std::chrono::seconds kGrace{5};
constexpr uint64_t kPercentStep = 10;

std::atomic<bool> signalled{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int /*signal*/) { signalled.store(true); }

/// Everything on one device, on a thread of its own.
class DeviceAllocation {
 public:
  DeviceAllocation(const Cuda& cuda, const AllocationPlan& plan, const AllocationLimits& limits,
                   const StopSign& stop, const Progress& progress)
      : cuda_(cuda), plan_(plan), limits_(limits), stop_(stop), progress_(progress) {
    report_.ordinal = plan.ordinal;
  }

  AllocationReport run() {
    const auto device = cuda_.device(plan_.ordinal);
    if (!device) return ended(device.error());
    granularity_bytes_ = std::max<uint64_t>(1, device->granularity_bytes);
    auto context = CudaContext::retain(cuda_, plan_.ordinal);
    if (!context) return ended(context.error());
    context_.emplace(std::move(*context));
    if (const auto free = free_now()) {
      report_.free_before_bytes = *free;
      report_.lowest_free_bytes = *free;
      take_stages();
    }
    // Whatever happened, buffers go before the context.
    held_.clear();
    const auto memory = context_->memory();
    report_.free_after_bytes = memory ? memory->free_bytes : 0;
    context_.reset();
    return report_;
  }

 private:
  void take_stages() {
    for (const AllocationStage& stage : plan_.stages) {
      const std::size_t before = held_.size();
      const bool is_whole = take(stage);
      while (stage.is_scratch && held_.size() > before)
        held_.pop_back();
      if (!is_whole) return;
    }
  }

  /// Takes and touches a stage; false when something ended it.
  bool take(const AllocationStage& stage) {
    AllocatedStage done;
    done.term = stage.term;
    done.planned_bytes = stage.total_bytes();
    const auto free_before = free_now();
    bool is_whole = free_before.has_value();
    for (const uint64_t bytes : stage.buffers_bytes) {
      is_whole = is_whole && take_buffer(bytes);
      if (!is_whole) break;
      done.allocated_bytes += bytes;
      ++done.num_buffers;
      show(stage.term, bytes);
    }
    const auto memory = context_->memory();
    if (memory && free_before && *free_before > memory->free_bytes)
      done.taken_bytes = *free_before - memory->free_bytes;
    report_.stages.push_back(std::move(done));
    return is_whole;
  }

  bool take_buffer(uint64_t bytes) {
    if (is_over()) return false;
    const auto free = free_now();
    if (!free) return false;
    // Memory is taken in whole units, so the margin is kept from what will really be gone.
    const uint64_t taken =
        (bytes + granularity_bytes_ - 1) / granularity_bytes_ * granularity_bytes_;
    if (*free < limits_.margin_bytes || taken > *free - limits_.margin_bytes) {
      report_.state = AllocationState::no_room;
      return false;
    }
    auto buffer = context_->allocate(bytes);
    if (!buffer) return end(buffer.error());
    held_.push_back(std::move(*buffer));
    return touch(held_.back());
  }

  bool touch(CudaBuffer& buffer) {
    for (uint64_t offset = 0; offset < buffer.size_bytes(); offset += kTouchBytes) {
      if (is_over()) return false;
      const auto touched =
          buffer.touch(offset, std::min(kTouchBytes, buffer.size_bytes() - offset));
      if (!touched) return end(touched.error());
      if (const auto waited = context_->wait(); !waited) return end(waited.error());
    }
    return free_now().has_value();
  }

  /// Free bytes, or nothing when the driver does not say.
  std::optional<uint64_t> free_now() {
    const auto memory = context_->memory();
    if (!memory) {
      end(memory.error());
      return std::nullopt;
    }
    report_.lowest_free_bytes = std::min(report_.lowest_free_bytes, memory->free_bytes);
    return memory->free_bytes;
  }

  bool is_over() {
    if (StopSign::is_signalled())
      report_.state = AllocationState::stopped;
    else if (stop_.is_timed_out())
      report_.state = AllocationState::timed_out;
    else
      return false;
    return true;
  }

  bool end(const DriverError& error) {
    report_.state =
        is_out_of_memory(error) ? AllocationState::out_of_memory : AllocationState::failed;
    report_.error = error.message;
    return false;
  }

  AllocationReport ended(const DriverError& error) {
    end(error);
    return report_;
  }

  void show(const std::string& term, uint64_t bytes) {
    done_bytes_ += bytes;
    const uint64_t total = std::max<uint64_t>(1, plan_.total_bytes());
    const uint64_t percent = static_cast<uint64_t>(100.0 * static_cast<double>(done_bytes_) /
                                                   static_cast<double>(total));
    if (percent < next_percent_) return;
    next_percent_ = percent / kPercentStep * kPercentStep + kPercentStep;
    progress_(fmt::format("GPU {}: {} % of {} ({})", plan_.ordinal, percent,
                          gib_text(static_cast<double>(total)), term));
  }

  const Cuda& cuda_;
  const AllocationPlan& plan_;
  const AllocationLimits& limits_;
  const StopSign& stop_;
  const Progress& progress_;
  AllocationReport report_;
  uint64_t granularity_bytes_ = 1;
  uint64_t done_bytes_ = 0;
  uint64_t next_percent_ = kPercentStep;
  std::optional<CudaContext> context_;
  std::vector<CudaBuffer> held_;
};

/// Waits until all are done; a driver that hangs past its time ends the program.
class Watch {
 public:
  void done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++num_done_;
    changed_.notify_all();
  }

  void wait(std::size_t count, const StopSign& stop) {
    std::unique_lock<std::mutex> lock(mutex_);
    StopSign::Clock::time_point last = stop.deadline() + kGrace;
    while (num_done_ < count) {
      changed_.wait_for(lock, std::chrono::milliseconds(200));
      if (StopSign::is_signalled()) last = std::min(last, StopSign::Clock::now() + kGrace);
      if (num_done_ < count && StopSign::Clock::now() >= last) give_up();
    }
  }

 private:
  [[noreturn]] static void give_up() {
    std::fputs("The driver does not come back; its memory goes with this process\n", stderr);
    std::fflush(nullptr);
    _exit(kCannotTell);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t num_done_ = 0;
};

json::Value stage_json(const AllocatedStage& stage) {
  json::Value out = json::Value::object();
  out.set("term", stage.term);
  out.set("planned_bytes", stage.planned_bytes);
  out.set("allocated_bytes", stage.allocated_bytes);
  out.set("num_buffers", stage.num_buffers);
  out.set("taken_bytes", stage.taken_bytes);
  return out;
}

}  // namespace

bool StopSign::is_signalled() { return signalled.load(); }

void StopSign::catch_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, on_signal);
  // A reader that went away is no reason to leave memory behind.
  std::signal(SIGPIPE, SIG_IGN);
}

std::vector<AllocationReport> allocate_all(const Cuda& cuda,
                                           const std::vector<AllocationPlan>& plans,
                                           const AllocationLimits& limits,
                                           const Progress& progress) {
  const StopSign stop(limits.time);
  std::vector<AllocationReport> reports(plans.size());
  std::vector<std::thread> threads;
  Watch watch;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    threads.emplace_back([&, i] {
      reports[i] = DeviceAllocation(cuda, plans[i], limits, stop, progress).run();
      watch.done();
    });
  }
  watch.wait(plans.size(), stop);
  for (std::thread& thread : threads)
    thread.join();
  return reports;
}

std::string_view state_name(AllocationState state) {
  switch (state) {
    case AllocationState::complete: return "complete";
    case AllocationState::no_room: return "no_room";
    case AllocationState::out_of_memory: return "out_of_memory";
    case AllocationState::stopped: return "stopped";
    case AllocationState::timed_out: return "timed_out";
    case AllocationState::failed: return "failed";
  }
  return "";
}

json::Value allocation_json(const std::vector<AllocationReport>& reports,
                            const AllocationLimits& limits) {
  json::Value devices = json::Value::array();
  for (const AllocationReport& report : reports) {
    json::Value stages = json::Value::array();
    for (const AllocatedStage& stage : report.stages)
      stages.push(stage_json(stage));
    json::Value out = json::Value::object();
    out.set("index", static_cast<uint64_t>(report.ordinal));
    out.set("state", state_name(report.state));
    if (!report.error.empty()) out.set("error", report.error);
    out.set("free_before_bytes", report.free_before_bytes);
    out.set("lowest_free_bytes", report.lowest_free_bytes);
    out.set("free_after_bytes", report.free_after_bytes);
    out.set("stages", std::move(stages));
    devices.push(std::move(out));
  }
  json::Value out = json::Value::object();
  out.set("margin_bytes", limits.margin_bytes);
  out.set("devices", std::move(devices));
  return out;
}

}  // namespace vramgauge::tools
