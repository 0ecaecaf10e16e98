// SPDX-License-Identifier: Apache-2.0
#include "device/nvml.hpp"

#include "device/nvml_table.hpp"
#include "device/pci_address.hpp"

namespace bandgate {
namespace {

bool says_lost(nvml_abi::code code) {
  return code == nvml_abi::gpu_is_lost || code == nvml_abi::reset_required;
}

nvml_device found(nvml_symbols const& symbols, nvml_abi::device handle, bool mig) {
  if (!mig) return {handle, handle, {}, false};
  auto const card = ask<nvml_abi::device>(symbols.card_of_mig, handle);
  return {handle, card ? card.value : handle, {}, false};
}

}  // namespace

nvml::table::table(std::string const& library_name) : symbols{load_library(library_name, why)} {
  if (symbols.loaded == nullptr) return;
  if (symbols.init.call == nullptr) {
    why = library_name + " has no nvmlInit: it is not NVIDIA's management library";
    return;
  }
  auto const code = symbols.init.call();
  if (code != nvml_abi::success) why = explain(symbols.init.name, code);
}

nvml::table::~table() {
  if (symbols.loaded == nullptr) return;
  if (why.empty() && symbols.shutdown.call != nullptr) symbols.shutdown.call();
  dlclose(symbols.loaded);
}

nvml::nvml(std::string const& library) : table_(std::make_unique<table>(library)) {}
nvml::~nvml() = default;

bool nvml::available() const noexcept {
  return table_->why.empty();
}
std::string const& nvml::why_not() const noexcept {
  return table_->why;
}

std::optional<std::string> nvml::lost(device_identity const& wanted) const {
  if (!available()) return std::nullopt;
  std::lock_guard const alone(table_->guard);
  auto const& symbols = table_->symbols;
  auto const found = find_device(symbols, wanted);
  if (found.lost) return found.why;
  if (found.card == nullptr) return std::nullopt;
  // Some answer from memory where others must ask the card.
  if (auto const got = ask<unsigned>(symbols.temperature, found.card, nvml_abi::temperature_gpu);
      says_lost(got.code))
    return explain(got.from, got.code);
  if (auto const got = ask<unsigned>(symbols.power, found.card); says_lost(got.code))
    return explain(got.from, got.code);
  if (auto const got = ask<unsigned>(symbols.pcie_generation, found.card); says_lost(got.code))
    return explain(got.from, got.code);
  return std::nullopt;
}

nvml_device find_device(nvml_symbols const& symbols, device_identity const& wanted) {
  nvml_device none;
  auto& why = none.why;
  why = "no UUID and no PCI address to find the device by";
  auto const by_uuid = [&](std::string const& uuid) {
    auto const handle = ask<nvml_abi::device>(symbols.by_uuid, uuid.c_str());
    if (!handle) why = explain(handle.from, handle.code) + " for " + uuid;
    none.lost = none.lost || says_lost(handle.code);
    return handle;
  };
  if (!wanted.uuid.empty()) {
    bool const mig = wanted.uuid.starts_with("MIG-");
    if (auto const handle = by_uuid(wanted.uuid)) return found(symbols, handle.value, mig);
    // CUDA gives the bytes alone, and a MIG instance's are then easily written as a GPU's.
    if (wanted.uuid.starts_with("GPU-"))
      if (auto const handle = by_uuid("MIG-" + wanted.uuid.substr(4)))
        return found(symbols, handle.value, true);
  }
  if (auto const address = parse_pci_address(wanted.pci_address)) {
    auto const text = to_string(*address);
    auto const handle = ask<nvml_abi::device>(symbols.by_pci, text.c_str());
    if (handle) return found(symbols, handle.value, false);
    // That the card is lost says more than that its address is not known.
    if (!none.lost) why = explain(handle.from, handle.code) + " for PCI " + text;
    none.lost = none.lost || says_lost(handle.code);
  }
  return none;
}

}  // namespace bandgate
