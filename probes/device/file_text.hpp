// SPDX-License-Identifier: Apache-2.0
/// Small files of /proc and /sys. Nothing here throws: what cannot be read is absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bandgate {

bool file_exists(std::filesystem::path const& file);

/// At most 16 MiB of the file (a cpuinfo of 1 000 threads is 2 MB), or none.
std::optional<std::string> read_text(std::filesystem::path const& file);

/// The file's first line without surrounding blanks; empty where there is none.
std::string read_line(std::filesystem::path const& file);

/// A whole number in decimal or with 0x; none for any other text, "max" included.
std::optional<std::uint64_t> read_number(std::filesystem::path const& file);
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Names in a folder, sorted; empty where it cannot be read.
std::vector<std::string> names_in(std::filesystem::path const& folder);

std::vector<std::string> lines_of(std::string_view text);

/// The part after the colon of the first line that begins with `key` and a colon, trimmed.
std::string value_of(std::string_view text, std::string_view key);

std::string_view trimmed(std::string_view text);

/// `text` in one line: every run of blanks and control characters is one space.
std::string one_line(std::string_view text);

/// Up to the first zero, in one line of printable ASCII: names of processes are whatever their
/// owners chose.
std::string printable(char const* text, std::size_t length);

/// "0-3,8" as {0, 1, 2, 3, 8}; none where the text is not such a list.
std::optional<std::set<unsigned>> parse_cpu_list(std::string_view text);

}  // namespace bandgate
