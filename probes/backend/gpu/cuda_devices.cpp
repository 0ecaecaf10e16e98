// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backend/gpu/cuda_check.hpp"
#include "backend/gpu/vendor.hpp"
#include "device/identity.hpp"
#include "device/pci_address.hpp"
#include "device/presence.hpp"
#include "device/steps.hpp"

namespace bandgate {
namespace {

/// The runtime's own order may be by speed (CUDA's is unless CUDA_DEVICE_ORDER says otherwise).
void sort_by_address(std::vector<cuda_device>& devices) {
  std::sort(devices.begin(), devices.end(), [](auto const& a, auto const& b) {
    // As numbers: a domain may have five digits.
    return std::pair(parse_pci_address(a.identity.pci_address), a.identity.uuid) <
           std::pair(parse_pci_address(b.identity.pci_address), b.identity.uuid);
  });
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
  auto const release = vendor::driver_version(machine);
  if (auto problem = start_problem(status, driver, runtime, release))
    list.problems.push_back(*std::move(problem));
  for (int ordinal = 0; status == cudaSuccess && ordinal < count; ++ordinal) try {
      cuda_device device{ordinal, vendor::identify(ordinal)};
      device.identity.runtime_version = vendor::version_text(runtime);
      list.devices.push_back(std::move(device));
    } catch (measurement_error const& e) {  // the others can be measured all the same
      list.problems.push_back({to_string(e.code()), e.what(), false});
    }
  if (!list.problems.empty() && list.devices.empty()) return list;

  announce(fmt::format("{} ({}) for the devices", asking_library, vendor::management_library()));
  vendor::split_cards(list.devices, machine, library, visible);
  for (auto& [_, identity] : list.devices) {
    identity.driver_version = release;
    add_sysfs(identity);
    library.add_identity(identity);
  }
  sort_by_address(list.devices);
  return list;
}

}  // namespace bandgate
