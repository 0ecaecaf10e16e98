// SPDX-License-Identifier: Apache-2.0
#include "device/file_text.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace bandgate {
namespace {

constexpr std::size_t largest_file = std::size_t{16} << 20;
/// More than any machine has; stops a damaged list from filling memory.
constexpr unsigned largest_cpu = 1U << 20;

}  // namespace

bool file_exists(std::filesystem::path const& file) {
  std::error_code failed;
  return std::filesystem::exists(file, failed);
}

std::optional<std::string> read_text(std::filesystem::path const& file) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::string text;
  char block[4096];
  while (text.size() < largest_file && in.read(block, sizeof block).gcount() > 0)
    text.append(block, static_cast<std::size_t>(in.gcount()));
  if (in.bad() || (!in.eof() && text.empty())) return std::nullopt;
  return text;
}

std::string read_line(std::filesystem::path const& file) {
  auto const text = read_text(file).value_or("");
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  text = trimmed(text);
  int const base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  std::uint64_t value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_number(std::filesystem::path const& file) {
  return parse_number(read_line(file));
}

std::vector<std::string> names_in(std::filesystem::path const& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string value_of(std::string_view text, std::string_view key) {
  for (auto const& line : lines_of(text)) {
    auto const colon = line.find(':');
    if (colon != std::string::npos && trimmed(std::string_view(line).substr(0, colon)) == key)
      return std::string(trimmed(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks{" \t\r\n\v\f\0", 7};
  auto const from = text.find_first_not_of(blanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (char const c : trimmed(text)) {
    bool const blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

std::optional<std::set<unsigned>> parse_cpu_list(std::string_view text) {
  std::set<unsigned> cpus;
  text = trimmed(text);
  while (!text.empty()) {
    auto const end = std::min(text.find(','), text.size());
    auto const range = text.substr(0, end);
    auto const dash = range.find('-');
    auto const first = parse_number(range.substr(0, dash));
    auto const last = dash == std::string_view::npos ? first : parse_number(range.substr(dash + 1));
    if (!first || !last || *first > *last || *last > largest_cpu) return std::nullopt;
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.insert(static_cast<unsigned>(cpu));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return cpus;
}

std::string printable(char const* text, std::size_t length) {
  std::string out(text, std::find(text, text + length, '\0'));
  for (char& c : out)
    if (static_cast<unsigned char>(c) >= 0x7f || (c > '\0' && c < ' ' && c != '\n' && c != '\t'))
      c = '?';
  return one_line(out);
}

}  // namespace bandgate
