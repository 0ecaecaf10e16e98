// SPDX-License-Identifier: Apache-2.0
#include "gate/looks.hpp"

#include "gate/link.hpp"

namespace bandgate {
namespace {

template <class T>
std::optional<T> any_time(evidence const& known, char const* name) {
  auto const loaded = read<T>(known.health.load, name);
  return loaded ? loaded : read<T>(known.health.idle, name);
}

}  // namespace

std::optional<double> number(health_snapshot const& from, char const* name) {
  auto const value = read<double>(from, name);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

health_snapshot const& at_work(evidence const& known) {
  return at_rest(known) ? known.health.idle : known.health.load;
}

std::optional<double> number_any_time(evidence const& known, char const* name) {
  auto const loaded = number(known.health.load, name);
  return loaded ? loaded : number(known.health.idle, name);
}

std::optional<bool> flag_any_time(evidence const& known, char const* name) {
  return any_time<bool>(known, name);
}

std::optional<std::string> text_any_time(evidence const& known, char const* name) {
  return any_time<std::string>(known, name);
}

bool has_none(evidence const& known, char const* name) {
  auto const says_so = [&](health_snapshot const& from) {
    auto const found = from.find(name);
    return found != from.end() && found->second.status == health_field::state::not_supported;
  };
  return says_so(known.health.load) || says_so(known.health.idle);
}

bool failed(evidence const& known) {
  return !at_rest(known) && known.measured->failure.has_value();
}

bool between_gpus(evidence const& known) {
  return !at_rest(known) && known.measured->probe.parameters.contains(peer_parameter);
}

finding unread_or_none(evidence const& known, char const* name) {
  return {has_none(known, name) ? finding::state::irrelevant : finding::state::unknown};
}

}  // namespace bandgate
