#include "support/gguf_files.h"

#include <zlib.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "import/gguf_reader.h"
#include "support/files.h"

namespace vramgauge::testing {
namespace {

const std::string kData = VRAMGAUGE_TEST_DIR "/data";
const std::string kSuffix = ".gguf.head.gz";

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  std::stringstream stream(line);
  while (std::getline(stream, cell, ','))
    cells.push_back(cell);
  return cells;
}

}  // namespace

std::vector<std::string> gguf_names() {
  std::vector<std::string> names = names_in(kData + "/gguf_headers", kSuffix);
  for (std::string& name : names)
    name = name.substr(name.rfind('/') + 1, name.rfind(kSuffix) - (name.rfind('/') + 1));
  return names;
}

std::string gguf_bytes(const std::string& name) {
  const std::string path = kData + "/gguf_headers/" + name + kSuffix;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  std::string bytes;
  char block[16384];
  for (int n = gzread(file, block, sizeof block); n > 0; n = gzread(file, block, sizeof block))
    bytes.append(block, static_cast<size_t>(n));
  gzclose(file);
  return bytes;
}

GgufHeader gguf_header(const std::string& name) {
  auto header = read_gguf_header(gguf_bytes(name));
  if (!header) throw std::runtime_error(name + ": " + message_of(header.error().front()));
  return std::move(*header);
}

std::vector<std::map<std::string, std::string>> data_table(const std::string& file) {
  std::ifstream stream(kData + "/" + file);
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> columns = split(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(stream, line)) {
    const std::vector<std::string> cells = split(line);
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < columns.size(); ++i)
      row[columns[i]] = i < cells.size() ? cells[i] : "";
    rows.push_back(row);
  }
  return rows;
}

GgufWriter::GgufWriter(uint64_t num_tensors, uint64_t num_keys, uint32_t version,
                       bool is_big_endian)
    : bytes_("GGUF"), is_big_endian_(is_big_endian) {
  u32(version).u64(num_tensors).u64(num_keys);
}

GgufWriter& GgufWriter::number(uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) {
    const unsigned shift = 8 * (is_big_endian_ ? width - 1 - i : i);
    bytes_.push_back(static_cast<char>(value >> shift & 0xFF));
  }
  return *this;
}

GgufWriter& GgufWriter::text(std::string_view value) {
  u64(value.size());
  bytes_.append(value);
  return *this;
}

GgufWriter& GgufWriter::key(std::string_view name, GgufType type) {
  return text(name).u32(static_cast<uint32_t>(type));
}

GgufWriter& GgufWriter::u32_key(std::string_view name, uint64_t value) {
  return key(name, GgufType::u32).u32(value);
}

GgufWriter& GgufWriter::text_key(std::string_view name, std::string_view value) {
  return key(name, GgufType::string).text(value);
}

GgufWriter& GgufWriter::texts_key(std::string_view name, uint64_t count, std::string_view value) {
  key(name, GgufType::array).u32(static_cast<uint32_t>(GgufType::string)).u64(count);
  for (uint64_t i = 0; i < count; ++i)
    text(value);
  return *this;
}

GgufWriter& GgufWriter::tensor(std::string_view name, const std::vector<uint64_t>& dims,
                               uint32_t type, uint64_t offset) {
  text(name).u32(dims.size());
  for (const uint64_t dim : dims)
    u64(dim);
  return u32(type).u64(offset);
}

}  // namespace vramgauge::testing
