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

}  // namespace vramgauge::testing
