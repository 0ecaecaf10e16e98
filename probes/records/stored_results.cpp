// SPDX-License-Identifier: Apache-2.0
#include "records/stored_results.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "records/result_json.hpp"
#include "records/schema.hpp"

namespace bandgate {
namespace {

namespace fs = std::filesystem;

/// Whether a folder below the results is of a year, month or day before the first one.
bool is_earlier(fs::path const& folder, fs::path const& below, std::string const& first_day) {
  static std::regex const dated(R"(\d{4}(/\d{2}(/\d{2})?)?)");
  auto const name = folder.lexically_relative(below).generic_string();
  return std::regex_match(name, dated) && name < first_day.substr(0, name.size());
}

std::string text_of(std::chrono::sys_days day) {
  std::chrono::year_month_day const date(day);
  return fmt::format("{:04}/{:02}/{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

using on_broken = std::function<void(std::string const& why)>;

/// Whether a folder's names can be read; says so where not, and the others are read on.
bool can_be_listed(fs::path const& folder, on_broken const& broken) {
  std::error_code error;
  fs::directory_iterator const names(folder, error);
  if (error) broken(folder.string() + ": cannot be listed: " + error.message());
  return !error;
}

std::vector<fs::path> files_of(fs::path const& folder, stored_selection const& which,
                               on_broken const& broken) {
  std::vector<fs::path> files;
  std::error_code error;
  auto const kind = fs::status(folder, error).type();
  if (kind == fs::file_type::not_found) return files;
  if (kind != fs::file_type::directory)
    throw usage_error(folder.string() + ": " +
                      (error ? "cannot be read: " + error.message() : "is no folder") +
                      "; name the folder of the results");
  if (!can_be_listed(folder, broken)) return files;
  auto const first = which.first_day ? text_of(*which.first_day) : "";
  fs::recursive_directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    auto const& path = entry->path();
    std::error_code unknown;  // a link that leads nowhere is no folder
    if (entry->is_directory(unknown) && !entry->is_symlink(unknown)) {
      if ((!first.empty() && is_earlier(path, folder, first)) || !can_be_listed(path, broken))
        entry.disable_recursion_pending();
    } else if (path.extension() == ".json" && !path.filename().string().starts_with(".")) {
      files.push_back(path);
    }
  }
  if (error) broken(folder.string() + ": " + error.message());
  std::sort(files.begin(), files.end(), [](fs::path const& a, fs::path const& b) {
    return std::pair(a.filename(), a) > std::pair(b.filename(), b);
  });
  return files;
}

/// Whether a file need not be parsed: on a share of many nodes that is nearly every file.
bool passed_over(std::string const& text, std::vector<std::string> const& mentions) {
  auto const end = text.find_last_not_of(" \t\r\n");
  bool const whole = !text.empty() && text.front() == '{' && text[end] == '}';
  if (mentions.empty() || !whole) return false;
  return std::none_of(mentions.begin(), mentions.end(), [&](std::string const& word) {
    return text.find(word) != std::string::npos;
  });
}

/// As they stand in a file: quoted. What another writer may escape differently is no filter.
std::vector<std::string> quoted(std::vector<std::string> const& words) {
  std::vector<std::string> all;
  for (auto const& word : words) {
    auto const text =
        nlohmann::json(word).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.find('\\') != std::string::npos) return {};
    all.push_back(text);
  }
  return all;
}

}  // namespace

void read_stored(fs::path const& folder, stored_selection const& which,
                 std::function<void(result&&)> const& found,
                 std::function<void(std::string const& why)> const& broken) {
  auto const mentions = quoted(which.mentions);
  for (auto const& file : files_of(folder, which, broken)) {
    try {
      auto const origin = file.string();
      auto const text = read_text(file, largest_result);
      if (passed_over(text, mentions)) continue;
      auto const document = parse_strict(text, origin);
      if (which.wanted && !which.wanted(document)) continue;
      found(result_from_json(document, origin));
    } catch (usage_error const& e) {
      broken(e.what());
    }
  }
}

std::optional<std::chrono::system_clock::time_point> parse_time(std::string const& rfc3339) {
  using namespace std::chrono;
  static std::regex const form(
      R"((\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.]\d{1,9})?(Z|([+-])(\d\d):(\d\d))?)");
  std::smatch part;
  if (!std::regex_match(rfc3339, part, form)) return std::nullopt;
  auto const number = [&](std::size_t i) { return std::stoi(part[i].str()); };
  year_month_day const date(year(number(1)), month(static_cast<unsigned>(number(2))),
                            day(static_cast<unsigned>(number(3))));
  // What a clock of nanoseconds can count. 60 is a leap second, which no clock here counts.
  if (number(1) < 1970 || number(1) > 2261) return std::nullopt;
  if (!date.ok() || number(4) > 23 || number(5) > 59 || number(6) > 60) return std::nullopt;
  auto fraction = part[7].matched ? part[7].str().substr(1) : "";
  fraction.resize(9, '0');
  auto offset = minutes(0);
  if (part[9].matched) offset = hours(number(10)) + minutes(number(11));
  if (part[9] == "-") offset = -offset;
  return time_point_cast<system_clock::duration>(sys_days(date) + hours(number(4)) +
                                                 minutes(number(5)) + seconds(number(6)) +
                                                 nanoseconds(std::stol(fraction)) - offset);
}

}  // namespace bandgate
