// SPDX-License-Identifier: Apache-2.0
#include "records/violation.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "records/text.hpp"

namespace bandgate {
namespace {

using nlohmann::json;

json const& resolved(json const& root, json const& node) {
  if (!node.is_object() || !node.contains("$ref")) return node;
  auto const pointer = node["$ref"].get<std::string>().substr(1);  // "#/definitions/…"
  return resolved(root, root.at(json::json_pointer(pointer)));
}

struct spot {
  json const* rule;   ///< the part of the schema; null where there is none
  json const* value;  ///< the part of the document
};

/// One step from an array or an object into what it holds.
spot step(json const& root, spot from, std::string const& token) {
  auto const& rule = *from.rule;
  auto const& value = *from.value;
  json const* next = nullptr;
  if (value.is_array()) {
    if (rule.contains("items")) next = &resolved(root, rule["items"]);
    return {next, &value[json::json_pointer("/" + token)]};
  }
  if (rule.contains("properties") && rule["properties"].contains(token))
    next = &resolved(root, rule["properties"][token]);
  else if (rule.contains("additionalProperties") && rule["additionalProperties"].is_object())
    next = &resolved(root, rule["additionalProperties"]);
  return {next, &value.at(token)};
}

std::optional<spot> find(json const& root, json const& document, json_path const& path) {
  spot at{&resolved(root, root), &document};
  for (auto const& token : path) {
    if (at.rule == nullptr || !at.value->is_structured()) return std::nullopt;
    at = step(root, at, token);
  }
  if (at.rule == nullptr) return std::nullopt;
  return at;
}

bool is_of_type(json const& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  return value.is_object();
}

std::string with_article(std::string const& type) {
  if (type == "null") return type;
  if (type == "integer") return "a whole number";
  return (type == "array" || type == "object" ? "an " : "a ") + type;
}

bool combines(json const& rule) {
  std::array const keywords{"oneOf", "anyOf", "allOf", "not", "if"};
  return std::any_of(keywords.begin(), keywords.end(), [&](auto k) { return rule.contains(k); });
}

/// The description of a rule of its own; beside a combination it is that one's.
std::string hint(json const& rule) {
  return rule.contains("description") && !combines(rule)
             ? " (" + rule["description"].get<std::string>() + ")"
             : "";
}

using reason = std::optional<std::string>;

reason wrong_type(json const& rule, json const& value) {
  if (!rule.contains("type")) return std::nullopt;
  auto const types = rule["type"].is_array() ? rule["type"] : json::array({rule["type"]});
  std::string wanted;
  for (std::string const type : types) {
    if (is_of_type(value, type)) return std::nullopt;
    wanted += (wanted.empty() ? "" : " or ") + with_article(type);
  }
  return fmt::format("{} is not {}{}", shortened(value), wanted, hint(rule));
}

reason wrong_choice(json const& rule, json const& value) {
  if (rule.contains("const") && rule["const"] != value)
    return fmt::format("{} is not {}", shortened(value), rule["const"].dump());
  if (!rule.contains("enum")) return std::nullopt;
  std::string all;
  for (auto const& allowed : rule["enum"]) {
    if (allowed == value) return std::nullopt;
    all += (all.empty() ? "" : ", ") + allowed.dump();
  }
  return fmt::format("{} is none of {}", shortened(value), all);
}

reason out_of_bounds(json const& rule, json const& value) {
  if (!value.is_number()) return std::nullopt;
  auto const number = value.get<double>();
  auto const says = [&](char const* bound, char const* what, auto broken) -> reason {
    if (!rule.contains(bound) || !broken(number, rule[bound].template get<double>()))
      return std::nullopt;
    return fmt::format("{} is {} {}{}", shortened(value), what, rule[bound].dump(), hint(rule));
  };
  if (auto r = says("minimum", "below", std::less<>{})) return r;
  if (auto r = says("maximum", "above", std::greater<>{})) return r;
  if (auto r = says("exclusiveMinimum", "not above", std::less_equal<>{})) return r;
  return says("exclusiveMaximum", "not below", std::greater_equal<>{});
}

reason wrong_text(json const& rule, json const& value) {
  if (!value.is_string()) return std::nullopt;
  auto const& text = value.get_ref<std::string const&>();
  auto const characters = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  if (rule.contains("minLength") && characters < rule["minLength"].get<std::size_t>())
    return fmt::format("{} is too short{}", shortened(value), hint(rule));
  if (rule.contains("maxLength") && characters > rule["maxLength"].get<std::size_t>())
    return fmt::format("{} is longer than {} characters", shortened(value),
                       rule["maxLength"].dump());
  if (rule.contains("pattern") &&
      !std::regex_search(text, std::regex(rule["pattern"].get<std::string>())))
    return fmt::format("{} is not {}", shortened(value),
                       rule.value("description", rule["pattern"].get<std::string>()));
  return std::nullopt;
}

reason wrong_count(json const& rule, json const& value) {
  if (!value.is_array()) return std::nullopt;
  if (rule.contains("minItems") && value.size() < rule["minItems"].get<std::size_t>())
    return fmt::format("has {} items, fewer than {}", value.size(), rule["minItems"].dump());
  if (rule.contains("maxItems") && value.size() > rule["maxItems"].get<std::size_t>())
    return fmt::format("has {} items, more than {}", value.size(), rule["maxItems"].dump());
  return std::nullopt;
}

std::string keys_of(json const& properties) {
  std::string all;
  for (auto const& item : properties.items()) all += (all.empty() ? "" : ", ") + item.key();
  return all;
}

/// Before a missing key: a misspelt one is both, and its own name tells more.
std::optional<violation> unknown_key(json const& rule, json const& value, json::json_pointer at) {
  if (!value.is_object() || rule.value("additionalProperties", json()) != json(false))
    return std::nullopt;
  auto const properties = rule.value("properties", json::object());
  for (auto const& item : value.items()) {
    if (properties.contains(item.key())) continue;
    return violation{(at / item.key()).to_string(),
                     fmt::format("is an unknown key; known here are {}", keys_of(properties))};
  }
  return std::nullopt;
}

reason missing_key(json const& rule, json const& value) {
  if (!value.is_object() || !rule.contains("required")) return std::nullopt;
  for (auto const& name : rule["required"])
    if (!value.contains(name.get<std::string>()))
      return fmt::format("lacks the key {}", name.dump());
  return std::nullopt;
}

std::optional<violation> own_violation(spot const& at, json::json_pointer const& pointer) {
  for (auto* check : {wrong_type, wrong_choice, out_of_bounds, wrong_text, wrong_count})
    if (auto r = check(*at.rule, *at.value)) return violation{pointer.to_string(), *r};
  if (auto unknown = unknown_key(*at.rule, *at.value, pointer)) return unknown;
  if (auto r = missing_key(*at.rule, *at.value)) return violation{pointer.to_string(), *r};
  return std::nullopt;
}

json::json_pointer pointer_to(json_path const& path) {
  json::json_pointer pointer;
  for (auto const& token : path) pointer /= token;
  return pointer;
}

}  // namespace

violation explain(json const& schema, json const& document, std::vector<json_path> places) {
  std::stable_sort(places.begin(), places.end(),
                   [](auto const& a, auto const& b) { return a.size() > b.size(); });
  for (auto const& path : places)
    if (auto const at = find(schema, document, path))
      if (auto found = own_violation(*at, pointer_to(path))) return *found;
  for (auto const& path : places)
    if (auto const at = find(schema, document, path); at && combines(*at->rule))
      return {pointer_to(path).to_string(),
              at->rule->value("description", "does not satisfy the schema")};
  return {pointer_to(places.front()).to_string(), "does not satisfy the schema"};
}

}  // namespace bandgate
