// Writes a file as deflated bytes into a C++ source: node embed.mjs INPUT OUTPUT.cpp SYMBOL
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

const [input, output, symbol] = process.argv.slice(2);
const data = readFileSync(input);
const packed = deflateSync(data, { level: 9 });
const rows = [];
for (let start = 0; start < packed.length; start += 32) rows.push(packed.subarray(start, start + 32).join(','));

writeFileSync(output, `#include "catalogue_data.h"

namespace vramgauge::tools {
namespace {
constexpr unsigned char kBytes[] = {
${rows.join(',\n')}};
}
const PackedCatalogue ${symbol} = {kBytes, sizeof kBytes, ${data.length}U};
}  // namespace vramgauge::tools
`);
