// SPDX-License-Identifier: Apache-2.0
#include "device/nvml.hpp"

#include "device/nvml_table.hpp"
#include "device/pci_address.hpp"

namespace bandgate {
namespace {

void* load(std::string const& name, std::string& why) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  char const* const reason = dlerror();
  why = reason == nullptr ? "cannot load " + name : std::string(reason);
  return nullptr;
}

nvml_device found(nvml_symbols const& symbols, nvml_abi::device handle, bool mig) {
  if (!mig) return {handle, handle, {}};
  auto const card = ask<nvml_abi::device>(symbols.card_of_mig, handle);
  return {handle, card ? card.value : handle, {}};
}

}  // namespace

nvml::table::table(std::string const& library_name) : symbols{load(library_name, why)} {
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

nvml_device find_device(nvml_symbols const& symbols, device_identity const& wanted) {
  std::string why = "no UUID and no PCI address to find the device by";
  auto const by_uuid = [&](std::string const& uuid) {
    auto const handle = ask<nvml_abi::device>(symbols.by_uuid, uuid.c_str());
    if (!handle) why = explain(handle.from, handle.code) + " for " + uuid;
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
    why = explain(handle.from, handle.code) + " for PCI " + text;
  }
  return {nullptr, nullptr, why};
}

}  // namespace bandgate
