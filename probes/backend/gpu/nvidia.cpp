// SPDX-License-Identifier: Apache-2.0
/// What is NVIDIA's alone: how CUDA says who a device is, slices, versions.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

#include "backend/gpu/cuda_check.hpp"
#include "backend/gpu/cuda_devices.hpp"
#include "backend/gpu/vendor.hpp"
#include "device/identity.hpp"

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
    // Nothing older than CUDA 12 compiles this.
    auto const other = driver < 12000 ? "" : ", or use a build made with CUDA 12";
    return device_problem{
        "driver-too-old",
        fmt::format("the driver {}(it supports CUDA {}) is too old for this build, which uses CUDA "
                    "{}: install driver {} or newer{}",
                    driver_text.empty() ? "" : driver_text + " ", vendor::version_text(driver),
                    vendor::version_text(runtime), needed, other),
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

namespace vendor {

char const* backend() {
  return "cuda";
}
char const* management() {
  return "nvidia";
}
char const* management_library() {
  return "NVML";
}
std::string built_with() {
  return "cuda " + version_text(CUDART_VERSION);
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string driver_version(gpu_presence const& machine) {
  return machine.driver_version;
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

void split_cards(std::vector<cuda_device>& devices, gpu_presence const& machine,
                 bandgate::management const& library, std::optional<std::string> const& visible) {
  add_slices(devices, addresses_of(machine), library, visible);
}

unsigned compute_capability(device_identity const& identity) {
  auto const& text = identity.compute_capability;
  auto const dot = text.find('.');
  return static_cast<unsigned>(std::stoul(text.substr(0, dot)) * 10 +
                               std::stoul(text.substr(dot + 1)));
}

std::uint64_t most_threads() {
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace vendor

}  // namespace bandgate
