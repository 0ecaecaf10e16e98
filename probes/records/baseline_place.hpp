// SPDX-License-Identifier: Apache-2.0
/// A place in a baseline document: reads what is there, or says what is wrong with it. Internal to
/// records/.
#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace bandgate {

class place {
 public:
  place(nlohmann::json const& document, std::string origin)
      : value_(&document), origin_(std::move(origin)) {}

  /// Throws usage_error "ORIGIN: /json/pointer: reason; remedy".
  [[noreturn]] void refuse(std::string const& reason, std::string const& remedy) const;

  nlohmann::json const& value() const noexcept { return *value_; }
  std::string pointer() const { return at_.to_string(); }
  std::string const& origin() const noexcept { return origin_; }

  bool has(std::string const& key) const { return value_->contains(key); }
  /// False for a key that is absent or null: both say "not stated".
  bool states(std::string const& key) const { return has(key) && !value_->at(key).is_null(); }
  /// The member of that key; refuses its absence.
  place operator/(std::string const& key) const;
  place operator/(std::size_t index) const;

  void must_be_object(std::initializer_list<std::string_view> keys) const;
  void must_be_list() const;
  double number() const;
  unsigned count() const;
  std::string text() const;
  std::string one_of(std::initializer_list<std::string_view> words) const;

 private:
  place(nlohmann::json const* value, nlohmann::json::json_pointer at, std::string origin)
      : value_(value), at_(std::move(at)), origin_(std::move(origin)) {}

  nlohmann::json const* value_;
  nlohmann::json::json_pointer at_;
  std::string origin_;
};

}  // namespace bandgate
