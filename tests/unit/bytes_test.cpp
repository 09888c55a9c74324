#include "units/bytes.h"

#include <gtest/gtest.h>

namespace vramgauge {
namespace {

constexpr uint64_t kMax = ~uint64_t{0};

TEST(CheckedU64, PoisonsOnOverflowInsteadOfWrapping) {
  EXPECT_FALSE((CheckedU64(kMax) + CheckedU64(uint64_t{1})).valid());
  EXPECT_FALSE((CheckedU64(uint64_t{1} << 32) * CheckedU64(uint64_t{1} << 32)).valid());
  EXPECT_FALSE((CheckedU64(uint64_t{0}) - CheckedU64(uint64_t{1})).valid());
  EXPECT_FALSE((CheckedU64(uint64_t{1}) / CheckedU64(uint64_t{0})).valid());
  EXPECT_FALSE((CheckedU64(kMax - 1) + CheckedU64(uint64_t{1})).valid());
  EXPECT_FALSE((CheckedU64(kMax / 5) * CheckedU64(uint64_t{5})).valid());
}

TEST(CheckedU64, MultipliesBeyondHalves) {
  EXPECT_EQ((CheckedU64(uint64_t{1} << 40) * CheckedU64(uint64_t{3})).get(), 3298534883328U);
  EXPECT_EQ((CheckedU64(uint64_t{0}) * CheckedU64(uint64_t{1} << 40)).get(), 0U);
}

TEST(CheckedU64, StaysPoisoned) {
  const CheckedU64 poisoned = CheckedU64(kMax) + CheckedU64(uint64_t{1});
  EXPECT_FALSE((poisoned * CheckedU64(uint64_t{0})).valid());
  EXPECT_FALSE((poisoned + CheckedU64(uint64_t{1})).valid());
  EXPECT_FALSE((poisoned - poisoned).valid());
  EXPECT_FALSE((CheckedU64(uint64_t{1}) - poisoned).valid());
  EXPECT_FALSE((poisoned / CheckedU64(uint64_t{2})).valid());
  EXPECT_FALSE((CheckedU64(uint64_t{1}) / poisoned).valid());
  EXPECT_FALSE(min(poisoned, CheckedU64(uint64_t{0})).valid());
  EXPECT_FALSE((poisoned == poisoned));
}

TEST(CheckedU64, RoundsUp) {
  EXPECT_EQ(ceil_div(CheckedU64(uint64_t{17}), CheckedU64(uint64_t{16})).get(), 2U);
  EXPECT_EQ(ceil_div(CheckedU64(uint64_t{16}), CheckedU64(uint64_t{16})).get(), 1U);
  // The largest number; one more stands for "poisoned".
  EXPECT_EQ(ceil_div(CheckedU64(kMax - 1), CheckedU64(uint64_t{1})).get(), kMax - 1);
  EXPECT_EQ(round_up(CheckedU64(uint64_t{65}), CheckedU64(uint64_t{32})).get(), 96U);
  EXPECT_FALSE(ceil_div(CheckedU64(uint64_t{1}), CheckedU64(uint64_t{0})).valid());
}

// size_t is 32 bits in WebAssembly: 40 GiB computed in it is 0. 80 layers x 8 heads x 128 x 2 x 2 B
// x 65,536 tokens x 2 requests = 42,949,672,960 B.
TEST(Bytes, AreWiderThanFourGibibytes) {
  const CheckedU64 cache = CheckedU64(uint64_t{2}) * uint64_t{80} * uint64_t{8} * uint64_t{128} *
                           uint64_t{2} * uint64_t{65536} * uint64_t{2};
  EXPECT_EQ(bytes_of(cache), Bytes(uint64_t{42949672960}));
  EXPECT_EQ(GiB(40), Bytes(uint64_t{42949672960}));
}

TEST(Bytes, RefuseWhatJavaScriptCannotHold) {
  EXPECT_TRUE(bytes_of(CheckedU64(kMaxApiBytes)).has_value());
  EXPECT_FALSE(bytes_of(CheckedU64(kMaxApiBytes + 1)).has_value());
}

TEST(Bytes, DifferenceIsSigned) { EXPECT_EQ((GiB(1) - GiB(3)).count(), -(int64_t{2} << 30)); }

}  // namespace
}  // namespace vramgauge
