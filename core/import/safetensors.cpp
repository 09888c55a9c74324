#include "import/safetensors.h"

#include <algorithm>

#include "import/safetensors_members.h"
#include "units/bytes.h"
#include "units/checked.h"
#include "units/index.h"
#include "units/json.h"

namespace vramgauge {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

struct DtypeRow {
  std::string_view name;
  uint64_t bits;
};

// safetensors/src/tensor.rs
constexpr DtypeRow kDtypes[] = {
    {"BOOL", 8}, {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"I16", 16}, {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"F8_E5M2FNUZ", 8},
    {"I32", 32}, {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64}, {"U64", 64},
};

/// Names go into messages; hostile ones may be long.
std::string shortened(std::string_view name) {
  constexpr std::string_view::size_type kMaxBytes = 200;
  if (name.size() <= kMaxBytes) return std::string(name);
  auto end = kMaxBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U)
    --end;
  return std::string(name.substr(0, end));
}

tl::unexpected<Diagnostics> bad_entry(std::string_view tensor, std::string detail) {
  return fail(ErrorCode::safetensors_bad_entry, "",
              {{"tensor", shortened(tensor)}, {"detail", std::move(detail)}});
}

Result<std::vector<uint64_t>> integers(std::string_view tensor, const json::Value* value,
                                       const char* key) {
  const json::Value::Array* items = value == nullptr ? nullptr : value->as_array();
  if (items == nullptr) return bad_entry(tensor, std::string(key) + " is not a list");
  std::vector<uint64_t> numbers;
  for (const json::Value& item : *items) {
    const auto number = item.as_u64();
    if (!number) return bad_entry(tensor, std::string(key) + " holds something else than counts");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<uint64_t> count_elements(const SafetensorsTensor& tensor) {
  CheckedU64 product(uint64_t{1});
  for (const uint64_t dim : tensor.shape)
    product *= CheckedU64(dim);
  if (product.value_or(UINT64_MAX) <= kMaxApiBytes) return product.value_or(0);
  return bad_entry(tensor.name, "its shape has too many elements");
}

/// The bytes of shape and type must be those between the offsets.
Diagnostics check_size(const SafetensorsTensor& tensor) {
  const auto bits = safetensors_dtype_bits(tensor.dtype);
  if (!bits) {
    return fail(ErrorCode::safetensors_unknown_dtype, "",
                {{"tensor", shortened(tensor.name)}, {"dtype", shortened(tensor.dtype)}})
        .value();
  }
  const uint64_t total_bits = tensor.elements * *bits;
  if (total_bits % 8 != 0)
    return bad_entry(tensor.name, "its elements do not fill whole bytes").value();
  if (tensor.bytes() == total_bits / 8) return {};
  return fail(ErrorCode::safetensors_wrong_size, "",
              {{"tensor", shortened(tensor.name)},
               {"bytes", tensor.bytes()},
               {"needed", total_bits / 8}})
      .value();
}

Result<SafetensorsTensor> read_tensor(std::string_view name, const json::Value& entry) {
  SafetensorsTensor tensor;
  tensor.name = name;
  if (entry.as_object() == nullptr) return bad_entry(name, "it is not an object");
  const json::Value* dtype = entry.find("dtype");
  if (dtype == nullptr || dtype->as_string() == nullptr) return bad_entry(name, "it has no dtype");
  tensor.dtype = *dtype->as_string();
  auto shape = integers(name, entry.find("shape"), "shape");
  if (!shape) return fail(std::move(shape.error()));
  tensor.shape = std::move(*shape);
  const auto offsets = integers(name, entry.find("data_offsets"), "data_offsets");
  if (!offsets) return fail(offsets.error());
  if (offsets->size() != 2 || offsets->front() > offsets->back() || offsets->back() > kMaxApiBytes)
    return bad_entry(name, "data_offsets are not a beginning and an end");
  tensor.begin = offsets->front();
  tensor.end = offsets->back();
  const auto elements = count_elements(tensor);
  if (!elements) return fail(elements.error());
  tensor.elements = *elements;
  Diagnostics errors = check_size(tensor);
  if (!errors.empty()) return fail(std::move(errors));
  return tensor;
}

void read_metadata(const json::Value& value, SafetensorsHeader& header) {
  const json::Value::Object* members = value.as_object();
  if (members == nullptr) return;
  for (const json::Member& member : *members) {
    if (member.value.as_string() != nullptr)
      header.metadata.emplace_back(member.key, *member.value.as_string());
  }
}

/// One member of the header, put into braces for the parser.
Diagnostics read_member(std::string_view text, SafetensorsHeader& header) {
  std::string object = "{";
  object.append(text);
  object += '}';
  const auto parsed = json::parse(object);
  if (!parsed) return parsed.error();
  const json::Value::Object& members = *parsed->as_object();
  if (members.size() != 1)
    return fail(ErrorCode::safetensors_bad_start, "", {{"byte", uint64_t{0}}}).value();
  const json::Member& member = members.front();
  if (member.key == kMetadataKey) {
    read_metadata(member.value, header);
    return {};
  }
  auto tensor = read_tensor(member.key, member.value);
  if (!tensor) return tensor.error();
  header.tensors.push_back(std::move(*tensor));
  return {};
}

Diagnostics find_duplicate(const SafetensorsHeader& header) {
  std::vector<std::string_view> names;
  names.reserve(header.tensors.size());
  for (const SafetensorsTensor& tensor : header.tensors)
    names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return fail(ErrorCode::safetensors_duplicate, "", {{"tensor", shortened(*twice)}}).value();
}

/// The tensors lie one behind the other from the beginning of the data.
Diagnostics check_places(SafetensorsHeader& header) {
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
              return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
            });
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (tensor.begin < header.data_bytes) {
      return fail(ErrorCode::safetensors_overlap, "",
                  {{"tensor", shortened(tensor.name)}, {"byte", tensor.begin}})
          .value();
    }
    if (tensor.begin > header.data_bytes) {
      return fail(ErrorCode::safetensors_hole, "",
                  {{"tensor", shortened(tensor.name)}, {"bytes", tensor.begin - header.data_bytes}})
          .value();
    }
    header.data_bytes = tensor.end;
  }
  return {};
}

/// Entries that a text can hold at most, by its lists (two an entry) and by its length.
uint64_t max_entries(std::string_view text) {
  constexpr uint64_t kMinEntryBytes = 48;
  const auto num_lists = static_cast<uint64_t>(std::count(text.begin(), text.end(), '['));
  return std::min({num_lists / 2, uint64_t{text.size()} / kMinEntryBytes, kMaxSafetensorsTensors});
}

Diagnostics read_members(std::string_view text, SafetensorsHeader& header) {
  // Exactly, for a large header: growing would hold them twice.
  header.tensors.reserve(index_of(max_entries(text)));
  MemberSplitter members(text);
  while (const auto member = members.next()) {
    if (header.tensors.size() >= kMaxSafetensorsTensors) {
      return fail(ErrorCode::safetensors_too_many, "", {{"limit", kMaxSafetensorsTensors}}).value();
    }
    Diagnostics errors = read_member(*member, header);
    if (!errors.empty()) return errors;
  }
  if (members.is_complete()) return {};
  return fail(ErrorCode::safetensors_bad_start, "", {{"byte", kLengthBytes + members.offset()}})
      .value();
}

}  // namespace

std::optional<uint64_t> safetensors_dtype_bits(std::string_view dtype) {
  const DtypeRow* end = std::end(kDtypes);
  const DtypeRow* row = std::find_if(std::begin(kDtypes), end,
                                     [dtype](const DtypeRow& each) { return each.name == dtype; });
  if (row == end) return std::nullopt;
  return row->bits;
}

Result<uint64_t> safetensors_header_length(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) {
    return fail(ErrorCode::safetensors_header_incomplete, "",
                {{"needed", kLengthBytes}, {"bytes", uint64_t{bytes.size()}}});
  }
  uint64_t length = 0;
  for (uint64_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[index_of(i)]);
  if (length > kMaxSafetensorsHeaderBytes) {
    return fail(ErrorCode::safetensors_header_too_large, "",
                {{"bytes", length}, {"limit", kMaxSafetensorsHeaderBytes}});
  }
  return kLengthBytes + length;
}

Result<SafetensorsHeader> read_safetensors_header(std::string_view bytes) {
  const auto length = safetensors_header_length(bytes);
  if (!length) return fail(length.error());
  if (bytes.size() > kLengthBytes && *length > kLengthBytes && bytes[index_of(kLengthBytes)] != '{')
    return fail(ErrorCode::safetensors_bad_start, "", {{"byte", kLengthBytes}});
  if (bytes.size() < *length) {
    return fail(ErrorCode::safetensors_header_incomplete, "",
                {{"needed", *length}, {"bytes", uint64_t{bytes.size()}}});
  }
  SafetensorsHeader header;
  header.data_offset = *length;
  Diagnostics errors =
      read_members(bytes.substr(index_of(kLengthBytes), index_of(*length - kLengthBytes)), header);
  if (errors.empty()) errors = find_duplicate(header);
  if (errors.empty()) errors = check_places(header);
  if (!errors.empty()) return fail(std::move(errors));
  return header;
}

Diagnostics check_safetensors_length(const SafetensorsHeader& header, uint64_t file_bytes) {
  const uint64_t needed = header.data_offset + header.data_bytes;
  if (needed == file_bytes) return {};
  return fail(ErrorCode::safetensors_wrong_length, "", {{"bytes", file_bytes}, {"needed", needed}})
      .value();
}

}  // namespace vramgauge
