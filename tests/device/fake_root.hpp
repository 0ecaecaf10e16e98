// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bandgate {

/// The root of a machine that a test lays out; gone with the test.
class fake_root {
 public:
  fake_root() {
    auto pattern = (std::filesystem::temp_directory_path() / "bandgate-root-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    root_ = pattern;
  }
  ~fake_root() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  fake_root(fake_root const&) = delete;
  fake_root& operator=(fake_root const&) = delete;

  std::filesystem::path const& path() const { return root_; }

  fake_root& file(std::string const& name, std::string_view text) {
    auto const at = root_ / name;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at, std::ios::binary) << text;
    return *this;
  }
  fake_root& folder(std::string const& name) {
    std::filesystem::create_directories(root_ / name);
    return *this;
  }
  fake_root& link(std::string const& name, std::string const& target) {
    auto const at = root_ / name;
    std::filesystem::create_directories(at.parent_path());
    std::filesystem::create_symlink(target, at);
    return *this;
  }

  struct gpu {
    std::string address{"0000:1b:00.0"};
    std::string vendor{"0x10de"}, device{"0x2335"}, pci_class{"0x030200"};
    std::string driver{"nvidia"};  ///< empty: none bound
    int minor{0};                  ///< negative: the driver does not describe it here
    bool node{true};
  };
  fake_root& add(gpu const& card) {
    auto const folder = "sys/bus/pci/devices/" + card.address + "/";
    file(folder + "vendor", card.vendor + "\n").file(folder + "device", card.device + "\n");
    file(folder + "subsystem_vendor", card.vendor + "\n").file(folder + "class", card.pci_class);
    file(folder + "subsystem_device", "0x18bf\n").file(folder + "numa_node", "1\n");
    if (!card.driver.empty()) link(folder + "driver", "../../../../bus/pci/drivers/" + card.driver);
    if (card.minor >= 0)
      file("proc/driver/nvidia/gpus/" + card.address + "/information",
           "Model: \t\t NVIDIA H200\nGPU Firmware: \t 580.159.04\nDevice Minor: \t " +
               std::to_string(card.minor) + "\nGPU Excluded:\t No\n");
    if (card.minor >= 0 && card.node) file("dev/nvidia" + std::to_string(card.minor), "");
    return *this;
  }
  /// A loaded driver with its library and control node, but no card yet.
  fake_root& add_driver() {
    return file("proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release "
                "Build  (archlinux-builder)\nGCC version:  gcc version 12.2.0\n")
        .file("usr/lib/x86_64-linux-gnu/libcuda.so.1",
              "\x7f"
              "ELF")
        .file("dev/nvidiactl", "");
  }

 private:
  std::filesystem::path root_;
};

}  // namespace bandgate
