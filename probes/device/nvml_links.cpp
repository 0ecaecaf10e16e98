// SPDX-License-Identifier: Apache-2.0
/// PCIe, NVLink and the fabric of switches that joins cards.
#include <algorithm>

#include "device/nvml_fields.hpp"

namespace bandgate {
namespace {

using nvml_abi::device;
namespace field = nvml_abi::field;

void add_pcie(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  fields["pcie_generation"] = amount(ask<unsigned>(symbols.pcie_generation, card));
  fields["pcie_generation_max"] = amount(ask<unsigned>(symbols.pcie_generation_max, card));
  fields["pcie_generation_card"] = amount(ask<unsigned>(symbols.pcie_generation_card, card));
  fields["pcie_width"] = amount(ask<unsigned>(symbols.pcie_width, card));
  fields["pcie_width_max"] = amount(ask<unsigned>(symbols.pcie_width_max, card));
  auto const replays = ask<unsigned>(symbols.pcie_replays, card);
  answer<double> got{replays.code, static_cast<double>(replays.value), replays.from};
  if (!got)
    got = either<double>(
        got, ask_fields(symbols, card,
                        {{field::pcie_replays, 0, "NVML_FI_DEV_PCIE_REPLAY_COUNTER"}})[0]);
  fields["pcie_replays"] = count(got);
}

/// A link that the card does not have is not a link that is down.
template <class T>
bool absent(answer<T> const& got) {
  return got.code == nvml_abi::not_supported || got.code == nvml_abi::invalid_argument;
}

/// The sum of what is counted; a counter that exists and cannot be read leaves the sum unknown.
answer<double> sum(std::vector<answer<double>> const& counters, char const* from) {
  answer<double> total{nvml_abi::not_supported, {}, from};
  for (auto const& counter : counters) {
    if (absent(counter)) continue;
    if (!counter) return counter;
    total.code = nvml_abi::success;
    total.value += counter.value;
  }
  return total;
}

answer<double> link_errors(nvml_symbols const& symbols, device card,
                           std::vector<unsigned> const& links,
                           std::vector<field_question> const& kinds) {
  std::vector<field_question> questions;
  for (auto const link : links)
    for (auto kind : kinds) {
      kind.scope = link;
      questions.push_back(kind);
    }
  auto const answers = ask_fields(symbols, card, questions);
  return sum({answers.begin(), answers.end()}, kinds.front().name);
}

answer<double> link_errors_one_by_one(nvml_symbols const& symbols, device card,
                                      std::vector<unsigned> const& links) {
  std::vector<answer<double>> all;
  for (auto const link : links)
    for (int const kind : {nvml_abi::link_error_replay, nvml_abi::link_error_recovery,
                           nvml_abi::link_error_crc_flit, nvml_abi::link_error_crc_data}) {
      auto const got = ask<unsigned long long>(symbols.link_errors, card, link, kind);
      all.push_back({got.code, static_cast<double>(got.value), got.from});
    }
  return sum(all, symbols.link_errors.name);
}

health_field link_errors(nvml_symbols const& symbols, device card,
                         std::vector<unsigned> const& links) {
  auto got = link_errors(symbols, card, links,
                         {{field::link_replays, 0, "NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY"},
                          {field::link_recoveries, 0, "NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY"},
                          {field::link_crc_errors, 0, "NVML_FI_DEV_NVLINK_ERROR_DL_CRC"}});
  auto const unknown = [&] { return absent(got) || got.code == nvml_abi::function_not_found; };
  if (unknown())
    got = link_errors(
        symbols, card, links,
        {{field::link_receive_errors, 0, "NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS"},
         {field::link_recovery_events, 0, "NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS"}});
  if (unknown()) got = either(got, link_errors_one_by_one(symbols, card, links));
  return count(got);
}

void add_nvlink(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  std::vector<unsigned> links;
  unsigned active = 0;
  for (unsigned link = 0; link < nvml_abi::most_links; ++link) {
    auto const state = ask<int>(symbols.link_state, card, link);
    if (absent(state)) continue;
    if (!state) {
      for (auto const* name : {"nvlink_links", "nvlink_active", "nvlink_errors"})
        fields[name] = refused(state);
      return;
    }
    links.push_back(link);
    if (state.value != 0) ++active;
  }
  bool const none = links.empty();
  fields["nvlink_links"] = none ? not_supported() : known(static_cast<double>(links.size()));
  fields["nvlink_active"] = none ? not_supported() : known(static_cast<double>(active));
  fields["nvlink_errors"] = none ? not_supported() : link_errors(symbols, card, links);
}

struct fabric_answer {
  unsigned char state{};
  nvml_abi::code status{};
};
template <class T>
answer<fabric_answer> told(answer<T> const& got) {
  return {got.code, {got.value.state, got.value.status}, got.from};
}

answer<fabric_answer> fabric(nvml_symbols const& symbols, device card) {
  auto got = told(ask_version<nvml_abi::fabric_v3>(3, symbols.fabric, card));
  auto const layout_unknown = [&] {
    return got.code == nvml_abi::argument_version_mismatch ||
           got.code == nvml_abi::invalid_argument;
  };
  if (layout_unknown()) got = told(ask_version<nvml_abi::fabric_v2>(2, symbols.fabric, card));
  if (got || !(layout_unknown() || got.code == nvml_abi::function_not_found)) return got;
  return either(got, told(ask<nvml_abi::fabric_v1>(symbols.fabric_v1, card)));
}

health_field fabric_state(answer<fabric_answer> const& got) {
  if (!got) return refused(got);
  switch (got.value.state) {
    case nvml_abi::fabric_not_supported:
      return not_supported();
    case nvml_abi::fabric_not_started:
      return known(std::string("not-started"));
    case nvml_abi::fabric_in_progress:
      return known(std::string("in-progress"));
    case nvml_abi::fabric_completed:
      return known(got.value.status == nvml_abi::success
                       ? std::string("completed")
                       : "failed: " + std::to_string(int{got.value.status}));
    default:
      return unavailable(std::string(got.from) + " reported an unknown state");
  }
}

}  // namespace

void add_links(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  add_pcie(fields, symbols, card);
  add_nvlink(fields, symbols, card);
  fields["fabric_state"] = fabric_state(fabric(symbols, card));
}

}  // namespace bandgate
