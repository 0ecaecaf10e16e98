// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/gpu/cuda_check.hpp"

namespace bandgate {
namespace {

struct meaning {
  int status;  ///< a number, since older toolkits lack some of the names
  failure what;
  char const* remedy;
};

constexpr char const* fallen =
    "the GPU fell off the bus or was taken away: look for Xid 79 in the kernel log, then reset it "
    "or drain the node";
constexpr char const* mps =
    "this process is a client of MPS: look at the log of its control daemon and restart it";

constexpr std::array meanings{
    meaning{cudaErrorMemoryAllocation, failure::out_of_memory, ""},
    meaning{cudaErrorDevicesUnavailable, failure::exclusively_held,
            "the GPU is in exclusive-process mode and another process has it, or its mode is "
            "prohibited"},
    // Said by calls on a device that was there before.
    meaning{cudaErrorNoDevice, failure::device_lost, fallen},
    meaning{cudaErrorInvalidDevice, failure::device_lost, fallen},
    meaning{cudaErrorDeviceUninitialized, failure::device_lost, fallen},
    meaning{cudaErrorECCUncorrectable, failure::device_failed,
            "the GPU's memory has an error that ECC could not correct: read Xid 48, 63, 64, 94 and "
            "95 in the kernel log, then reset the GPU, which remaps the row"},
    meaning{cudaErrorNvlinkUncorrectable, failure::device_failed,
            "NVLink has an error that it could not correct: read Xid 74 in the kernel log and "
            "`nvidia-smi nvlink -e`, then reset the GPUs of that link"},
    meaning{226 /* cudaErrorContained */, failure::device_failed,
            "an error of the GPU's memory was contained to this process: read Xid 94 in the kernel "
            "log and reset the GPU when it is free"},
    meaning{cudaErrorHardwareStackError, failure::device_failed,
            "the GPU's call stack is damaged: if it repeats, the hardware is"},
    meaning{cudaErrorIllegalInstruction, failure::device_failed,
            "the GPU met an instruction that is none: if it repeats, its memory or the hardware is "
            "damaged"},
    meaning{
        cudaErrorExternalDevice, failure::device_failed,
        "a device at the other end of a transfer failed: look at the other GPU and at the link"},
    meaning{cudaErrorLaunchTimeout, failure::device_failed,
            "the watchdog of a display ended a kernel: measure a GPU without a display"},
    meaning{cudaErrorInitializationError, failure::device_failed,
            "the driver could not be initialised: see `nvidia-smi` and the kernel log"},
    meaning{cudaErrorStartupFailure, failure::device_failed,
            "the driver could not be started: see `nvidia-smi` and the kernel log"},
    meaning{cudaErrorDeviceNotLicensed, failure::device_failed,
            "the virtual GPU has no licence: see `nvidia-smi -q`"},
    meaning{cudaErrorSystemNotReady, failure::device_failed,
            "on machines with NVSwitch the fabric manager must run (`systemctl status "
            "nvidia-fabricmanager`), and in a confidential VM the GPU must be set ready"},
    meaning{cudaErrorSystemDriverMismatch, failure::device_failed,
            "kernel module and driver library are of different versions: restart, or reload the "
            "module"},
    meaning{cudaErrorCompatNotSupportedOnDevice, failure::device_failed,
            "the forward compatibility package does not work with this GPU: remove it from the "
            "library path"},
    meaning{cudaErrorMpsConnectionFailed, failure::device_failed, mps},
    meaning{cudaErrorMpsRpcFailure, failure::device_failed, mps},
    meaning{cudaErrorMpsServerNotReady, failure::device_failed, mps},
    meaning{cudaErrorMpsMaxClientsReached, failure::device_failed, mps},
    meaning{cudaErrorMpsMaxConnectionsReached, failure::device_failed, mps},
    meaning{cudaErrorMpsClientTerminated, failure::device_failed, mps},
    meaning{cudaErrorUnknown, failure::device_failed,
            "the driver does not know itself: see the kernel log; often /dev/nvidia-uvm is missing "
            "or the GPU must be reset"},
};

meaning const* meaning_of(cudaError_t status) {
  for (auto const& known : meanings)
    if (known.status == static_cast<int>(status)) return &known;
  return nullptr;
}

}  // namespace

failure failure_of(cudaError_t status) {
  auto const* const known = meaning_of(status);
  return known == nullptr ? failure::device_failed : known->what;
}

char const* remedy_for(cudaError_t status) {
  auto const* const known = meaning_of(status);
  return known == nullptr ? "" : known->remedy;
}

}  // namespace bandgate
