// SPDX-License-Identifier: Apache-2.0
/// Slices of a card in the list of devices, on the stub of NVML: no such card was measured.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "backend/gpu/cuda_devices.hpp"
#include "device/nvml.hpp"

namespace bandgate::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::string const stub = std::string(BANDGATE_NVML_STUBS) + "/current/libnvidia-ml.so.1";
std::string const first = "MIG-12345678-0000-0000-0000-000000000004";
std::string const second = "MIG-12345678-0000-0000-0000-000000000005";
std::string const whole = "GPU-1b1b1b1b-0000-0000-0000-000000000002";

cuda_device listed(int ordinal, std::string uuid, std::string address, std::string profile = "") {
  cuda_device device;
  device.ordinal = ordinal;
  device.identity.uuid = std::move(uuid);
  device.identity.pci_address = std::move(address);
  device.identity.mig_profile = std::move(profile);
  return device;
}

struct slices : ::testing::Test {
  nvml const library{stub};
  std::vector<std::string> add(std::vector<cuda_device> devices,
                               std::optional<std::string> const& visible = {}) {
    add_slices(devices, {"0000:1b:00.0", "0000:3a:00.0", "0000:c1:00.0"}, library, visible);
    std::vector<std::string> uuids;
    for (auto const& d : devices) uuids.push_back(d.identity.uuid);
    found = devices;
    return uuids;
  }
  std::vector<cuda_device> found;
};

TEST_F(slices, stand_in_the_place_of_their_card) {
  ASSERT_TRUE(library.available()) << library.why_not();
  EXPECT_THAT(add({listed(0, whole, "0000:1b:00.0"), listed(1, "GPU-x", "0000:3a:00.0")}),
              UnorderedElementsAre(whole, first, second));
  for (auto const& device : found) {
    if (device.identity.uuid == whole) continue;
    EXPECT_FALSE(device.ordinal);
    EXPECT_EQ(device.identity.backend, "cuda");
    EXPECT_EQ(device.identity.pci_address, "0000:3a:00.0");
    EXPECT_EQ(device.identity.mig_parent, "GPU-3a3a3a3a-0000-0000-0000-000000000003");
    EXPECT_NE(device.identity.mig_profile, "");
  }
}

TEST_F(slices, that_cuda_lists_keep_what_it_says_of_them) {
  EXPECT_THAT(add({listed(0, second, "0000:3a:00.0", "3g.71gb")}), ElementsAre(second, first));
  EXPECT_EQ(found[0].ordinal, 0);
}

TEST_F(slices, stay_hidden_where_cuda_visible_devices_does_not_name_them) {
  EXPECT_THAT(add({listed(0, whole, "0000:1b:00.0")}, "0"), ElementsAre(whole));
  EXPECT_THAT(add({}, ""), ElementsAre());
  EXPECT_THAT(add({}, "-1"), ElementsAre());
  EXPECT_THAT(add({}, second), ElementsAre(second));
  EXPECT_THAT(add({listed(0, first, "0000:3a:00.0", "1g.18gb")}, first + "," + second),
              ElementsAre(first, second));
  EXPECT_THAT(add({}, "MIG-12345678"), UnorderedElementsAre(first, second));
}

TEST_F(slices, are_none_without_a_library) {
  nvml const none("/no/such/library.so");
  std::vector<cuda_device> devices{listed(0, whole, "0000:1b:00.0")};
  add_slices(devices, {"0000:3a:00.0"}, none, {});
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].identity.uuid, whole);
}

}  // namespace
}  // namespace bandgate::testing
