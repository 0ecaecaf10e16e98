// SPDX-License-Identifier: Apache-2.0
#include "device/nvml_table.hpp"
#include "device/pci_address.hpp"

namespace bandgate {
namespace {

using nvml_abi::device;

void add_text(std::string& field, symbol<nvml_abi::text_of_device> const& asked, device card) {
  if (auto const text = ask_text(asked, card); text && !text.value.empty()) field = text.value;
}

/// A limit of 0 is no limit that a card has: the driver does not know.
void add_watts(std::optional<double>& field, symbol<nvml_abi::number_of_device> const& asked,
               device card) {
  if (auto const milliwatts = ask<unsigned>(asked, card); milliwatts && milliwatts.value > 0)
    field = milliwatts.value / 1000.0;
}

template <std::size_t Count>
void add_word(std::string& field, symbol<nvml_abi::enum_of_device> const& asked, device card,
              char const* const (&words)[Count]) {
  auto const got = ask<int>(asked, card);
  if (got && got.value >= 0 && static_cast<std::size_t>(got.value) < Count)
    field = words[got.value];
}

/// sysfs is the first source of ids, where there is one.
void add_ids(device_identity& identity, nvml_symbols const& symbols, device card) {
  auto const pci = ask<nvml_abi::pci_info>(symbols.pci, card);
  if (!pci) return;
  auto const as_text = [](unsigned id) { return pci_id(id & 0xffffU, id >> 16); };
  if (identity.pci_device.empty() && pci.value.device_id != 0)
    identity.pci_device = as_text(pci.value.device_id);
  if (identity.pci_subsystem.empty() && pci.value.subsystem_id != 0)
    identity.pci_subsystem = as_text(pci.value.subsystem_id);
  if (identity.pci_address.empty())
    identity.pci_address =
        to_string(pci_address{pci.value.domain, pci.value.bus, pci.value.device, 0});
}

/// A slice is not the card, so it never goes without a profile: "unknown" matches no baseline.
void add_mig(device_identity& identity, nvml_symbols const& symbols, nvml_device const& found) {
  auto const mode = ask_two<unsigned>(symbols.mig, found.card);
  bool const slice = found.itself != found.card || (mode && mode.value.current != 0);
  if (!slice) return;
  add_text(identity.mig_parent, symbols.uuid, found.card);
  if (!identity.mig_profile.empty()) return;
  auto const name = ask_text(symbols.device_name, found.itself);
  identity.mig_profile = profile_in(identity.name);
  if (identity.mig_profile.empty()) identity.mig_profile = profile_in(name.value);
  if (identity.mig_profile.empty()) identity.mig_profile = "unknown";
}

}  // namespace

std::string profile_in(std::string const& name) {
  constexpr std::string_view word = " MIG ";
  auto const at = name.find(word);
  return at == std::string::npos ? std::string{} : name.substr(at + word.size());
}

void nvml::add_identity(device_identity& identity) const {
  if (!available()) return;
  std::lock_guard const alone(table_->guard);
  auto const& symbols = table_->symbols;
  auto const found = find_device(symbols, identity);
  if (found.card == nullptr) return;

  add_text(identity.board_part, symbols.board_part, found.card);
  add_text(identity.serial, symbols.serial, found.card);
  add_text(identity.vbios, symbols.vbios, found.card);
  add_watts(identity.power_limit_w, symbols.power_limit, found.card);
  add_watts(identity.power_limit_default_w, symbols.power_limit_default, found.card);
  add_word(identity.persistence_mode, symbols.persistence, found.card, {"disabled", "enabled"});
  add_word(identity.compute_mode, symbols.compute_mode, found.card,
           {"default", "exclusive-thread", "prohibited", "exclusive-process"});
  add_word(identity.virtualization, symbols.virtualization, found.card,
           {"none", "passthrough", "vgpu", "host-vgpu", "host-vsga"});
  if (auto const ecc = ask_two<int>(symbols.ecc, found.card)) identity.ecc = ecc.value.current != 0;
  if (auto const driver = ask_text(symbols.driver_version);
      driver && identity.driver_version.empty())
    identity.driver_version = driver.value;
  add_ids(identity, symbols, found.card);
  add_mig(identity, symbols, found);
}

}  // namespace bandgate
