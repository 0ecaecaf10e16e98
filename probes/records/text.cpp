// SPDX-License-Identifier: Apache-2.0
#include "records/text.hpp"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

namespace bandgate {
namespace {

using nlohmann::json;

std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;  // never within a character
  return text.substr(0, most) + "...";
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  auto const replaced = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(replaced).get<std::string>();
}

std::string printable(std::string_view text) {
  auto line = cut(valid_utf8(text), 200);
  auto const is_control = [](unsigned char c) { return c < ' ' || c == '\x7f'; };
  std::replace_if(line.begin(), line.end(), is_control, '?');
  return line;
}

std::string shortened(json const& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return cut(value.dump(-1, ' ', true, json::error_handler_t::replace), 60);
}

}  // namespace bandgate
