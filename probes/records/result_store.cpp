// SPDX-License-Identifier: Apache-2.0
#include "records/result_store.hpp"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "records/atomic_file.hpp"
#include "records/result_json.hpp"
#include "records/schema.hpp"

namespace bandgate {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(fs::path const& folder, std::error_code const& why) {
  throw usage_error(fmt::format(
      "{}: a result cannot be stored there: {}; name another folder with --results DIR, or "
      "--results none to store nothing",
      folder.string(), why.message()));
}

/// Whole and valid, or not written at all: a bad record would only be found by its readers.
std::string text_of(result const& r) {
  auto text = to_json(r).dump();
  auto const origin = "the result of " + r.probe.name;
  validate(parse_strict(text, origin), "result", origin);
  return text + "\n";
}

}  // namespace

std::string rfc3339(std::chrono::system_clock::time_point when) {
  using namespace std::chrono;
  auto const day = floor<days>(when);
  year_month_day const date(day);
  hh_mm_ss const time(floor<milliseconds>(when - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

fs::path store_result(result const& r, fs::path const& folder) {
  auto const text = text_of(r);
  auto const& date = r.run.started;  // "2026-11-29T…", as the schema has made sure
  auto const year = folder / date.substr(0, 4);
  auto const month = year / date.substr(5, 2);
  auto const day = month / date.substr(8, 2);
  auto const file = day / (r.run.id + ".json");

  std::error_code error;
  bool const is_new = fs::create_directories(day, error);
  if (error) refuse(folder, error);
  if (auto const failed = try_write_atomically(file, text)) refuse(folder, failed);
  if (is_new)
    for (auto const& above : {month, year, folder})
      if (auto const failed = sync_folder(above)) refuse(folder, failed);
  return file;
}

}  // namespace bandgate
