// Headers of a model that is split into several files, and files that are too short.
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "import/gguf_reader.h"

namespace vramgauge {
namespace {

tl::unexpected<Diagnostics> missing_shard(uint64_t index, uint64_t count) {
  return fail(ErrorCode::gguf_shard_missing, "", {{"index", index + 1}, {"count", count}});
}

/// Each file of the split is there once; sorts them by their number.
Diagnostics check_shards(std::vector<GgufHeader>& headers) {
  const auto bad = [](ErrorCode code, std::string detail) {
    return Diagnostics{{code, "", {{"detail", std::move(detail)}}, std::nullopt}};
  };
  for (const GgufHeader& header : headers) {
    if (!header.split || header.split->count != headers.front().split->count ||
        header.split->num_tensors != headers.front().split->num_tensors) {
      return bad(ErrorCode::gguf_shard_conflict, "the files belong to different models");
    }
  }
  std::sort(headers.begin(), headers.end(), [](const GgufHeader& a, const GgufHeader& b) {
    return a.split->index < b.split->index;
  });
  for (size_t i = 0; i + 1 < headers.size(); ++i) {
    if (headers[i].split->index == headers[i + 1].split->index) {
      return bad(ErrorCode::gguf_shard_conflict,
                 "file " + std::to_string(headers[i].split->index + 1) + " is given twice");
    }
  }
  return {};
}

/// Adds the tensors of a later file; false when one of them is there already.
bool append(GgufHeader& merged, GgufHeader& shard, std::set<std::string>& names) {
  for (GgufTensorInfo& tensor : shard.tensors) {
    if (!names.insert(tensor.name).second) return false;
    merged.tensors.push_back(std::move(tensor));
  }
  merged.data_bytes += shard.data_bytes;
  return true;
}

Result<GgufHeader> merge_sorted(std::vector<GgufHeader> headers) {
  GgufHeader merged = std::move(headers.front());
  std::set<std::string> names;
  for (const GgufTensorInfo& tensor : merged.tensors)
    names.insert(tensor.name);
  for (size_t i = 1; i < headers.size(); ++i) {
    if (!append(merged, headers[i], names)) {
      return fail(ErrorCode::gguf_shard_conflict, "",
                  {{"detail", "a tensor is in two of the files"}});
    }
  }
  if (merged.tensors.size() != merged.split->num_tensors) {
    return fail(ErrorCode::gguf_shard_conflict, "",
                {{"detail", "the files hold " + std::to_string(merged.tensors.size()) +
                                " tensors, the first one announces " +
                                std::to_string(merged.split->num_tensors)}});
  }
  merged.split.reset();
  merged.data_offset = 0;
  return merged;
}

}  // namespace

Result<GgufHeader> merge_gguf_headers(std::vector<GgufHeader> headers) {
  if (headers.empty()) return missing_shard(0, 1);
  if (headers.size() == 1 && !headers.front().split) return std::move(headers.front());
  const auto unsplit = std::find_if(headers.begin(), headers.end(),
                                    [](const GgufHeader& header) { return !header.split; });
  if (unsplit != headers.end()) {
    return fail(ErrorCode::gguf_shard_conflict, "",
                {{"detail", "one of the files is a whole model"}});
  }
  Diagnostics errors = check_shards(headers);
  if (!errors.empty()) return fail(std::move(errors));
  const uint64_t count = headers.front().split->count;
  for (uint64_t i = 0; i < count; ++i) {
    if (i >= headers.size() || headers[static_cast<size_t>(i)].split->index != i)
      return missing_shard(i, count);
  }
  return merge_sorted(std::move(headers));
}

Diagnostics check_gguf_length(const GgufHeader& header, uint64_t file_bytes) {
  // The padding behind the last tensor may be missing.
  uint64_t data_end = 0;
  for (const GgufTensorInfo& tensor : header.tensors)
    data_end = std::max(data_end, tensor.data_offset + tensor.bytes);
  const uint64_t needed = header.tensors.empty() ? 0 : header.data_offset + data_end;
  if (needed <= file_bytes) return {};
  return {{ErrorCode::gguf_file_too_short,
           "",
           {{"needed", needed}, {"bytes", file_bytes}},
           std::nullopt}};
}

}  // namespace vramgauge
