// A machine that is not there: the state behind the stand-in driver, read from a JSON file.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace stand_in {

struct Process {
  unsigned pid = 0;
  uint64_t used_bytes = 0;
  bool is_graphics = false;
};

/// After so many questions about free memory, others hold this much more (or less).
struct Change {
  uint64_t after_questions = 0;
  int64_t delta_bytes = 0;
};

/// A GPU or a MIG slice.
struct Unit {
  std::string name;
  std::string uuid;
  std::string bus_id;
  /// Index of the GPU that a slice belongs to; -1 for a GPU.
  int parent = -1;
  uint64_t total_bytes = 0;
  uint64_t usable_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t context_bytes = 0;
  uint64_t granularity_bytes = 0;
  /// No single allocation may be larger.
  uint64_t largest_bytes = UINT64_MAX;
  int capability_major = 9;
  int capability_minor = 0;
  int multiprocessors = 132;
  bool is_integrated = false;
  bool has_ecc = true;
  bool is_mig = false;
  bool has_display = false;
  unsigned compute_mode = 0;
  std::vector<Process> others;
  std::vector<Change> changes;

  uint64_t questions = 0;
  uint64_t contexts = 0;
  uint64_t allocated_bytes = 0;
};

struct Link {
  int a = 0;
  int b = 0;
  unsigned nvlinks = 0;
  unsigned level = 30;
  bool has_peer_access = true;
};

struct Buffer {
  int unit = 0;
  uint64_t asked_bytes = 0;
  uint64_t held_bytes = 0;
};

/// How a function misbehaves.
struct Fault {
  int status = 0;
  /// Calls that succeed before.
  uint64_t after_calls = 0;
  uint64_t delay_ms = 0;
  uint64_t calls = 0;
};

/// Everything, under one lock. VRAMGAUGE_STAND_IN names its file, VRAMGAUGE_STAND_IN_LEDGER the
/// file that gets a line for each allocation, touch and release.
class Machine {
 public:
  static Machine& get();

  /// Counts a call; waits, and returns a status other than 0 when it must fail.
  int enter(const std::string& function);

  /// Units that the process may use, in its own order.
  const std::vector<int>& visible() const { return visible_; }
  Unit* unit(int index);
  std::vector<Unit>& units() { return units_; }
  const Link* link(int a, int b) const;

  uint64_t free_bytes(int unit);
  /// 0 and an address, or CUDA's status.
  int allocate(int unit, uint64_t bytes, unsigned long long& address);
  int release(unsigned long long address);
  int touch(unsigned long long address, uint64_t bytes);
  int retain(int unit);
  int release_context(int unit);

  int driver_version = 13000;
  std::string driver_name = "580.65.06";
  std::mutex mutex;

 private:
  Machine();
  void read(const std::string& path);
  void find_visible();
  void write(const std::string& line) const;

  std::vector<Unit> units_;
  std::vector<int> visible_;
  std::vector<Link> links_;
  std::map<std::string, Fault> faults_;
  std::map<unsigned long long, Buffer> buffers_;
  unsigned long long next_address_ = 0x7f0000000000ULL;
  int ledger_ = -1;
};

}  // namespace stand_in
