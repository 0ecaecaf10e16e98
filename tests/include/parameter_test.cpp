// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bandgate/errors.hpp>
#include <bandgate/parameter.hpp>

namespace bandgate {
namespace {

parameter const size{"size", parameter_kind::size, std::string("auto"), "", {}, 1024};
parameter const window{"window", parameter_kind::size, std::uint64_t{64} << 20, "", {}, 1024};
parameter const count{"count", parameter_kind::count, std::uint64_t{4}, "", {}, 1, 64};
parameter const dtype{
    "dtype", parameter_kind::choice, std::string("u32"), "", {"u8", "u32", "f64"}};

std::uint64_t number(parameter const& p, std::string_view text) {
  return std::get<std::uint64_t>(parse_parameter(p, text));
}

std::string refusal(parameter const& p, std::string_view text) {
  try {
    parse_parameter(p, text);
  } catch (usage_error const& e) {
    return e.what();
  }
  return "accepted";
}

TEST(parameter, sizes_are_binary_unless_they_say_decimal) {
  EXPECT_EQ(number(size, "4096"), 4096U);
  EXPECT_EQ(number(size, "4096B"), 4096U);
  EXPECT_EQ(number(size, "64K"), 65536U);
  EXPECT_EQ(number(size, "64KiB"), 65536U);
  EXPECT_EQ(number(size, "64KB"), 64000U);
  EXPECT_EQ(number(size, "20G"), 21474836480U);
  EXPECT_EQ(number(size, "20GiB"), 21474836480U);
  EXPECT_EQ(number(size, "20GB"), 20000000000U);
  EXPECT_EQ(number(size, "1T"), 1099511627776U);
}

TEST(parameter, refusals_name_the_parameter_the_text_and_a_remedy) {
  EXPECT_THAT(refusal(size, ""), testing::HasSubstr("parameter size=: is empty; write a size"));
  EXPECT_THAT(refusal(size, "-1"), testing::HasSubstr("not a positive number"));
  EXPECT_THAT(refusal(size, "0"), testing::HasSubstr("below the least, 1KiB"));
  EXPECT_THAT(refusal(size, "1e30"), testing::HasSubstr("unknown unit 'e30'"));
  EXPECT_THAT(refusal(size, "5 GiB"), testing::HasSubstr("unknown unit ' GiB'"));
  EXPECT_THAT(refusal(size, "5gib"), testing::HasSubstr("unknown unit"));
  EXPECT_THAT(refusal(size, "NaN"), testing::HasSubstr("not a positive number"));
  EXPECT_THAT(refusal(size, "99999999999999999999"), testing::HasSubstr("above 2^64 - 1"));
  EXPECT_THAT(refusal(size, "99999999999T"), testing::HasSubstr("above 2^64 - 1 bytes"));
  EXPECT_THAT(refusal(count, "3x"), testing::HasSubstr("text after the number"));
  EXPECT_THAT(refusal(count, "65"), testing::HasSubstr("above the most, 64"));
  EXPECT_THAT(refusal(dtype, "f16"), testing::HasSubstr("not one of u8, u32, f64"));
}

TEST(parameter, auto_is_for_those_whose_default_it_is) {
  EXPECT_EQ(parse_parameter(size, "auto"), parameter_value{std::string("auto")});
  EXPECT_THAT(refusal(window, "auto"), testing::HasSubstr("not a positive number"));
}

TEST(parameter, complete_fills_in_defaults_and_refuses_strangers) {
  auto const values = complete({size, count}, {{"count", "8"}});
  EXPECT_EQ(values.at("size"), parameter_value{std::string("auto")});
  EXPECT_EQ(values.at("count"), parameter_value{std::uint64_t{8}});
  EXPECT_THROW(complete({size}, {{"sizes", "1G"}}), usage_error);
}

TEST(parameter, describe_names_what_differs_from_the_defaults) {
  EXPECT_EQ(describe({size, window}, complete({size, window}, {})), "");
  EXPECT_EQ(describe({size, window}, complete({size, window}, {{"window", "8192K"}})),
            "window=8MiB");
}

}  // namespace
}  // namespace bandgate
