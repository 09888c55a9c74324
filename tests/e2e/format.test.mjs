/** Numbers to text and back: the module as it is bundled, without a browser. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { load_module } from "./bundle.mjs";

const { Formatter, axis_ticks, compact_tokens, field_text, parse_decimal, parse_integer } =
  await load_module("src/format/format.ts");
const en = new Formatter("en", "GiB");
const space = "\u00a0";

test("whole numbers are read with grouping and suffixes, and nothing else is", () => {
  const readings = {
    8192: 8192,
    "8k": 8192,
    "8 K": 8192,
    "128K": 131_072,
    "1M": 1_048_576,
    "1.5m": 1_572_864,
    "2g": 2 ** 31,
    "65,536": 65_536,
    "65_536": 65_536,
    "65 536": 65_536,
    0: 0,
    " 7 ": 7,
    "８Ｋ": 8192,
  };
  for (const [text, value] of Object.entries(readings))
    assert.equal(parse_integer(text), value, text);
  for (const text of [
    "",
    "k",
    "8kk",
    "8x",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "NaN",
    "Infinity",
    "1..5k",
    "99999999999999999999",
    ",5",
    "1.0001k",
  ])
    assert.equal(parse_integer(text), null, text);
});

test("decimals are read, and nothing else is", () => {
  const readings = { 1.15: 1.15, 79: 79, ".5": 0.5, "0.9 ": 0.9, "-1": -1, "１.５": 1.5 };
  for (const [text, value] of Object.entries(readings))
    assert.equal(parse_decimal(text), value, text);
  for (const text of ["", ".", "1e3", "1,5", "NaN", "Infinity", "0x1", "1.2.3"])
    assert.equal(parse_decimal(text), null, text);
});

test("token counts are short only where nothing is lost, and are read back the same", () => {
  assert.equal(compact_tokens(65_536), "64K");
  assert.equal(compact_tokens(1_048_576), "1M");
  assert.equal(compact_tokens(1_572_864), "1536K");
  assert.equal(compact_tokens(65_535), null);
  assert.equal(compact_tokens(1000), null);
  assert.equal(compact_tokens(0), null);
  for (const count of [
    0, 1, 1000, 1024, 4096, 40_960, 65_535, 131_072, 1_000_000, 1_048_576, 10_485_760,
  ])
    assert.equal(parse_integer(field_text(count, true)), count);
});

test("bytes in GiB and GB", () => {
  assert.equal(en.size(42_949_672_960), `40.0${space}GiB`);
  assert.equal(new Formatter("en", "GB").size(42_949_672_960), `42.9${space}GB`);
  assert.equal(en.amount(42_512_531_456), "39.59");
  assert.equal(en.exact(42_949_672_960), `42,949,672,960${space}B`);
  assert.equal(en.margin(-14_335_686_246), `13.4${space}GiB`);
  // 40 MiB short is not "0.0 GiB short".
  assert.equal(en.margin(-41_943_040), `0.04${space}GiB`);
  assert.equal(en.small_size(327_680), `320${space}KiB`);
  assert.equal(en.small_size(69_632), `68${space}KiB`);
  assert.equal(en.small_size(900), `900${space}B`);
  assert.equal(new Formatter("en", "GB").small_size(327_680), `327.68${space}kB`);
  assert.equal(new Formatter("en", "GB").small_size(42_512_531), `42.51${space}MB`);
});

test("shares never hide a part", () => {
  assert.equal(en.share(1, 2), `50${space}%`);
  assert.equal(en.share(1, 1000), `<1${space}%`);
  assert.equal(en.share(0, 1000), `0${space}%`);
  assert.equal(en.share(1, 0), "");
});

test("parameter counts in three digits", () => {
  assert.equal(en.parameters(70_553_706_496), `70.6${space}B`);
  assert.equal(en.parameters(596_049_920), `596${space}M`);
  assert.equal(en.parameters(1_023_244_718_976), `1.02${space}T`);
  assert.equal(en.parameters(12), "12");
});

test("axis steps are round", () => {
  assert.deepEqual(axis_ticks(100.4, 6), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(axis_ticks(24.7, 6), [0, 5, 10, 15, 20]);
  assert.deepEqual(axis_ticks(0, 6), [0]);
});
