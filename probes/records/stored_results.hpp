// SPDX-License-Identifier: Apache-2.0
/// Reading back what store_result() stored.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

namespace bandgate {

/// Which of a folder's results to read.
struct stored_selection {
  /// Folders of earlier days are not opened; none: all are. What is not in a folder of a day is
  /// always read.
  std::optional<std::chrono::sys_days> first_day{};
  /// Only files that hold one of these as a JSON string; empty: all. A file that is cut short or is
  /// no JSON object is not passed over: it is broken.
  std::vector<std::string> mentions{};
  /// Asked of each document before it is held against the schema, which takes most of the time;
  /// none: all are wanted.
  std::function<bool(nlohmann::json const&)> wanted{};
};

/// Every selected result of `folder`, the newest file (by name, a UUIDv7) first; none where there
/// is no such folder. `broken` hears of each file that is not a valid result, with file, place and
/// reason; the others go on. Throws std::filesystem::filesystem_error for a folder that cannot be
/// read.
void read_stored(std::filesystem::path const& folder, stored_selection const& which,
                 std::function<void(result&&)> const& found,
                 std::function<void(std::string const& why)> const& broken);

/// The moment that an RFC 3339 time names; without an offset it is UTC. None for what is no time:
/// month 13, 31 April.
std::optional<std::chrono::system_clock::time_point> parse_time(std::string const& rfc3339);

}  // namespace bandgate
