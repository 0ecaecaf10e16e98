// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bandgate {

/// A size in bytes, a count, or one of a list of words (also "auto" for a size).
using parameter_value = std::variant<std::uint64_t, std::string>;
using parameters = std::map<std::string, parameter_value>;

enum class parameter_kind {
  size,    ///< bytes: "64MiB", "20G" (=GiB), "20GB" (10^9), a plain number, or "auto"
  count,   ///< a whole number
  choice,  ///< one of `choices`
  device,  ///< a device: UUID, PCI address or index; or one of `choices`, such as "auto"
};

/// The parameter that names the other GPU of a transfer between two GPUs.
inline constexpr char const* peer_parameter = "peer";

/// One parameter of a probe, as it is declared and as `bandgate list --verbose` explains it.
struct parameter {
  std::string name;
  parameter_kind kind{};
  parameter_value fallback;  ///< the default, which completes a baseline's parameters too
  std::string help;
  std::vector<std::string> choices{};
  std::uint64_t least{1};          ///< smallest size or count
  std::uint64_t most{UINT64_MAX};  ///< largest size or count
  bool keyed{true};  ///< false: says where, not what, so a baseline holds for every value
};

/// Reads one value. Throws usage_error naming the parameter, the text, the reason and an example:
/// "", "-1", "0" below `least`, "1e30", "GBx", trailing text and overflow are all refused.
parameter_value parse_parameter(parameter const& declared, std::string_view text);

/// `given` completed with the defaults of `declared`. Throws usage_error for a name not declared.
parameters complete(std::vector<parameter> const& declared,
                    std::map<std::string, std::string> const& given);

/// `values` with every parameter that is not keyed at its default: what a baseline is found by.
parameters keyed(std::vector<parameter> const& declared, parameters values);

/// "window=64MiB dtype=u32": stable, sorted by name, sizes in their largest whole binary unit;
/// defaults left out. Empty when all are defaults.
std::string describe(std::vector<parameter> const& declared, parameters const& values);

std::string to_string(parameter_value const& value, parameter_kind kind);

}  // namespace bandgate
