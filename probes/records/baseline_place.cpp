// SPDX-License-Identifier: Apache-2.0
#include "records/baseline_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <bandgate/errors.hpp>

#include "records/text.hpp"

namespace bandgate {
namespace {

std::string joined(std::initializer_list<std::string_view> words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

void place::refuse(std::string const& reason, std::string const& remedy) const {
  auto const at = pointer();
  throw usage_error(
      fmt::format("{}: {}: {}; {}", origin_, at.empty() ? "/" : printable(at), reason, remedy));
}

place place::operator/(std::string const& key) const {
  if (!has(key)) refuse("\"" + key + "\" is missing", "add it");
  return {&value_->at(key), at_ / key, origin_};
}

place place::operator/(std::size_t index) const {
  return {&value_->at(index), at_ / index, origin_};
}

void place::must_be_object(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object())
    refuse(shortened(*value_) + " is not an object", "write {...} with " + joined(keys));
  for (auto const& [key, ignored] : value_->items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      (*this / key).refuse("unknown key", "remove it, or write one of " + joined(keys));
}

void place::must_be_list() const {
  if (!value_->is_array()) refuse(shortened(*value_) + " is not an array", "write [...]");
}

double place::number() const {
  if (value_->is_string())
    refuse(shortened(*value_) + " is text", "write a number, without quotes or unit");
  if (!value_->is_number()) refuse(shortened(*value_) + " is not a number", "write a number");
  return value_->get<double>();
}

unsigned place::count() const {
  constexpr std::uint64_t most = 1000000;
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() < 1 ||
      value_->get<std::uint64_t>() > most)
    refuse(shortened(*value_) + " is not a count", "write a whole number from 1 to 1000000");
  return value_->get<unsigned>();
}

std::string place::text() const {
  if (!value_->is_string() || value_->get_ref<std::string const&>().empty())
    refuse(shortened(*value_) + " is not a text", "write a text that is not empty, in quotes");
  return value_->get<std::string>();
}

std::string place::one_of(std::initializer_list<std::string_view> words) const {
  if (!value_->is_string() ||
      std::find(words.begin(), words.end(), value_->get_ref<std::string const&>()) == words.end())
    refuse(shortened(*value_) + " is unknown here", "write one of " + joined(words));
  return value_->get<std::string>();
}

}  // namespace bandgate
