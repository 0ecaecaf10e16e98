// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

#include <bandgate/result.hpp>

namespace bandgate {

/// The document of schema bandgate.result/1. Never NaN or infinity: null instead.
nlohmann::ordered_json to_json(result const& r);

/// Reads a document back. Throws usage_error naming the JSON pointer and the reason when it does
/// not satisfy the schema; `origin` is the file it came from.
result result_from_json(nlohmann::json const& document, std::string const& origin);

/// Reads of a document what judging looks at; members that it does not need may be absent, and the
/// schema is not asked, which takes most of the time. Throws usage_error naming the pointer where
/// something is missing that a verdict depends on.
result result_for_judging(nlohmann::json const& document, std::string const& origin);

/// The `device` part alone, as programs hand it to each other.
nlohmann::ordered_json device_to_json(device_identity const& device);
/// Throws usage_error for a document that lacks a member or has one of another type.
device_identity device_from_json(nlohmann::json const& document, std::string const& origin);

/// The `health` part alone, likewise.
nlohmann::ordered_json health_to_json(health const& seen);
/// Throws usage_error for a document that lacks a member or has one of another type.
health health_from_json(nlohmann::json const& document, std::string const& origin);

/// What no result file is larger than, in bytes.
inline constexpr std::uintmax_t largest_result = 16ULL << 20;

/// Same for a file; refuses what is not a regular file, is above 16 MiB, or is not JSON in UTF-8.
result read_result(std::filesystem::path const& file);

}  // namespace bandgate
