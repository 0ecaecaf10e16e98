// SPDX-License-Identifier: Apache-2.0
#include "records/result_json.hpp"

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "records/fields.hpp"
#include "records/schema.hpp"
#include "records/text.hpp"

namespace bandgate {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr char const* schema_id = "bandgate.result/1";
constexpr std::array all_states{status::pass,    status::improved,     status::regression,
                                status::error,   status::inconclusive, status::no_baseline,
                                status::skipped, status::measured};
constexpr std::array all_field_states{health_field::state::ok, health_field::state::not_supported,
                                      health_field::state::unavailable};

char const* to_string(health_field::state s) {
  if (s == health_field::state::ok) return "ok";
  return s == health_field::state::not_supported ? "not-supported" : "unavailable";
}

/// To JSON, one overload of `of` a type.
struct encoder {
  static ordered_json of(std::string const& text) { return valid_utf8(text); }
  static ordered_json of(bool value) { return value; }
  static ordered_json of(std::integral auto value) { return value; }
  static ordered_json of(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
  }
  static ordered_json of(status value) { return to_string(value); }
  static ordered_json of(fields::unit_of<bool const> unit) { return unit.is_time ? "s" : "B/s"; }

  template <class Code, class Message>
  static ordered_json of(fields::failure_of<Code, Message> f) {
    if (!f.code) return nullptr;
    return {{"code", to_string(*f.code)}, {"message", of(f.message)}};
  }

  static ordered_json of(health_field const& field) {
    auto const value = std::visit([](auto const& v) { return of(v); }, field.value);
    auto const ok = field.status == health_field::state::ok;
    if (ok && value.is_null())
      return {{"state", "unavailable"}, {"value", nullptr}, {"why", "was not a finite number"}};
    return {{"state", to_string(field.status)},
            {"value", ok ? value : ordered_json()},
            {"why", of(field.why)}};
  }

  template <class... T>
  static ordered_json of(std::variant<T...> const& value) {
    return std::visit([](auto const& v) { return of(v); }, value);
  }
  template <class T>
  static ordered_json of(std::optional<T> const& value) {
    return value ? of(*value) : ordered_json();
  }
  template <class T>
  static ordered_json of(std::vector<T> const& values) {
    auto list = ordered_json::array();
    for (auto const& value : values) list.push_back(of(value));
    return list;
  }
  template <class T>
  static ordered_json of(std::map<std::string, T> const& values) {
    auto object = ordered_json::object();
    for (auto const& [name, value] : values) object[valid_utf8(name)] = of(value);
    return object;
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  static ordered_json of(Struct const& value) {
    auto object = ordered_json::object();
    auto visit = [&](char const* name, auto const& field) { object[name] = of(field); };
    fields::each(visit, value);
    return object;
  }
};

/// The one fault that the schema lets through: its message lacks the file.
struct negative_parameter : usage_error {
  using usage_error::usage_error;
};

/// From JSON that satisfies the schema.
struct decoder {
  static void into(std::string& text, json const& from) { text = from.get<std::string>(); }
  static void into(bool& value, json const& from) { value = from.get<bool>(); }
  template <std::integral T>
  static void into(T& value, json const& from) {
    value = from.get<T>();
  }
  static void into(double& value, json const& from) {
    value = from.is_null() ? std::numeric_limits<double>::quiet_NaN() : from.get<double>();
  }
  static void into(status& value, json const& from) {
    for (auto const s : all_states)
      if (from == to_string(s)) value = s;
  }
  static void into(fields::unit_of<bool> unit, json const& from) { unit.is_time = from == "s"; }

  template <class Code, class Message>
  static void into(fields::failure_of<Code, Message> f, json const& from) {
    if (from.is_null()) return;
    f.code = failure_from(from.at("code").get<std::string>());
    f.message = from.at("message").get<std::string>();
  }

  static void into(health_field& field, json const& from) {
    for (auto const s : all_field_states)
      if (from.at("state") == to_string(s)) field.status = s;
    auto const& value = from.at("value");
    if (value.is_number()) field.value = value.get<double>();
    if (value.is_boolean()) field.value = value.get<bool>();
    if (value.is_string()) field.value = value.get<std::string>();
    into(field.why, from.at("why"));
    if (field.status == health_field::state::ok && value.is_null())
      field = {health_field::state::unavailable, {}, "has no value"};
  }
  static void into(parameter_value& value, json const& from) {
    if (from.is_string()) value = from.get<std::string>();
    // Not in the schema: the validator takes numbers above 2^63 for negative ones.
    else if (!from.is_number_unsigned())
      throw negative_parameter(fmt::format("parameters: {} is negative", shortened(from)));
    else
      value = from.get<std::uint64_t>();
  }
  template <class T>
  static void into(std::optional<T>& value, json const& from) {
    if (!from.is_null()) into(value.emplace(), from);
  }
  template <class T>
  static void into(std::vector<T>& values, json const& from) {
    for (auto const& item : from) into(values.emplace_back(), item);
  }
  template <class T>
  static void into(std::map<std::string, T>& values, json const& from) {
    for (auto const& item : from.items()) into(values[item.key()], item.value());
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  static void into(Struct& value, json const& from) {
    auto visit = [&](char const* name, auto&& field) {
      // What the schema does not require came later than the first results.
      if (auto const found = from.find(name); found != from.end()) into(field, *found);
    };
    fields::each(visit, value);
  }
};

/// What a verdict depends on and no default may stand for.
void require_what_is_judged(json const& document, std::string const& origin) {
  auto const require = [&](char const* pointer) {
    if (!document.contains(json::json_pointer(pointer)))
      throw usage_error(
          fmt::format("{}: {}: is missing, and the verdict depends on it", origin, pointer));
  };
  if (document.contains("schema") && document["schema"] != schema_id)
    throw usage_error(
        fmt::format("{}: /schema: {} is not {}", origin, shortened(document["schema"]), schema_id));
  for (auto const* pointer : {"/device/backend", "/probe/name", "/probe/parameters"})
    require(pointer);
  bool const measured = document.contains("measurement") && !document["measurement"].is_null();
  if (!measured && !document.contains("failure") && !document.contains("skip_reason"))
    require("/measurement");
  if (!measured) return;
  for (auto const* pointer :
       {"/measurement/unit", "/measurement/median", "/measurement/peak", "/measurement/unsettled",
        "/measurement/verified", "/measurement/samples"})
    require(pointer);
  if (auto const& unit = document["measurement"]["unit"]; unit != "B/s" && unit != "s")
    throw usage_error(fmt::format("{}: /measurement/unit: {} is neither \"B/s\" nor \"s\"", origin,
                                  shortened(unit)));
}

/// What no schema has checked.
template <class Part>
Part part_from_json(json const& document, std::string const& origin, char const* what) {
  Part part;
  if (!document.is_object())
    throw usage_error(fmt::format("{}: not a {}: no object", origin, what));
  try {
    decoder::into(part, document);
  } catch (json::exception const& error) {
    throw usage_error(fmt::format("{}: not a {}: {}", origin, what, error.what()));
  }
  return part;
}

}  // namespace

ordered_json to_json(result const& r) {
  ordered_json document{{"schema", schema_id}};
  document.update(encoder::of(r));
  return document;
}

result result_from_json(json const& document, std::string const& origin) {
  validate(document, "result", origin);
  result r;
  try {
    decoder::into(r, document);
  } catch (negative_parameter const& error) {
    throw usage_error(fmt::format("{}: /probe/{}", origin, error.what()));
  }
  return r;
}

result result_for_judging(json const& document, std::string const& origin) {
  if (document.is_object()) require_what_is_judged(document, origin);
  try {
    return part_from_json<result>(document, origin, "result");
  } catch (negative_parameter const& error) {
    throw usage_error(fmt::format("{}: /probe/{}", origin, error.what()));
  }
}

ordered_json device_to_json(device_identity const& device) {
  return encoder::of(device);
}

device_identity device_from_json(json const& document, std::string const& origin) {
  return part_from_json<device_identity>(document, origin, "device");
}

ordered_json health_to_json(health const& seen) {
  return encoder::of(seen);
}

health health_from_json(json const& document, std::string const& origin) {
  return part_from_json<health>(document, origin, "health");
}

result read_result(std::filesystem::path const& file) {
  auto const origin = file.string();
  return result_from_json(parse_strict(read_text(file, largest_result), origin), origin);
}

}  // namespace bandgate
