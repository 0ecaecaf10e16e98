// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bandgate {

/// A file compiled into the program, so that one binary is all that a node needs.
struct embedded_file {
  std::string_view name;  ///< "nvidia-h200.json", "result.schema.json"
  std::string_view text;
};
std::vector<embedded_file> const& embedded_schemas();
std::vector<embedded_file> const& embedded_baselines();

/// Strict JSON in UTF-8: no duplicate keys, no NaN or Infinity, no number that overflows, no
/// comment, nothing after the document. Throws usage_error "ORIGIN: line L, column C: reason".
nlohmann::json parse_strict(std::string const& text, std::string const& origin);

/// The whole of a regular file of at most `most` bytes. Throws usage_error naming it and the reason
/// (missing, a directory, a device, too large, unreadable).
std::string read_text(std::filesystem::path const& file, std::uintmax_t most);

/// Holds a document against an embedded schema ("result", "baseline", "scripted"). Throws
/// usage_error "ORIGIN: /json/pointer: reason" for the first violation, deepest place first.
void validate(nlohmann::json const& document, std::string_view schema, std::string const& origin);

}  // namespace bandgate
