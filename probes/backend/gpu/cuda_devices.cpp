// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "backend/gpu/cuda_check.hpp"
#include "device/identity.hpp"
#include "device/pci_address.hpp"
#include "device/presence.hpp"
#include "device/steps.hpp"

namespace bandgate {
namespace {

/// None for what the driver does not say or says as 0.
std::optional<unsigned> attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return std::nullopt;
  }
  if (value <= 0) return std::nullopt;
  return static_cast<unsigned>(value);
}

std::string compute_mode_name(int mode) {
  switch (mode) {
    case cudaComputeModeDefault:
      return "default";
    case cudaComputeModeProhibited:
      return "prohibited";
    case cudaComputeModeExclusiveProcess:
      return "exclusive-process";
    default:
      return "";
  }
}

void add_memory_bus(device_identity& identity, int ordinal) {
  identity.bus_width_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  auto const clock_khz = attribute(cudaDevAttrMemoryClockRate, ordinal);
  if (!clock_khz) return;
  identity.memory_clock_mhz = *clock_khz / 1000.0;
  if (identity.bus_width_bits)
    identity.peak_bytes_per_second =
        peak_bandwidth(*identity.memory_clock_mhz, *identity.bus_width_bits);
}

device_identity identify(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal),
        fmt::format("properties of CUDA device {}", ordinal));
  device_identity identity;
  identity.backend = "cuda";
  identity.name = properties.name;
  identity.mig_profile = mig_profile_of(identity.name);
  unsigned char raw[16];
  std::copy_n(reinterpret_cast<unsigned char const*>(properties.uuid.bytes), sizeof raw, raw);
  identity.uuid = format_uuid(identity.mig_profile.empty() ? "GPU-" : "MIG-", raw);
  identity.pci_address = fmt::format(
      "{:04x}:{:02x}:{:02x}.0", static_cast<unsigned>(properties.pciDomainID),
      static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  identity.memory_bytes = properties.totalGlobalMem;
  identity.processors = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  identity.last_level_cache_bytes = attribute(cudaDevAttrL2CacheSize, ordinal);
  identity.compute_capability = fmt::format("{}.{}", properties.major, properties.minor);
  identity.ecc = properties.ECCEnabled != 0;
  int mode = -1;
  if (cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, ordinal) == cudaSuccess)
    identity.compute_mode = compute_mode_name(mode);
  add_memory_bus(identity, ordinal);
  return identity;
}

std::vector<std::string> addresses_of(gpu_presence const& machine) {
  std::vector<std::string> all;
  for (auto const& gpu : machine.gpus)
    if (gpu.pci_device.starts_with("10de:")) all.push_back(gpu.pci_address);
  return all;
}

/// Whether CUDA_VISIBLE_DEVICES lets that slice be seen: its UUID, or the beginning of it.
bool shows(std::optional<std::string> const& visible, std::string const& uuid) {
  if (!visible) return true;
  std::istringstream words(*visible);
  for (std::string word; std::getline(words, word, ',');)
    if (word.starts_with("MIG-") && uuid.starts_with(word)) return true;
  return false;
}

/// CUDA's own order is by speed unless CUDA_DEVICE_ORDER says otherwise.
void sort_by_address(std::vector<cuda_device>& devices) {
  std::sort(devices.begin(), devices.end(), [](auto const& a, auto const& b) {
    // As numbers: a domain may have five digits.
    return std::pair(parse_pci_address(a.identity.pci_address), a.identity.uuid) <
           std::pair(parse_pci_address(b.identity.pci_address), b.identity.uuid);
  });
}

}  // namespace

void add_slices(std::vector<cuda_device>& devices, std::vector<std::string> addresses,
                management const& library, std::optional<std::string> const& visible) {
  for (auto const& device : devices)  // where the machine does not show its PCI devices
    if (std::ranges::find(addresses, device.identity.pci_address) == addresses.end())
      addresses.push_back(device.identity.pci_address);
  for (auto const& address : addresses) {
    device_identity card;
    card.backend = "cuda";
    card.pci_address = address;
    auto const slices = library.instances(card);
    if (slices.empty()) continue;
    std::erase_if(devices, [&](cuda_device const& listed) {
      return listed.identity.pci_address == address && listed.identity.mig_profile.empty();
    });
    for (auto const& slice : slices) {
      bool const listed = std::ranges::any_of(
          devices, [&](cuda_device const& other) { return other.identity.uuid == slice.uuid; });
      if (!listed && shows(visible, slice.uuid)) devices.push_back({std::nullopt, slice});
    }
  }
}

std::string format_uuid(std::string_view prefix, unsigned char const (&raw)[16]) {
  std::string text(prefix);
  for (unsigned i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", raw[i]);
  }
  return text;
}

std::string mig_profile_of(std::string_view name) {
  constexpr std::string_view mark = " MIG ";
  auto const at = name.find(mark);
  return at == std::string_view::npos ? "" : std::string(name.substr(at + mark.size()));
}

std::optional<device_problem> start_problem(cudaError_t status, int driver, int runtime,
                                            std::string const& driver_text) {
  if (status == cudaSuccess || status == cudaErrorNoDevice || driver == 0) return std::nullopt;
  if (status == cudaErrorInsufficientDriver) {
    // The first driver release of each toolkit family; later ones of the family run on it.
    auto const needed = runtime >= 13000 ? "580" : "525";
    return device_problem{
        "driver-too-old",
        fmt::format("the driver {}(it supports CUDA {}) is too old for this build, which uses CUDA "
                    "{}: install driver {} or newer, or use a build made with CUDA {}",
                    driver_text.empty() ? "" : driver_text + " ", cuda_version(driver),
                    cuda_version(runtime), needed, driver / 1000),
        true};
  }
  std::string const remedy = remedy_for(status);
  return device_problem{
      "device-failed",
      fmt::format("the driver does not start: {} ({}, error {}); {}", cudaGetErrorString(status),
                  cudaGetErrorName(status), static_cast<int>(status),
                  remedy.empty() ? "see `nvidia-smi` and the kernel log" : remedy),
      false};
}

cuda_device_list list_cuda_devices(management const& library,
                                   std::optional<std::string> const& visible,
                                   std::function<void(std::string const&)> const& announce) {
  announce(asking_driver);
  int count = 0;
  auto const status = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  int driver = 0;
  int runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  auto const machine = look_for_gpus();

  cuda_device_list list;
  if (auto problem = start_problem(status, driver, runtime, machine.driver_version))
    list.problems.push_back(*std::move(problem));
  for (int ordinal = 0; status == cudaSuccess && ordinal < count; ++ordinal) try {
      cuda_device device{ordinal, identify(ordinal)};
      device.identity.runtime_version = cuda_version(runtime);
      list.devices.push_back(std::move(device));
    } catch (measurement_error const& e) {  // the others can be measured all the same
      list.problems.push_back({to_string(e.code()), e.what(), false});
    }
  if (!list.problems.empty() && list.devices.empty()) return list;

  announce(fmt::format("{} (NVML) for the devices", asking_library));
  add_slices(list.devices, addresses_of(machine), library, visible);
  for (auto& [_, identity] : list.devices) {
    identity.driver_version = machine.driver_version;
    add_sysfs(identity);
    library.add_identity(identity);
  }
  sort_by_address(list.devices);
  return list;
}

}  // namespace bandgate
