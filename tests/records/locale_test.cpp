// SPDX-License-Identifier: Apache-2.0
/// A locale with a decimal comma, with grouped digits or with Turkish letters changes no output.
#include <clocale>
#include <cstdlib>
#include <locale>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "records/child_process.hpp"
#include "records/result_fixture.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"
#include "records/schema.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using testing::error_of;
using testing::full_result;
using testing::in_child;
using testing::temporary_folder;

/// Everything of this layer that turns values into text or back.
std::string all_output() {
  auto r = full_result();
  r.measurement->samples = {1234567.875, 0.5, 4.6e12};
  auto text = to_json(r).dump();
  auto const back = result_from_json(parse_strict(text, "text"), "text");
  auto document = nlohmann::json::parse(text);
  document["measurement"]["cv"] = -1234567.5;
  return text + to_json(back).dump() + rfc3339(std::chrono::system_clock::time_point{}) +
         error_of([&] { result_from_json(document, "text"); }) +
         error_of([] { parse_strict("[1.5, NaN]", "text"); }) +
         error_of([] { read_text("/proc/self/maps", 10); });
}

struct comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Locale, OfStreamsChangesNothing) {
  auto const expected = all_output();
  EXPECT_EQ(in_child([] {
              std::locale::global(std::locale(std::locale::classic(), new comma));
              return all_output();
            }),
            expected);
}

/// Uses the machine's locale or compiles it; false where there is neither.
bool set_locale(std::string const& name, temporary_folder const& folder) {
  if (std::setlocale(LC_ALL, (name + ".UTF-8").c_str()) != nullptr) return true;
  auto const command = "localedef -i " + name + " -f UTF-8 " + folder.path().string() + "/" + name +
                       ".UTF-8 >/dev/null 2>&1";
  if (std::system(command.c_str()) != 0) return false;
  ::setenv("LOCPATH", folder.path().c_str(), 1);
  return std::setlocale(LC_ALL, (name + ".UTF-8").c_str()) != nullptr;
}

class LocaleOf : public ::testing::TestWithParam<char const*> {};

TEST_P(LocaleOf, ThePersonChangesNothing) {
  auto const expected = all_output();
  temporary_folder const folder;
  auto const seen = in_child([&]() -> std::string {
    if (!set_locale(GetParam(), folder)) return "skip";
    if (std::string(std::localeconv()->decimal_point) != ",") return "not that locale";
    std::locale::global(std::locale(std::string(GetParam()) + ".UTF-8"));
    return all_output();
  });
  if (seen == "skip") GTEST_SKIP() << GetParam() << " is not on this machine";
  EXPECT_EQ(seen, expected);
}

INSTANTIATE_TEST_SUITE_P(Records, LocaleOf, ::testing::Values("de_DE", "tr_TR"),
                         [](auto const& of) { return std::string(of.param); });

}  // namespace
}  // namespace bandgate
