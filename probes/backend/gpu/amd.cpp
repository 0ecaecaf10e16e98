// SPDX-License-Identifier: Apache-2.0
/// What is AMD's alone: how HIP says who a device is, partitions, versions. Written after AMD's
/// documentation and tested on a stub of the runtime: no AMD card was measured yet.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "backend/gpu/cuda_check.hpp"
#include "backend/gpu/cuda_devices.hpp"
#include "backend/gpu/hip_runtime.hpp"
#include "backend/gpu/vendor.hpp"
#include "device/amdgpu.hpp"
#include "device/identity.hpp"

namespace bandgate {
namespace {

template <class Number>
std::optional<unsigned> positive(Number value) {
  if (value <= 0) return std::nullopt;
  return static_cast<unsigned>(value);
}

/// The MI300 family's memory moves four times a clock that it reports, older ones' twice (MI300X:
/// 1300 MHz x 4 x 8192 bit = 5.3 TB/s, its data sheet's).
unsigned transfers_per_clock(std::string_view architecture) {
  return architecture.starts_with("gfx94") || architecture.starts_with("gfx95") ? 4 : 2;
}

/// Infinity Cache, where the kernel does not describe it: a buffer that fits would measure it.
std::optional<std::uint64_t> known_cache(std::string_view architecture) {
  if (transfers_per_clock(architecture) == 4) return mib(256).count;
  return std::nullopt;
}

/// "gfx90a" of "gfx90a:sramecc+:xnack-".
std::string architecture_of(char const* name) {
  std::string_view const all = name;
  return std::string(all.substr(0, all.find(':')));
}

/// "GPU-ddd61b9bea0e5a8b": the driver's number for the chip, as rocminfo and amd-smi print it. HIP
/// hands out its sixteen digits. Empty where there is none.
std::string uuid_of(int ordinal) {
  hipUUID raw{};
  if (hipDeviceGetUuid(&raw, ordinal) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return {};
  }
  std::string_view const digits(raw.bytes, sizeof raw.bytes);
  auto const is = [&](auto test) { return std::ranges::all_of(digits, test); };
  if (is([](unsigned char c) { return std::isxdigit(c) != 0; })) {
    // A chip without a number has all zeros or all ones.
    if (digits == "0000000000000000" || digits == "ffffffffffffffff") return {};
    return "GPU-" + std::string(digits);
  }
  if (is([](unsigned char c) { return c == 0; })) return {};
  unsigned char bytes[16];
  std::copy_n(reinterpret_cast<unsigned char const*>(raw.bytes), sizeof bytes, bytes);
  return format_uuid("GPU-", bytes);
}

void add_memory_bus(device_identity& identity, hipDeviceProp_t const& properties,
                    std::string_view architecture) {
  identity.bus_width_bits = positive(properties.memoryBusWidth);
  auto const clock_khz = positive(properties.memoryClockRate);
  if (!clock_khz) return;
  identity.memory_clock_mhz = *clock_khz / 1000.0;
  // A partition has its share of the memory and of the bus, and is told neither.
  if (identity.bus_width_bits && identity.mig_profile.empty())
    identity.peak_bytes_per_second = peak_bandwidth(
        *identity.memory_clock_mhz, *identity.bus_width_bits, transfers_per_clock(architecture));
}

}  // namespace

std::optional<device_problem> start_problem(cudaError_t status, int, int,
                                            std::string const& driver_text) {
  auto const& runtime = the_hip_runtime();
  if (runtime.handle == nullptr) {
    if (!kfd_present()) return std::nullopt;  // no driver: nothing is missing
    return device_problem{
        "runtime-missing",
        fmt::format(
            "there is /dev/kfd, and HIP's runtime library {} cannot be loaded: {}; install "
            "ROCm {}'s, add its folder to LD_LIBRARY_PATH, or use a build made with the ROCm "
            "of this machine",
            runtime.name, runtime.why_not, HIP_VERSION_MAJOR),
        false};
  }
  if (status == hipSuccess || status == hipErrorNoDevice) return std::nullopt;
  std::string const remedy = remedy_for(status);
  return device_problem{
      "device-failed",
      fmt::format("the driver {}does not start: {} ({}, error {}); {}",
                  driver_text.empty() ? "" : driver_text + " ", cudaGetErrorString(status),
                  cudaGetErrorName(status), static_cast<int>(status),
                  remedy.empty() ? "see `rocminfo` and the kernel log" : remedy),
      false};
}

namespace vendor {

char const* backend() {
  return "hip";
}
char const* management() {
  return "amd";
}
char const* management_library() {
  return "amd_smi";
}
std::string built_with() {
  return "hip " + version_text(HIP_VERSION);
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 10'000'000, version / 100'000 % 100);
}

std::string driver_version(gpu_presence const&) {
  return amdgpu_version();
}

device_identity identify(int ordinal) {
  hipDeviceProp_t properties{};
  check(hipGetDeviceProperties(&properties, ordinal),
        fmt::format("properties of HIP device {}", ordinal));
  auto const architecture = architecture_of(properties.gcnArchName);
  device_identity identity;
  identity.backend = backend();
  identity.name = properties.name[0] != '\0' ? properties.name : architecture;
  identity.uuid = uuid_of(ordinal);
  identity.pci_address = fmt::format(
      "{:04x}:{:02x}:{:02x}.0", static_cast<unsigned>(properties.pciDomainID),
      static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  identity.mig_profile = amd_partition(identity.pci_address);
  identity.memory_bytes = properties.totalGlobalMem;
  identity.processors = positive(properties.multiProcessorCount);
  // The larger: a kernel may describe the second level alone.
  identity.last_level_cache_bytes =
      std::max({kfd_last_level_cache(identity.pci_address), known_cache(architecture),
                std::optional<std::uint64_t>(positive(properties.l2CacheSize))});
  identity.compute_capability = architecture;
  // False also where it was not asked.
  if (properties.ECCEnabled != 0) identity.ecc = true;
  add_memory_bus(identity, properties, architecture);
  return identity;
}

/// The partitions of a card have its address and number: which one is which, their order says.
void split_cards(std::vector<cuda_device>& devices, gpu_presence const&,
                 bandgate::management const&, std::optional<std::string> const&) {
  std::map<std::pair<std::string, std::string>, unsigned> seen;
  for (auto& [_, identity] : devices) {
    if (identity.mig_profile.empty()) continue;
    auto const which = seen[{identity.pci_address, identity.uuid}]++;
    identity.mig_parent = identity.uuid;
    if (!identity.uuid.empty()) identity.uuid = fmt::format("{}/{}", identity.uuid, which);
  }
}

/// NVIDIA's numbers mean nothing here.
unsigned compute_capability(device_identity const&) {
  return 0;
}

/// hipLaunchKernel counts them in 32 bits.
std::uint64_t most_threads() {
  return 0xffff'ffffU;
}

}  // namespace vendor

}  // namespace bandgate
