// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backend/gpu/cuda_check.hpp"
#include "device/identity.hpp"
#include "device/pci_address.hpp"
#include "device/presence.hpp"

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

}  // namespace

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
  return device_problem{
      "device-failed",
      fmt::format("the driver does not start: {} ({}, error {}); see `nvidia-smi` and the kernel "
                  "log{}",
                  cudaGetErrorString(status), cudaGetErrorName(status), static_cast<int>(status),
                  status == cudaErrorSystemNotReady
                      ? "; on machines with NVSwitch the fabric manager must run"
                      : ""),
      false};
}

cuda_device_list list_cuda_devices(management const& library) {
  int count = 0;
  auto const status = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  int driver = 0;
  int runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  auto const driver_text = look_for_gpus().driver_version;

  cuda_device_list list;
  if (auto problem = start_problem(status, driver, runtime, driver_text))
    list.problems.push_back(*std::move(problem));
  if (status != cudaSuccess) return list;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cuda_device device{ordinal, identify(ordinal)};
    device.identity.runtime_version = cuda_version(runtime);
    device.identity.driver_version = driver_text;
    add_sysfs(device.identity);
    library.add_identity(device.identity);
    list.devices.push_back(std::move(device));
  }
  // CUDA's own order is by speed unless CUDA_DEVICE_ORDER says otherwise.
  std::sort(list.devices.begin(), list.devices.end(), [](auto const& a, auto const& b) {
    // As numbers: a domain may have five digits.
    return std::pair(parse_pci_address(a.identity.pci_address), a.identity.uuid) <
           std::pair(parse_pci_address(b.identity.pci_address), b.identity.uuid);
  });
  return list;
}

}  // namespace bandgate
