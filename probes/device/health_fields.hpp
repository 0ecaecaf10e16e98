// SPDX-License-Identifier: Apache-2.0
/// The health table: its fields' names, and how a value of it is made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <bandgate/result.hpp>

namespace bandgate {

/// Every field of a snapshot, in alphabetical order.
std::span<std::string_view const> health_field_names();

health_field known(std::variant<double, bool, std::string> value);
health_field not_supported();
health_field unavailable(std::string why);

/// A snapshot in which every field is unavailable for one reason.
health_snapshot nothing_known(std::string const& why);

}  // namespace bandgate
