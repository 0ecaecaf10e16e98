// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include <bandgate/result.hpp>

namespace bandgate {

/// A variable of the environment, for as long as this lives.
class setting {
 public:
  setting(char const* name, char const* value) : name_(name) { setenv(name, value, 1); }
  ~setting() { unsetenv(name_); }
  setting(setting const&) = delete;
  setting& operator=(setting const&) = delete;

 private:
  char const* name_;
};

inline double number(health_snapshot const& fields, char const* name) {
  auto const& field = fields.at(name);
  EXPECT_EQ(field.status, health_field::state::ok) << name << ": " << field.why;
  auto const* const value = std::get_if<double>(&field.value);
  return field.status == health_field::state::ok && value != nullptr ? *value : -1;
}
/// Fails where the field is none, so that what was not read is never taken for false.
inline bool flag(health_snapshot const& fields, char const* name) {
  auto const& field = fields.at(name);
  EXPECT_EQ(field.status, health_field::state::ok) << name << ": " << field.why;
  auto const* const value = std::get_if<bool>(&field.value);
  EXPECT_NE(value, nullptr) << name;
  return value != nullptr && *value;
}
inline std::string text(health_snapshot const& fields, char const* name) {
  auto const& field = fields.at(name);
  EXPECT_EQ(field.status, health_field::state::ok) << name << ": " << field.why;
  auto const* const value = std::get_if<std::string>(&field.value);
  return value == nullptr ? "?" : *value;
}

}  // namespace bandgate
