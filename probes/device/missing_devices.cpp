// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string_view>

#include "device/file_text.hpp"
#include "device/pci_address.hpp"
#include "device/presence.hpp"

namespace bandgate {
namespace {

using environment_map = std::map<std::string, std::string>;

/// What the *_VISIBLE_DEVICES variables leave to be seen.
struct visibility {
  bool hides_all{};
  bool hides_some{};
  std::string setting;  ///< "CUDA_VISIBLE_DEVICES=0,1", for messages
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// "", "-1" and the words by which schedulers say "no GPU". Any other text names devices, if
/// wrongly: a typing error must not read as "hidden on purpose".
bool names_nothing(std::string_view value) {
  auto const first = lower(trimmed(value.substr(0, value.find(','))));
  return first.empty() || first.front() == '-' || first == "none" || first == "void" ||
         first == "nodevfiles";
}

bool has_numbered_node(gpu_presence const& machine) {
  return std::any_of(machine.nodes.begin(), machine.nodes.end(), [](std::string const& node) {
    return std::isdigit(static_cast<unsigned char>(node.back()));
  });
}

bool has_kfd(gpu_presence const& machine) {
  return std::find(machine.nodes.begin(), machine.nodes.end(), "/dev/kfd") != machine.nodes.end();
}

bool only_amd(gpu_presence const& machine) {
  return machine.nodes == std::vector<std::string>{"/dev/kfd"} && machine.driver_library.empty() &&
         machine.driver_version.empty();
}

/// Variables of the other vendor hide nothing from this driver.
visibility visible_devices(gpu_presence const& machine, environment_map const& environment,
                           std::string const& backend) {
  visibility seen;
  auto const consider = [&](char const* name, bool may_hide_all) {
    auto const found = environment.find(name);
    if (found == environment.end()) return;
    bool const none = names_nothing(found->second);
    if (none && !may_hide_all) return;
    seen.hides_all |= none;
    seen.hides_some |= !none;
    if (seen.setting.empty() || none) seen.setting = found->first + "=" + found->second;
  };
  if (backend == "hip") {
    for (char const* name : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                             "CUDA_VISIBLE_DEVICES"})  // HIP heeds that, too
      consider(name, true);
    return seen;
  }
  if (only_amd(machine)) {
    consider("HIP_VISIBLE_DEVICES", true);
    consider("ROCR_VISIBLE_DEVICES", true);
    return seen;
  }
  consider("CUDA_VISIBLE_DEVICES", true);
  // It tells a container's runtime what to hand in. "all" is what images of the toolkit carry;
  // "void" is also there when devices were handed in by other means (CDI): the nodes tell.
  auto const container = environment.find("NVIDIA_VISIBLE_DEVICES");
  if (container != environment.end() && lower(trimmed(container->second)) != "all")
    consider("NVIDIA_VISIBLE_DEVICES", !has_numbered_node(machine));
  return seen;
}

std::string join(std::vector<std::string> const& parts, char const* separator) {
  std::string text;
  for (auto const& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string kernel_module_text(gpu_presence const& machine) {
  return "kernel module " + machine.driver_version +
         (machine.module_flavour.empty() ? "" : " (" + machine.module_flavour + ")");
}

bool of_nvidia(visible_gpu const& gpu) {
  return gpu.pci_device.starts_with("10de:");
}

/// Likewise. What ends in 00 has a display, and HIP knows few of these.
bool should_be_listed_by_hip(visible_gpu const& gpu, gpu_presence const& machine) {
  return gpu.pci_device.starts_with("1002:") && gpu.kernel_driver == "amdgpu" && gpu.node_present &&
         has_kfd(machine) && (gpu.pci_class == "0x1200" || gpu.pci_class == "0x0380");
}

/// Whether the driver, if all is well, lists this card. Not one that is passed through to a guest
/// (vfio-pci), driven for its display alone (nouveau), or without a node here (a container's).
bool should_be_listed(visible_gpu const& gpu, gpu_presence const& machine) {
  if (!of_nvidia(gpu) || gpu.set_aside) return false;
  if (gpu.kernel_driver == "nvidia") return gpu.node_present;
  if (!gpu.kernel_driver.empty() || gpu.pci_class != "0x0302" || machine.driver_library.empty())
    return false;
  // The driver refused this card (its probe failed). Where any other card is hidden from us,
  // nobody can tell.
  return std::all_of(machine.gpus.begin(), machine.gpus.end(), [](visible_gpu const& other) {
    return other.kernel_driver != "nvidia" || other.node_present;
  });
}

bool is_listed(visible_gpu const& gpu, std::vector<device_identity> const& listed) {
  auto const at = parse_pci_address(gpu.pci_address);
  return std::any_of(listed.begin(), listed.end(), [&](device_identity const& device) {
    return at == parse_pci_address(device.pci_address);
  });
}

std::string name_of(device_identity const& device) {
  if (!device.pci_address.empty()) return "PCI " + device.pci_address;
  return device.uuid.empty() ? device.name : device.uuid;
}

std::string evidence(gpu_presence const& machine) {
  std::vector<std::string> parts;
  if (!machine.driver_library.empty())
    parts.push_back("the driver library " + machine.driver_library);
  if (!machine.nodes.empty()) parts.push_back("the device node " + join(machine.nodes, ", "));
  if (!machine.driver_version.empty()) parts.push_back("the " + kernel_module_text(machine));
  for (auto const& gpu : machine.gpus) parts.push_back("the GPU at " + describe(gpu));
  return join(parts, "; ");
}

constexpr char const* use_the_host =
    "to measure the CPU on purpose, choose the backend 'host' (--backend host)";

std::string remedy(gpu_presence const& machine, std::string const& backend) {
  if (backend == "hip")
    return has_kfd(machine)
               ? "run rocminfo and look for lines of amdgpu in the kernel's log (dmesg); see that "
                 "this user may open /dev/kfd and /dev/dri/renderD* (groups render and video), and "
                 "hand both to a container (--device /dev/kfd --device /dev/dri); "
               : "this build drives AMD GPUs; use one for NVIDIA's, or repair or remove the driver "
                 "if there should be none; ";
  if (only_amd(machine))
    return "this build drives NVIDIA GPUs; use one configured with -DBANDGATE_BACKEND=hip, or "
           "repair "
           "or remove the AMD driver if there should be none; ";
  if (machine.nodes.empty() && machine.driver_version.empty())
    return "no kernel module is loaded behind the library: hand the GPUs to the container (docker "
           "run --gpus all), load the module (modprobe nvidia), or remove the library; ";
  return "run nvidia-smi and look for NVRM and Xid lines in the kernel's log (dmesg); reload the "
         "driver, or reset or replace the GPU; ";
}

device_problem driver_without_device(gpu_presence const& machine, visibility const& seen,
                                     std::string const& backend) {
  std::string message = "the driver lists no GPU, although there is " + evidence(machine);
  if (seen.hides_some) message += "; " + seen.setting + " names devices, and none of them is there";
  return {"driver-without-device", message + ". Remedy: " + remedy(machine, backend) + use_the_host,
          false};
}

device_problem missing_from_hip(visible_gpu const& gpu) {
  return {
      "device-missing",
      "the GPU at " + describe(gpu) +
          " is in this machine, and HIP does not list it. Remedy: look for lines of amdgpu about "
          "PCI " +
          gpu.pci_address +
          " in the kernel's log (dmesg), then reset the GPU (amd-smi reset --gpureset), restart "
          "the machine or replace the card; to leave it out on purpose, name the others in "
          "HIP_VISIBLE_DEVICES",
      false};
}

device_problem device_missing(visible_gpu const& gpu, gpu_presence const& machine) {
  std::string message =
      "the GPU at " + describe(gpu) + " is in this machine, and the driver does not list it";
  if (!machine.driver_version.empty()) message += " (" + kernel_module_text(machine) + ")";
  return {"device-missing",
          message + ". Remedy: look for NVRM and Xid lines about PCI " + gpu.pci_address +
              " in the kernel's log (dmesg), then reset the GPU (nvidia-smi --gpu-reset), restart "
              "the machine or replace the card; to leave it out on purpose, name the others in "
              "CUDA_VISIBLE_DEVICES",
          false};
}

device_problem fewer_devices(gpu_presence const& machine,
                             std::vector<device_identity> const& listed, std::uint64_t expected,
                             visibility const& seen) {
  std::vector<std::string> there, absent;
  for (auto const& device : listed) there.push_back(name_of(device));
  for (auto const& gpu : machine.gpus)
    if (!is_listed(gpu, listed)) absent.push_back(describe(gpu));
  std::string message = "BANDGATE_EXPECT_DEVICES asks for " + std::to_string(expected) +
                        " devices, and " + std::to_string(listed.size()) +
                        " are listed: " + (there.empty() ? "none" : join(there, ", "));
  if (!absent.empty()) message += "; not listed: " + join(absent, ", ");
  if (seen.hides_all || seen.hides_some) message += "; " + seen.setting + " hides devices";
  if (!machine.driver_version.empty()) message += "; " + kernel_module_text(machine);
  return {"fewer-devices-than-expected",
          message +
              ". Remedy: find the missing device (nvidia-smi or amd-smi, dmesg), or correct "
              "BANDGATE_EXPECT_DEVICES",
          false};
}

std::optional<std::uint64_t> expected_devices(environment_map const& environment) {
  auto const found = environment.find("BANDGATE_EXPECT_DEVICES");
  if (found == environment.end()) return std::nullopt;
  auto const& text = found->second;
  bool const digits =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
  auto const value = digits ? parse_number(text) : std::nullopt;
  if (!value)
    throw usage_error("BANDGATE_EXPECT_DEVICES='" + one_line(text) +
                      "' is not a number of devices: write a whole number such as 8, or unset it");
  return value;
}

}  // namespace

std::vector<device_problem> missing_devices(gpu_presence const& machine,
                                            std::vector<device_identity> const& listed,
                                            environment_map const& environment,
                                            std::string const& backend) {
  auto const expected = expected_devices(environment);
  auto const seen = visible_devices(machine, environment, backend);
  std::vector<device_identity> gpus;
  std::copy_if(listed.begin(), listed.end(), std::back_inserter(gpus),
               [](device_identity const& device) { return device.backend != "host"; });
  // A driver that gives no addresses (some virtual machines) leaves nothing to compare.
  bool const comparable = std::all_of(gpus.begin(), gpus.end(), [](auto const& device) {
    return parse_pci_address(device.pci_address).has_value();
  });

  std::vector<device_problem> problems;
  if (gpus.empty() && machine.any() && !seen.hides_all)
    problems.push_back(driver_without_device(machine, seen, backend));
  else if (!gpus.empty() && comparable && !seen.hides_all && !seen.hides_some)
    for (auto const& gpu : machine.gpus) {
      bool const expected_here =
          backend == "hip" ? should_be_listed_by_hip(gpu, machine) : should_be_listed(gpu, machine);
      if (expected_here && !is_listed(gpu, gpus))
        problems.push_back(backend == "hip" ? missing_from_hip(gpu) : device_missing(gpu, machine));
    }
  if (expected && gpus.size() < *expected)
    problems.push_back(fewer_devices(machine, gpus, *expected, seen));
  return problems;
}

}  // namespace bandgate
