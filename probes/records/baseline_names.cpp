// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "records/baselines.hpp"

namespace bandgate {
namespace {

/// Of ASCII alone: the C library's depends on the locale (a Turkish one has no lower-case "I").
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result;
  for (char const c : text) result += lower(c);
  return result;
}

void remove_all(std::string& text, std::string_view what) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what))
    text.erase(at, what.size());
}

std::string single_spaced(std::string_view text) {
  std::string result;
  bool gap = false;
  for (char const c : text) {
    bool const space = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!space && gap && !result.empty()) result += ' ';
    if (!space) result += c;
    gap = space;
  }
  return result;
}

/// FNV-1a, 32 bits: tells names apart that were cut at the same place.
std::string short_hash(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15U];
  return digits;
}

}  // namespace

std::string normalized_name(std::string const& name) {
  std::string text = lower(name);
  remove_all(text, "(tm)");
  remove_all(text, "(r)");
  text = single_spaced(text);
  constexpr std::array<std::string_view, 3> brands{"nvidia ", "tesla ", "geforce "};
  for (bool again = true; again;) {
    again = false;
    for (auto const brand : brands)
      if (text.starts_with(brand)) {
        text.erase(0, brand.size());
        again = true;
      }
  }
  return text;
}

std::string baseline_name(device_identity const& device) {
  if (device.backend != "host") return device.name;
  auto const& cpu = device.cpu_model.empty() ? device.name : device.cpu_model;
  if (!device.processors) return cpu;
  return cpu + " x" + std::to_string(*device.processors) + " threads";
}

std::string file_name_for(std::string const& model) {
  constexpr std::size_t longest = 64;
  std::string text = lower(model);
  remove_all(text, "(tm)");
  remove_all(text, "(r)");
  std::string name;
  for (char const c : text) {
    bool const kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) name += c;
    if (!kept && !name.empty() && name.back() != '-') name += '-';
  }
  if (!name.empty() && name.back() == '-') name.pop_back();
  if (name.empty()) return "device-" + short_hash(model);
  if (name.size() <= longest) return name;
  auto const hash = short_hash(model);
  name.resize(longest - hash.size() - 1);
  if (name.back() == '-') name.pop_back();
  return name + "-" + hash;
}

}  // namespace bandgate
