// SPDX-License-Identifier: Apache-2.0
#include "device/nvml_symbols.hpp"

namespace bandgate {
namespace {

char const* meaning(nvml_abi::code code) {
  switch (code) {
    case nvml_abi::success:
      return "success";
    case nvml_abi::uninitialized:
      return "NVML is not initialised";
    case nvml_abi::invalid_argument:
      return "invalid argument";
    case nvml_abi::not_supported:
      return "not supported";
    case nvml_abi::no_permission:
      return "no permission";
    case nvml_abi::not_found:
      return "not found";
    case nvml_abi::insufficient_size:
      return "the answer is larger than its buffer";
    case nvml_abi::insufficient_power:
      return "the card's power cables are not attached";
    case nvml_abi::driver_not_loaded:
      return "the NVIDIA driver is not loaded";
    case nvml_abi::timeout:
      return "timed out";
    case nvml_abi::irq_issue:
      return "the kernel sees an interrupt problem with the GPU";
    case nvml_abi::library_not_found:
      return "a library of the driver was not found";
    case nvml_abi::function_not_found:
      return "this driver has no such function";
    case nvml_abi::corrupted_inforom:
      return "the card's infoROM is corrupted";
    case nvml_abi::gpu_is_lost:
      return "the GPU is lost";
    case nvml_abi::reset_required:
      return "the GPU must be reset";
    case nvml_abi::operating_system:
      return "the operating system refused it";
    case nvml_abi::version_mismatch:
      return "kernel module and NVML library are of different driver versions: restart, or reload "
             "the module";
    case nvml_abi::in_use:
      return "the GPU is in use";
    case nvml_abi::out_of_memory:
      return "out of memory";
    case nvml_abi::no_data:
      return "no data";
    case nvml_abi::argument_version_mismatch:
      return "this driver does not know that layout of the answer";
    case nvml_abi::not_ready:
      return "the system is not ready for this";
    case nvml_abi::gpu_not_found:
      return "no GPU was found";
    case nvml_abi::invalid_state:
      return "the state does not allow this";
    case nvml_abi::unknown:
      return "unknown error of the driver";
  }
  return "error";
}

}  // namespace

std::string explain(char const* function, nvml_abi::code code) {
  return std::string(function) + ": " + meaning(code) + " (" +
         std::to_string(static_cast<int>(code)) + ")";
}

}  // namespace bandgate
