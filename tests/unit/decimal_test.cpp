#include "units/decimal.h"

#include <gtest/gtest.h>

namespace vramgauge {
namespace {

TEST(Decimal, ReadsAndWritesWithoutTrailingZeros) {
  for (const char* text : {"0", "1", "1.15", "79.19", "0.000001", "123456.5"}) {
    const std::optional<Decimal> value = Decimal::parse(text);
    ASSERT_TRUE(value.has_value()) << text;
    EXPECT_EQ(value->text(), text);
  }
  EXPECT_EQ(Decimal::parse(".5")->text(), "0.5");
  EXPECT_EQ(Decimal::parse("1.10")->text(), "1.1");
}

TEST(Decimal, RefusesWhatItCannotHoldExactly) {
  for (const char* text :
       {"", ".", "-1", "1.0000001", "1e3", "NaN", "1.2.3", "99999999999999999999", "0x10"}) {
    EXPECT_FALSE(Decimal::parse(text).has_value()) << text;
  }
  EXPECT_FALSE(Decimal::from_double(-1).has_value());
  EXPECT_FALSE(Decimal::from_double(1e300).has_value());
}

// 100 x 1.15 is 115 exactly; in doubles 1.15 is a little less and 100 x 1.15 rounds by luck.
TEST(Decimal, MultipliesExactlyAndRoundsDown) {
  EXPECT_EQ((CheckedU64(uint64_t{100}) * *Decimal::parse("1.15")).get(), 115U);
  EXPECT_EQ((CheckedU64(uint64_t{7}) * *Decimal::parse("0.5")).get(), 3U);
  EXPECT_EQ((CheckedU64(uint64_t{1} << 62) * *Decimal::parse("2")).get(), uint64_t{1} << 63);
  EXPECT_FALSE((CheckedU64(uint64_t{1} << 63) * *Decimal::parse("2")).valid());
}

struct Count {
  const char* text;
  uint64_t value;
};

// A suffix is binary, as context lengths are: 128K is 131,072.
TEST(ParseCount, ReadsWhatPeopleType) {
  for (const Count& count :
       {Count{"8k", 8192}, Count{"128K", 131072}, Count{"1M", 1048576}, Count{"1,000", 1000},
        Count{" 65536 ", 65536}, Count{"1.5k", 1536}, Count{"0", 0}, Count{"64 K", 65536}}) {
    EXPECT_EQ(parse_count(count.text), count.value) << count.text;
  }
}

TEST(ParseCount, RefusesTheRest) {
  for (const char* text :
       {"", "k", "-1", "1.5", "8kk", "1e6", "18446744073709551616", "99999999999T", "eight"}) {
    EXPECT_FALSE(parse_count(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace vramgauge
