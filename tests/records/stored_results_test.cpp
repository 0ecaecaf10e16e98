// SPDX-License-Identifier: Apache-2.0
#include "records/stored_results.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "records/result_fixture.hpp"
#include "records/result_store.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using namespace std::chrono;
using testing::full_result;
using testing::temporary_folder;

/// Milliseconds since 1970; none for what is no time.
std::optional<std::int64_t> ms(std::string const& text) {
  auto const when = parse_time(text);
  if (!when) return std::nullopt;
  return duration_cast<milliseconds>(when->time_since_epoch()).count();
}

TEST(ParseTime, UnderstandsWhatWeWriteAndOffsets) {
  EXPECT_EQ(ms("1970-01-01T00:00:00.000Z"), 0);
  EXPECT_EQ(ms("2026-11-29T02:10:03.120Z"), 1795918203120);
  EXPECT_EQ(ms("2026-11-29T02:10:03"), 1795918203000);
  EXPECT_EQ(ms("2026-11-29T03:10:03+01:00"), 1795918203000);
  EXPECT_EQ(ms("2026-11-28T20:40:03.5-05:30"), 1795918203500);
  EXPECT_EQ(parse_time(rfc3339(system_clock::time_point(milliseconds(1795918203120)))),
            system_clock::time_point(milliseconds(1795918203120)));
}

TEST(ParseTime, RefusesWhatIsNoTime) {
  for (char const* text : {"", "today", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
                           "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01 00:00:00Z",
                           "2026-01-01T00:00:00Zx", "02026-01-01T00:00:00Z"})
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
}

struct reading {
  std::vector<std::string> ids, broken;
};

reading read(std::filesystem::path const& folder, stored_selection const& which = {}) {
  reading all;
  read_stored(
      folder, which, [&](result const& r) { all.ids.push_back(r.run.id); },
      [&](std::string const& why) { all.broken.push_back(why); });
  return all;
}

std::filesystem::path store(temporary_folder const& folder, std::string const& started,
                            std::string const& id, std::string const& node) {
  auto r = full_result();
  r.run.started = started;
  r.run.id = id;
  r.run.node = node;
  return store_result(r, folder.path());
}

constexpr char const* early = "019abcde-0000-7000-8000-000000000001";
constexpr char const* later = "019abcde-0000-7000-8000-000000000002";

TEST(StoredResults, ComeNewestFirstAndFromNoEarlierDay) {
  temporary_folder const folder;
  EXPECT_TRUE(read(folder.path() / "none").ids.empty());
  store(folder, "2026-11-28T23:59:59.000Z", early, "one");
  store(folder, "2026-11-29T00:00:00.000Z", later, "two");
  EXPECT_EQ(read(folder.path()).ids, (std::vector<std::string>{later, early}));
  auto const day = [](unsigned d) { return sys_days(year(2026) / 11 / d); };
  EXPECT_EQ(read(folder.path(), {.first_day = day(28)}).ids.size(), 2U);
  EXPECT_EQ(read(folder.path(), {.first_day = day(29)}).ids, std::vector<std::string>{later});
  EXPECT_TRUE(read(folder.path(), {.first_day = day(30)}).ids.empty());
}

TEST(StoredResults, AreFilteredBeforeTheyAreParsed) {
  temporary_folder const folder;
  store(folder, "2026-11-28T00:00:00.000Z", early, "one");
  auto const file = store(folder, "2026-11-28T00:00:00.000Z", later, "two");
  EXPECT_EQ(read(folder.path(), {.first_day = {}, .mentions = {"one"}}).ids,
            std::vector<std::string>{early});
  EXPECT_EQ(read(folder.path(), {.first_day = {}, .mentions = {"neither"}}).ids.size(), 0U);
  // What a writer may escape in several ways is no filter.
  EXPECT_EQ(read(folder.path(), {.first_day = {}, .mentions = {"\""}}).ids.size(), 2U);
  auto const wanted = [](nlohmann::json const& d) { return d["run"]["node"] == "two"; };
  EXPECT_EQ(read(folder.path(), {.first_day = {}, .mentions = {}, .wanted = wanted}).ids,
            std::vector<std::string>{later});
  std::ofstream(file) << "{ cut";
  EXPECT_EQ(read(folder.path(), {.first_day = {}, .mentions = {"one"}}).broken.size(), 1U);
}

}  // namespace
}  // namespace bandgate
