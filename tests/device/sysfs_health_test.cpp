// SPDX-License-Identifier: Apache-2.0
#include "device/sysfs_health.hpp"

#include <gmock/gmock.h>

#include "device/fake_root.hpp"
#include "device/health_fields.hpp"
#include "device/pcie_generation.hpp"
#include "device/stub_support.hpp"

namespace bandgate {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using state = health_field::state;

device_identity card() {
  device_identity d;
  d.pci_address = "0000:1b:00.0";
  return d;
}

/// A card below a port, as /sys links them.
void lay_out(fake_root& root, char const* card_speed, char const* card_max, char const* port_max,
             char const* port_width) {
  std::string const port = "sys/devices/pci0000:15/0000:15:01.0/";
  std::string const device = port + "0000:1b:00.0/";
  root.file(device + "current_link_speed", card_speed).file(device + "max_link_speed", card_max);
  root.file(device + "current_link_width", "8\n").file(device + "max_link_width", "16\n");
  root.file(port + "current_link_speed", card_speed).file(port + "max_link_speed", port_max);
  root.file(port + "current_link_width", "8\n").file(port + "max_link_width", port_width);
  root.link("sys/bus/pci/devices/0000:1b:00.0",
            "../../../devices/pci0000:15/0000:15:01.0/0000:1b:00.0");
}

TEST(pcie_generation, is_that_of_the_speed) {
  EXPECT_EQ(pcie_generation("2.5 GT/s PCIe"), 1U);
  EXPECT_EQ(pcie_generation("5.0 GT/s PCIe"), 2U);
  EXPECT_EQ(pcie_generation("5 GT/s"), 2U);
  EXPECT_EQ(pcie_generation("8.0 GT/s PCIe"), 3U);
  EXPECT_EQ(pcie_generation("16.0 GT/s PCIe"), 4U);
  EXPECT_EQ(pcie_generation("32.0 GT/s PCIe"), 5U);
  EXPECT_EQ(pcie_generation("64.0 GT/s PCIe"), 6U);
  for (auto const* text :
       {"", "Unknown", "Unknown speed", "32", "32.0 MT/s", "7.0 GT/s", "-5 GT/s"})
    EXPECT_EQ(pcie_generation(text), std::nullopt) << text;
  EXPECT_EQ(pcie_generation(16.0), 4U);
  EXPECT_EQ(pcie_generation(0.0), std::nullopt);
}

TEST(sysfs_snapshot, knows_the_link_of_card_and_port) {
  fake_root root;
  lay_out(root, "16.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "16.0 GT/s PCIe\n", "8\n");
  auto const fields = sysfs_snapshot(card(), root.path());
  EXPECT_THAT(fields, SizeIs(45));
  EXPECT_EQ(number(fields, "pcie_generation"), 4);
  EXPECT_EQ(number(fields, "pcie_generation_card"), 5);
  EXPECT_EQ(number(fields, "pcie_generation_max"), 4);  // the port is the lesser
  EXPECT_EQ(number(fields, "pcie_width"), 8);
  EXPECT_EQ(number(fields, "pcie_width_max"), 8);
  std::size_t known = 0;
  for (auto const& [name, field] : fields) known += field.status == state::ok ? 1 : 0;
  EXPECT_EQ(known, 5U);
  EXPECT_EQ(fields.at("power_w").status, state::unavailable);
}

TEST(sysfs_snapshot, takes_the_card_alone_where_no_port_is_seen) {
  fake_root root;
  std::string const device = "sys/devices/pci0000:00/0000:1b:00.0/";
  root.file(device + "current_link_speed", "32.0 GT/s PCIe\n")
      .file(device + "max_link_speed", "32.0 GT/s PCIe\n")
      .file(device + "current_link_width", "16\n")
      .file(device + "max_link_width", "16\n")
      .link("sys/bus/pci/devices/0000:1b:00.0", "../../../devices/pci0000:00/0000:1b:00.0");
  auto const fields = sysfs_snapshot(card(), root.path());
  EXPECT_EQ(number(fields, "pcie_generation_max"), 5);
  EXPECT_EQ(number(fields, "pcie_width_max"), 16);
}

TEST(sysfs_snapshot, makes_nothing_of_what_is_not_said) {
  fake_root root;
  lay_out(root, "Unknown\n", "Unknown\n", "32.0 GT/s PCIe\n", "255\n");
  root.file("sys/devices/pci0000:15/0000:15:01.0/0000:1b:00.0/current_link_width", "0\n");
  auto const fields = sysfs_snapshot(card(), root.path());
  for (auto const* name :
       {"pcie_generation", "pcie_generation_card", "pcie_generation_max", "pcie_width"})
    EXPECT_THAT(fields.at(name).why, HasSubstr("says nothing of a PCIe link")) << name;
  EXPECT_EQ(number(fields, "pcie_width_max"), 16);

  for (auto const* none : {"0\n", "255\n", "\n", "16 lanes\n"}) {
    root.file("sys/devices/pci0000:15/0000:15:01.0/0000:1b:00.0/current_link_width", none);
    EXPECT_EQ(sysfs_snapshot(card(), root.path()).at("pcie_width").status, state::unavailable)
        << none;
  }

  fake_root const empty;
  for (auto const& [name, field] : sysfs_snapshot(card(), empty.path()))
    EXPECT_EQ(field.status, state::unavailable) << name;
  EXPECT_THAT(sysfs_snapshot({}, empty.path()).at("power_w").why, HasSubstr("no PCI address"));
}

TEST(with_sysfs, fills_only_what_the_library_could_not_read) {
  fake_root root;
  lay_out(root, "16.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "16\n");
  auto from_library = nothing_known("the library is gone");
  from_library["pcie_generation"] = known(3.0);
  from_library["pcie_width"] = not_supported();
  auto const fields = with_sysfs(from_library, card(), root.path());
  EXPECT_THAT(fields, SizeIs(45));
  EXPECT_EQ(number(fields, "pcie_generation"), 3);
  EXPECT_EQ(number(fields, "pcie_width"), 8);
  EXPECT_EQ(number(fields, "pcie_generation_max"), 5);
  EXPECT_EQ(fields.at("power_w").why, "the library is gone");
  EXPECT_EQ(number(with_sysfs({}, card(), root.path()), "pcie_width"), 8);
}

}  // namespace
}  // namespace bandgate
