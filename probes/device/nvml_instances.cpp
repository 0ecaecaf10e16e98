// SPDX-License-Identifier: Apache-2.0
/// The slices of a card in MIG mode.
#include "device/nvml_table.hpp"

namespace bandgate {
namespace {

/// The card's place and ids, without what only the whole card has.
device_identity slice_of(device_identity const& card) {
  auto slice = card;
  slice.name.clear();
  slice.uuid.clear();
  slice.mig_profile.clear();
  slice.mig_parent.clear();
  slice.memory_bytes.reset();
  slice.bus_width_bits.reset();
  slice.peak_bytes_per_second.reset();
  slice.processors.reset();
  slice.last_level_cache_bytes.reset();
  return slice;
}

}  // namespace

std::vector<device_identity> nvml::instances(device_identity const& whole) const {
  if (!available()) return {};
  device_identity card = whole;
  add_identity(card);  // the address and the ids, where only this library knows them
  std::lock_guard const alone(table_->guard);
  auto const& symbols = table_->symbols;
  auto const found = find_device(symbols, whole);
  if (found.card == nullptr) return {};
  auto const mode = ask_two<unsigned>(symbols.mig, found.card);
  auto const most = ask<unsigned>(symbols.most_instances, found.card);
  if (!mode || mode.value.current == 0 || !most) return {};
  std::vector<device_identity> all;
  for (unsigned i = 0; i < most.value; ++i) {
    auto const handle = ask<nvml_abi::device>(symbols.instance, found.card, i);
    if (!handle) continue;  // places without a slice are ordinary
    auto slice = slice_of(card);
    slice.uuid = ask_text(symbols.uuid, handle.value).value;
    slice.name = ask_text(symbols.device_name, handle.value).value;
    slice.mig_parent = ask_text(symbols.uuid, found.card).value;
    slice.mig_profile = profile_in(slice.name);
    if (slice.mig_profile.empty()) slice.mig_profile = "unknown";
    slice.memory_bytes = memory_bytes(symbols, handle.value);
    auto const parts = ask<nvml_abi::attributes>(symbols.attributes, handle.value);
    if (parts && parts.value.processors > 0) slice.processors = parts.value.processors;
    if (!slice.uuid.empty()) all.push_back(std::move(slice));
  }
  return all;
}

}  // namespace bandgate
