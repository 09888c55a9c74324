// Checkpoints of several safetensors files, with or without their index.
#include <algorithm>
#include <set>
#include <utility>

#include "import/safetensors.h"
#include "import/safetensors_names.h"
#include "units/bytes.h"
#include "units/checked.h"
#include "units/json.h"

namespace vramgauge {
namespace {

/// The largest published index has some 100,000 tensors in 10 MB.
constexpr json::Limits kIndexLimits{uint64_t{64} << 20, 8, 2 * kMaxSafetensorsTensors};
constexpr std::string_view kConsolidated = "consolidated";

tl::unexpected<Diagnostics> bad_index(std::string detail) {
  return fail(ErrorCode::safetensors_bad_index, "", {{"detail", std::move(detail)}});
}

std::string base_name(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool is_consolidated(const SafetensorsFile& file) {
  return file.name.compare(0, kConsolidated.size(), kConsolidated) == 0;
}

/// Leaves out the second set of the same weights; returns how many files that are.
uint64_t drop_consolidated(std::vector<SafetensorsFile>& files) {
  const auto first =
      std::stable_partition(files.begin(), files.end(),
                            [](const SafetensorsFile& file) { return !is_consolidated(file); });
  if (first == files.begin()) return 0;
  const auto count = static_cast<uint64_t>(files.end() - first);
  files.erase(first, files.end());
  return count;
}

/// Features in and out, the last dimension being the input; what has more dimensions than two is
/// either experts stacked or a convolution.
void set_shape(WeightTensor& weight, const SafetensorsTensor& tensor, const SafetensorsName& name) {
  const std::vector<uint64_t>& shape = tensor.shape;
  const bool is_stacked = shape.size() > 2 && (name.role == TensorRole::expert_gate ||
                                               name.role == TensorRole::expert_up ||
                                               name.role == TensorRole::expert_down);
  weight.cols = tensor.elements;
  if (shape.size() < 2) return;
  const size_t first = is_stacked ? 1 : 0;
  if (is_stacked) weight.count = shape[0];
  weight.rows = shape[first];
  weight.cols = 1;
  for (size_t i = first + 1; i < shape.size(); ++i)
    weight.cols *= shape[i];
  weight.is_matrix = name.is_weight && (shape.size() == 2 || is_stacked);
}

/// Takes the tensor apart: a checkpoint may have 100,000 of them.
StoredTensor stored(SafetensorsTensor tensor, const SafetensorsName& name) {
  StoredTensor result;
  result.bytes = tensor.bytes();
  result.elements = tensor.elements;
  result.weight.name = tensor.name;
  result.weight.role = name.role;
  result.weight.layer = name.layer;
  result.weight.is_matrix = false;
  set_shape(result.weight, tensor, name);
  result.weight.active_count = result.weight.count;
  result.file_name = std::move(tensor.name);
  result.dtype = std::move(tensor.dtype);
  return result;
}

/// Collects the tensors of the files.
class Joiner {
 public:
  Joiner(const SafetensorsFacts& facts, std::vector<SafetensorsFile>& files)
      : facts_(facts), files_(files) {
    std::vector<StoredTensor>::size_type num_tensors = 0;
    for (const SafetensorsFile& file : files)
      num_tensors += file.header.tensors.size();
    result_.tensors.reserve(num_tensors);
    places_.reserve(num_tensors);
    for (uint32_t i = 0; i < files.size(); ++i)
      add(files[i].header, i);
    std::sort(places_.begin(), places_.end(),
              [this](const Place& a, const Place& b) { return name_of(a) < name_of(b); });
  }

  /// The name of a tensor that is in two files, or nothing.
  const std::string* find_twice() const {
    const auto twice = std::adjacent_find(
        places_.begin(), places_.end(),
        [this](const Place& a, const Place& b) { return name_of(a) == name_of(b); });
    return twice == places_.end() ? nullptr : &name_of(*twice);
  }

  /// The first tensor of the index that is not in the file it should be in.
  const std::pair<std::string, std::string>* find_missing(const SafetensorsIndex& index) const {
    for (const auto& entry : index.weight_map) {
      const auto found = std::lower_bound(
          places_.begin(), places_.end(), entry.first,
          [this](const Place& place, const std::string& name) { return name_of(place) < name; });
      const bool is_there = found != places_.end() && name_of(*found) == entry.first;
      if (!is_there || files_[found->file].name != base_name(entry.second)) return &entry;
    }
    return nullptr;
  }

  void warn(ErrorCode code, ErrorArgs args) {
    result_.warnings.push_back({code, "", std::move(args), std::nullopt});
  }

  std::optional<SafetensorsCheckpoint> finish() {
    mark_mtp();
    if (facts_.is_tied) drop_tied_output();
    if (result_.num_adapter_tensors != 0)
      warn(ErrorCode::safetensors_adapter, {{"count", result_.num_adapter_tensors}});
    if (total_.value_or(UINT64_MAX) > kMaxApiBytes) return std::nullopt;
    result_.total_bytes = total_.value_or(0);
    return std::move(result_);
  }

 private:
  /// A tensor, and the file it is in.
  struct Place {
    uint32_t tensor = 0;
    uint32_t file = 0;
  };

  const std::string& name_of(const Place& place) const {
    return result_.tensors[place.tensor].file_name;
  }

  /// Takes the tensors of a file, so that they are not held twice.
  void add(SafetensorsHeader& header, uint32_t file) {
    for (SafetensorsTensor& tensor : header.tensors) {
      const SafetensorsName name = read_safetensors_name(tensor.name);
      total_ += CheckedU64(tensor.bytes());
      if (name.is_adapter) ++result_.num_adapter_tensors;
      if (name.marks_mtp && name.layer >= 0) mtp_layers_.insert(name.layer);
      places_.push_back({static_cast<uint32_t>(result_.tensors.size()), file});
      result_.tensors.push_back(stored(std::move(tensor), name));
    }
    std::vector<SafetensorsTensor>().swap(header.tensors);
  }

  /// A layer with the projection or norms of multi-token prediction is one as a whole.
  void mark_mtp() {
    for (StoredTensor& tensor : result_.tensors) {
      const int64_t layer = tensor.weight.layer;
      const bool is_behind =
          facts_.num_layers != 0 && layer >= 0 && static_cast<uint64_t>(layer) >= facts_.num_layers;
      if (is_behind || mtp_layers_.count(layer) != 0) tensor.weight.role = TensorRole::mtp;
    }
  }

  void drop_tied_output() {
    const auto has_role = [](TensorRole role) {
      return [role](const StoredTensor& tensor) {
        return tensor.weight.role == role && tensor.weight.is_matrix;
      };
    };
    auto& tensors = result_.tensors;
    const auto embedding =
        std::find_if(tensors.begin(), tensors.end(), has_role(TensorRole::embedding));
    const auto output = std::find_if(tensors.begin(), tensors.end(), has_role(TensorRole::output));
    if (embedding == tensors.end() || output == tensors.end()) return;
    warn(ErrorCode::safetensors_tied_output, {{"tensor", output->file_name}});
    total_ = total_ - CheckedU64(output->bytes);
    tensors.erase(output);
  }

  const SafetensorsFacts& facts_;
  const std::vector<SafetensorsFile>& files_;
  SafetensorsCheckpoint result_;
  CheckedU64 total_;
  /// By the names of the tensors.
  std::vector<Place> places_;
  std::set<int64_t> mtp_layers_;
};

}  // namespace

Result<SafetensorsIndex> read_safetensors_index(std::string_view text) {
  const auto document = json::parse(text, kIndexLimits);
  if (!document) return fail(document.error());
  const json::Value* map = document->find("weight_map");
  if (map == nullptr || map->as_object() == nullptr) return bad_index("it has no weight_map");
  SafetensorsIndex index;
  std::set<std::string> files;
  for (const json::Member& member : *map->as_object()) {
    const std::string* file = member.value.as_string();
    if (file == nullptr || file->empty())
      return bad_index("weight_map names something else than files");
    index.weight_map.emplace_back(member.key, *file);
    files.insert(*file);
  }
  if (files.empty()) return bad_index("weight_map is empty");
  index.files.assign(files.begin(), files.end());
  const json::Value* metadata = document->find("metadata");
  const json::Value* total = metadata == nullptr ? nullptr : metadata->find("total_size");
  if (total == nullptr) return index;
  const json::Number* number = total->as_number();
  const bool is_size =
      number != nullptr && number->real >= 0 && number->real <= static_cast<double>(kMaxApiBytes);
  if (!is_size) return bad_index("total_size is not a number of bytes");
  // Some writers divide and store 1234.0.
  index.total_bytes = number->is_integer ? number->magnitude : static_cast<uint64_t>(number->real);
  return index;
}

Result<SafetensorsCheckpoint> join_safetensors(std::vector<SafetensorsFile> files,
                                               const SafetensorsIndex* index,
                                               const SafetensorsFacts& facts) {
  for (SafetensorsFile& file : files)
    file.name = base_name(file.name);
  const uint64_t num_dropped = drop_consolidated(files);
  Joiner joiner(facts, files);
  if (const std::string* twice = joiner.find_twice())
    return fail(ErrorCode::safetensors_duplicate, "", {{"tensor", *twice}});
  if (index != nullptr) {
    if (const auto* missing = joiner.find_missing(*index)) {
      return fail(ErrorCode::safetensors_shard_missing, "",
                  {{"file", missing->second}, {"tensor", missing->first}});
    }
  }
  if (num_dropped != 0)
    joiner.warn(ErrorCode::safetensors_duplicates_ignored, {{"count", num_dropped}});
  auto checkpoint = joiner.finish();
  if (!checkpoint) return fail(ErrorCode::value_overflow, "", {{"what", "the checkpoint"}});
  const bool is_other_size = index != nullptr && index->total_bytes && !facts.is_tied &&
                             *index->total_bytes != checkpoint->total_bytes;
  if (is_other_size) {
    checkpoint->warnings.push_back(
        {ErrorCode::safetensors_index_mismatch,
         "",
         {{"announced", *index->total_bytes}, {"bytes", checkpoint->total_bytes}},
         std::nullopt});
  }
  return std::move(*checkpoint);
}

}  // namespace vramgauge
