// SPDX-License-Identifier: Apache-2.0
#include <bandgate/parameter.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <bandgate/errors.hpp>

namespace bandgate {
namespace {

struct suffix {
  std::string_view text;
  std::uint64_t factor;
};

/// "20G" is 20 GiB, as memory sizes are meant; "20GB" is the decimal one.
constexpr std::array<suffix, 14> suffixes{{{"", 1},
                                           {"B", 1},
                                           {"K", 1ULL << 10},
                                           {"KiB", 1ULL << 10},
                                           {"KB", 1000ULL},
                                           {"M", 1ULL << 20},
                                           {"MiB", 1ULL << 20},
                                           {"MB", 1000000ULL},
                                           {"G", 1ULL << 30},
                                           {"GiB", 1ULL << 30},
                                           {"GB", 1000000000ULL},
                                           {"T", 1ULL << 40},
                                           {"TiB", 1ULL << 40},
                                           {"TB", 1000000000000ULL}}};

[[noreturn]] void refuse(parameter const& declared, std::string_view text, std::string const& why) {
  throw usage_error("parameter " + declared.name + "=" + std::string(text) + ": " + why);
}

std::string join(std::vector<std::string> const& words) {
  std::string all;
  for (auto const& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::string example(parameter_kind kind) {
  if (kind == parameter_kind::size)
    return "write a size such as 64MiB, 20G (= 20GiB) or 20GB (10^9)";
  if (kind == parameter_kind::device) return "write a UUID, a PCI address or an index";
  return "write a whole number such as 4";
}

std::uint64_t parse_number(parameter const& declared, std::string_view text) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) refuse(declared, text, "is above 2^64 - 1");
  if (error != std::errc{} || end == text.data())
    refuse(declared, text, "is not a positive number; " + example(declared.kind));
  std::string_view const rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (declared.kind == parameter_kind::count) {
    if (!rest.empty())
      refuse(declared, text, "has text after the number; " + example(declared.kind));
    return number;
  }
  for (auto const& s : suffixes) {
    if (s.text != rest) continue;
    if (number > UINT64_MAX / s.factor) refuse(declared, text, "is above 2^64 - 1 bytes");
    return number * s.factor;
  }
  refuse(declared, text,
         "has an unknown unit '" + std::string(rest) + "'; " + example(declared.kind));
}

}  // namespace

std::string to_string(parameter_value const& value, parameter_kind kind) {
  if (auto const* word = std::get_if<std::string>(&value)) return *word;
  auto const number = std::get<std::uint64_t>(value);
  if (kind == parameter_kind::size && number != 0)
    for (auto const& [name, shift] : {std::pair{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}})
      if (number % (1ULL << shift) == 0) return std::to_string(number >> shift) + name;
  return std::to_string(number);
}

parameter_value parse_parameter(parameter const& declared, std::string_view text) {
  auto const& choices = declared.choices;
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string(text);
  if (declared.kind == parameter_kind::device && !text.empty()) return std::string(text);
  if (declared.kind == parameter_kind::choice)
    refuse(declared, text, "is not one of " + join(choices));
  if (declared.kind == parameter_kind::size && text == "auto" &&
      std::holds_alternative<std::string>(declared.fallback))
    return std::string(text);
  if (text.empty()) refuse(declared, text, "is empty; " + example(declared.kind));
  auto const number = parse_number(declared, text);
  if (number < declared.least)
    refuse(declared, text, "is below the least, " + to_string(declared.least, declared.kind));
  if (number > declared.most)
    refuse(declared, text, "is above the most, " + to_string(declared.most, declared.kind));
  return number;
}

parameters complete(std::vector<parameter> const& declared,
                    std::map<std::string, std::string> const& given) {
  parameters values;
  for (auto const& p : declared) values[p.name] = p.fallback;
  for (auto const& [name, text] : given) {
    auto const found = std::find_if(declared.begin(), declared.end(),
                                    [&](parameter const& p) { return p.name == name; });
    if (found == declared.end()) {
      std::vector<std::string> names;
      for (auto const& p : declared) names.push_back(p.name);
      throw usage_error("unknown parameter '" + name + "'; this probe has " +
                        (names.empty() ? "none" : join(names)));
    }
    values[name] = parse_parameter(*found, text);
  }
  return values;
}

parameters keyed(std::vector<parameter> const& declared, parameters values) {
  for (auto const& p : declared)
    if (!p.keyed && values.contains(p.name)) values[p.name] = p.fallback;
  return values;
}

std::string describe(std::vector<parameter> const& declared, parameters const& values) {
  std::string text;
  for (auto const& [name, value] : values) {
    auto const found = std::find_if(declared.begin(), declared.end(),
                                    [&](parameter const& p) { return p.name == name; });
    if (found == declared.end() || found->fallback == value) continue;
    text += (text.empty() ? "" : " ") + name + "=" + to_string(value, found->kind);
  }
  return text;
}

}  // namespace bandgate
