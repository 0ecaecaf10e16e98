// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "records/schema.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using nlohmann::json;
using testing::error_of;

std::string refusal(std::string const& text) {
  return error_of([&] { parse_strict(text, "f"); });
}

TEST(StrictJson, ReadsWhatIsRight) {
  EXPECT_EQ(parse_strict(R"( {"a": [1, -2, 0.5, 1e3, true, false, null, "\u00e9\ud83d\ude00"],
                              "b": {"a": {}, "c": []}} )",
                         "f"),
            json({{"a", {1, -2, 0.5, 1000.0, true, false, nullptr, "é😀"}},
                  {"b", {{"a", json::object()}, {"c", json::array()}}}}));
  EXPECT_EQ(parse_strict("18446744073709551615", "f").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(parse_strict("0.1", "f").get<double>(), 0.1);
  EXPECT_EQ(parse_strict("[[1],[2,[3]],4]", "f").dump(), "[[1],[2,[3]],4]");
}

TEST(StrictJson, RefusesDuplicateKeys) {
  EXPECT_EQ(refusal(R"({"a":1,"a":2})"),
            "f: line 1, column 8: the key \"a\" is there twice; keep one");
  EXPECT_EQ(refusal("{\"b\": {\"x\": [],\n  \"\\u0078\":2}}"),
            "f: line 2, column 3: the key \"x\" is there twice; keep one");
  EXPECT_EQ(refusal(R"({"q\"\\":1,"q\"\\":2})"),
            R"(f: line 1, column 12: the key "q\"\\" is there twice; keep one)");
  EXPECT_EQ(refusal("{\"é\":1,\"é\":2}"),
            "f: line 1, column 8: the key \"\\u00e9\" is there twice; keep one");
  EXPECT_EQ(refusal(R"([{"a":1},{"a":2}])"), "no error");
}

TEST(StrictJson, RefusesWhatIsNoNumber) {
  for (std::string const word : {"NaN", "nan", "-nan", "Infinity", "-Infinity", "inf"})
    EXPECT_THAT(
        refusal("{\"a\":" + word + "}"),
        ::testing::MatchesRegex("f: line 1, column [0-9]+: JSON has no NaN and no Infinity; "
                                "write a number or null"))
        << word;
  EXPECT_EQ(refusal("[1e999]"), "f: line 1, column 6: number overflow parsing '1e999'");
  EXPECT_EQ(refusal("[\n-1e999]"), "f: line 2, column 6: number overflow parsing '-1e999'");
  for (auto const* text :
       {"[01]", "[+1]", "[.5]", "[1.]", "[0x10]", "[2%]", "[1,]", "nul", "nullx"})
    EXPECT_THAT(refusal(text), ::testing::StartsWith("f: line 1, column ")) << text;
}

TEST(StrictJson, RefusesWhatFollowsOrIsMissing) {
  EXPECT_EQ(refusal(""), "f: is empty; it must hold a JSON document");
  for (auto const* text : {" ", "{} {}", "{}]", "{} // no", "/* no */ {}", "{", "[1",
                           "{\"a\":", "{\"a\" 1}", "{'a':1}", "\"a"})
    EXPECT_THAT(refusal(text), ::testing::StartsWith("f: line 1, column ")) << text;
  EXPECT_EQ(refusal("{\"a\":1,\n\"b\":2"),
            "f: line 2, column 6: syntax error while parsing object - unexpected end of input; "
            "expected '}'");
}

TEST(StrictJson, RefusesNulBytesWhereverTheyAre) {
  EXPECT_EQ(refusal(std::string("{}\0{}", 5)),
            "f: line 1, column 3: holds a NUL byte; it is not JSON text");
  EXPECT_EQ(refusal(std::string("[\"a\0\"]", 6)),
            "f: line 1, column 4: holds a NUL byte; it is not JSON text");
  EXPECT_EQ(refusal(std::string(4096, '\0')),
            "f: line 1, column 1: holds a NUL byte; it is not JSON text");
}

TEST(StrictJson, RefusesBrokenText) {
  for (auto const* bytes : {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\n",
                            "\x1b", "\\x41", "\\ud800", "\\u12"})
    EXPECT_THAT(refusal("[\"" + std::string(bytes) + "\"]"),
                ::testing::MatchesRegex("f: line [12], column [0-9]+: .*"))
        << bytes;
  EXPECT_EQ(refusal("\xEF\xBB\xBF{}"),
            "f: line 1, column 1: starts with a byte order mark; save it as UTF-8 without one");
  EXPECT_THAT(refusal("\xff\xfe{\n"), ::testing::StartsWith("f: line 1, column 1: "));
}

TEST(StrictJson, RefusesDepthBombs) {
  auto const nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(refusal(nested(64)), "no error");
  EXPECT_EQ(refusal(nested(65)), "f: line 1, column 65: is nested deeper than 64 levels");
  EXPECT_EQ(refusal(std::string(5'000'000, '[')),
            "f: line 1, column 65: is nested deeper than 64 levels");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(refusal(objects), "f: line 1, column 321: is nested deeper than 64 levels");
}

TEST(StrictJson, KeepsMessagesShort) {
  EXPECT_LT(refusal("[\"" + std::string(1'000'000, 'x')).size(), 400U);
  auto const key = "\"" + std::string(1'000'000, 'k') + "\"";
  EXPECT_LT(refusal("{" + key + ":1," + key + ":2}").size(), 400U);
}

}  // namespace
}  // namespace bandgate
