#include "stand_in_machine.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace stand_in {
namespace {

using Json = nlohmann::json;

// Statuses of cuda.h.
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kInvalidContext = 201;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

Unit read_unit(const Json& json) {
  Unit unit;
  unit.name = json.value("name", "Stand-in GPU");
  unit.uuid = json.value("uuid", "");
  unit.bus_id = json.value("bus_id", "");
  unit.total_bytes = json.value("total_bytes", uint64_t{0});
  unit.usable_bytes = json.value("usable_bytes", unit.total_bytes);
  unit.reserved_bytes = json.value("reserved_bytes", uint64_t{0});
  unit.context_bytes = json.value("context_bytes", uint64_t{0});
  unit.granularity_bytes = json.value("granularity_bytes", uint64_t{2} << 20);
  unit.largest_bytes = json.value("largest_bytes", UINT64_MAX);
  unit.capability_major = json.value("capability_major", 9);
  unit.capability_minor = json.value("capability_minor", 0);
  unit.multiprocessors = json.value("multiprocessors", 132);
  unit.is_integrated = json.value("is_integrated", false);
  unit.has_ecc = json.value("has_ecc", true);
  unit.has_display = json.value("has_display", false);
  unit.compute_mode = json.value("compute_mode", 0U);
  for (const Json& other : json.value("others", Json::array()))
    unit.others.push_back({other.value("pid", 1U), other.value("used_bytes", uint64_t{0}),
                           other.value("graphics", false)});
  for (const Json& change : json.value("changes", Json::array()))
    unit.changes.push_back(
        {change.value("after_questions", uint64_t{0}), change.value("delta_bytes", int64_t{0})});
  return unit;
}

uint64_t round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Machine& Machine::get() {
  // Never destroyed: the program may call the driver while it ends.
  static Machine& machine = *new Machine();
  return machine;
}

Machine::Machine() {
  read(environment("VRAMGAUGE_STAND_IN"));
  find_visible();
  const std::string ledger = environment("VRAMGAUGE_STAND_IN_LEDGER");
  if (!ledger.empty()) ledger_ = open(ledger.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
}

void Machine::read(const std::string& path) {
  std::ifstream file(path);
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) return;
  driver_version = json.value("driver_version", driver_version);
  driver_name = json.value("driver_name", driver_name);
  for (const Json& entry : json.value("devices", Json::array())) {
    const int parent = static_cast<int>(units_.size());
    units_.push_back(read_unit(entry));
    for (const Json& slice : entry.value("slices", Json::array())) {
      units_[parent].is_mig = true;
      Unit unit = read_unit(slice);
      unit.parent = parent;
      unit.bus_id = units_[parent].bus_id;
      units_.push_back(unit);
    }
  }
  for (const Json& entry : json.value("links", Json::array()))
    links_.push_back({entry.value("a", 0), entry.value("b", 0), entry.value("nvlinks", 0U),
                      entry.value("level", 30U), entry.value("has_peer_access", true)});
  const Json faults = json.value("faults", Json::object());
  for (const auto& [function, fault] : faults.items())
    faults_[function] = {fault.value("status", 0), fault.value("after_calls", uint64_t{0}),
                         fault.value("delay_ms", uint64_t{0}), 0};
}

/// CUDA's own rules: a divided GPU is seen as its first slice; a name or number that is not there
/// ends the list.
void Machine::find_visible() {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
    if (units_[i].parent < 0) all.push_back(units_[i].is_mig ? i + 1 : i);
  }
  const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
  if (given == nullptr) {
    visible_ = all;
    return;
  }
  std::string rest = given;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string word = rest.substr(0, comma);
    rest.erase(0, std::min(comma + 1, rest.size()));
    int found = -1;
    if (word.size() < 3 && word.find_first_not_of("0123456789") == std::string::npos &&
        !word.empty() && std::stoul(word) < all.size())
      found = all[std::stoul(word)];
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
      if (word.size() > 4 && units_[i].uuid.rfind(word, 0) == 0) found = i;
    }
    if (found < 0) break;
    visible_.push_back(found);
  }
}

void Machine::write(const std::string& line) const {
  if (ledger_ < 0) return;
  const std::string text = line + "\n";
  if (::write(ledger_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

int Machine::enter(const std::string& function) {
  uint64_t delay_ms = 0;
  int status = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = faults_.find(function);
    if (found == faults_.end()) return 0;
    Fault& fault = found->second;
    if (fault.calls++ < fault.after_calls) return 0;
    delay_ms = fault.delay_ms;
    status = fault.status;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
  return status;
}

Unit* Machine::unit(int index) {
  return index >= 0 && index < static_cast<int>(units_.size()) ? &units_[index] : nullptr;
}

const Link* Machine::link(int a, int b) const {
  for (const Link& link : links_) {
    if ((link.a == a && link.b == b) || (link.a == b && link.b == a)) return &link;
  }
  return nullptr;
}

uint64_t Machine::free_bytes(int index) {
  Unit& unit = units_[index];
  ++unit.questions;
  int64_t held = static_cast<int64_t>(unit.reserved_bytes + unit.allocated_bytes);
  if (unit.contexts > 0) held += static_cast<int64_t>(unit.context_bytes);
  for (const Process& other : unit.others)
    held += static_cast<int64_t>(other.used_bytes);
  for (const Change& change : unit.changes)
    held += unit.questions > change.after_questions ? change.delta_bytes : 0;
  return static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(unit.total_bytes) - held));
}

int Machine::allocate(int index, uint64_t bytes, unsigned long long& address) {
  Unit& unit = units_[index];
  if (unit.contexts == 0) return kInvalidContext;
  if (bytes == 0) return kInvalidValue;
  const uint64_t free = free_bytes(index);
  --unit.questions;
  const uint64_t held = round_up(bytes, unit.granularity_bytes);
  if (held > free || bytes > unit.largest_bytes) return kOutOfMemory;
  unit.allocated_bytes += held;
  address = next_address_;
  next_address_ += held;
  buffers_[address] = {index, bytes, held};
  write("allocate " + std::to_string(index) + " " + std::to_string(address) + " " +
        std::to_string(bytes) + " free " + std::to_string(free) + " held " +
        std::to_string(unit.allocated_bytes));
  return 0;
}

int Machine::release(unsigned long long address) {
  const auto found = buffers_.find(address);
  if (found == buffers_.end()) return kInvalidValue;
  units_[found->second.unit].allocated_bytes -= found->second.held_bytes;
  write("release " + std::to_string(found->second.unit) + " " + std::to_string(address));
  buffers_.erase(found);
  return 0;
}

int Machine::touch(unsigned long long address, uint64_t bytes) {
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return kInvalidValue;
  --found;
  const uint64_t offset = address - found->first;
  if (offset + bytes > found->second.asked_bytes) return kInvalidValue;
  write("touch " + std::to_string(found->second.unit) + " " + std::to_string(found->first) + " " +
        std::to_string(bytes));
  return 0;
}

int Machine::retain(int index) {
  Unit& unit = units_[index];
  if (unit.contexts == 0 && free_bytes(index) < unit.context_bytes) return kOutOfMemory;
  ++unit.contexts;
  write("retain " + std::to_string(index));
  return 0;
}

int Machine::release_context(int index) {
  Unit& unit = units_[index];
  if (unit.contexts == 0) return kInvalidContext;
  --unit.contexts;
  write("leave " + std::to_string(index));
  return 0;
}

}  // namespace stand_in
