// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/gpu/cuda_check.hpp"

namespace bandgate {
namespace {

constexpr char const* fallen =
    "the GPU fell off the bus or was taken away: look for Xid 79 in the kernel log, then reset it "
    "or drain the node";
constexpr char const* mps =
    "this process is a client of MPS: look at the log of its control daemon and restart it";

constexpr std::array meanings{
    error_meaning{cudaErrorMemoryAllocation, failure::out_of_memory, ""},
    error_meaning{cudaErrorDevicesUnavailable, failure::exclusively_held,
                  "the GPU is in exclusive-process mode and another process has it, or its mode is "
                  "prohibited"},
    // Said by calls on a device that was there before.
    error_meaning{cudaErrorNoDevice, failure::device_lost, fallen},
    error_meaning{cudaErrorInvalidDevice, failure::device_lost, fallen},
    error_meaning{cudaErrorDeviceUninitialized, failure::device_lost, fallen},
    error_meaning{
        cudaErrorECCUncorrectable, failure::device_failed,
        "the GPU's memory has an error that ECC could not correct: read Xid 48, 63, 64, 94 and "
        "95 in the kernel log, then reset the GPU, which remaps the row"},
    error_meaning{
        cudaErrorNvlinkUncorrectable, failure::device_failed,
        "NVLink has an error that it could not correct: read Xid 74 in the kernel log and "
        "`nvidia-smi nvlink -e`, then reset the GPUs of that link"},
    error_meaning{
        226 /* cudaErrorContained */, failure::device_failed,
        "an error of the GPU's memory was contained to this process: read Xid 94 in the kernel "
        "log and reset the GPU when it is free"},
    error_meaning{cudaErrorHardwareStackError, failure::device_failed,
                  "the GPU's call stack is damaged: if it repeats, the hardware is"},
    error_meaning{
        cudaErrorIllegalInstruction, failure::device_failed,
        "the GPU met an instruction that is none: if it repeats, its memory or the hardware is "
        "damaged"},
    error_meaning{
        cudaErrorExternalDevice, failure::device_failed,
        "a device at the other end of a transfer failed: look at the other GPU and at the link"},
    error_meaning{cudaErrorLaunchTimeout, failure::device_failed,
                  "the watchdog of a display ended a kernel: measure a GPU without a display"},
    error_meaning{cudaErrorInitializationError, failure::device_failed,
                  "the driver could not be initialised: see `nvidia-smi` and the kernel log"},
    error_meaning{cudaErrorStartupFailure, failure::device_failed,
                  "the driver could not be started: see `nvidia-smi` and the kernel log"},
    error_meaning{cudaErrorDeviceNotLicensed, failure::device_failed,
                  "the virtual GPU has no licence: see `nvidia-smi -q`"},
    error_meaning{cudaErrorSystemNotReady, failure::device_failed,
                  "on machines with NVSwitch the fabric manager must run (`systemctl status "
                  "nvidia-fabricmanager`), and in a confidential VM the GPU must be set ready"},
    error_meaning{
        cudaErrorSystemDriverMismatch, failure::device_failed,
        "kernel module and driver library are of different versions: restart, or reload the "
        "module"},
    error_meaning{
        cudaErrorCompatNotSupportedOnDevice, failure::device_failed,
        "the forward compatibility package does not work with this GPU: remove it from the "
        "library path"},
    error_meaning{cudaErrorMpsConnectionFailed, failure::device_failed, mps},
    error_meaning{cudaErrorMpsRpcFailure, failure::device_failed, mps},
    error_meaning{cudaErrorMpsServerNotReady, failure::device_failed, mps},
    error_meaning{cudaErrorMpsMaxClientsReached, failure::device_failed, mps},
    error_meaning{cudaErrorMpsMaxConnectionsReached, failure::device_failed, mps},
    error_meaning{cudaErrorMpsClientTerminated, failure::device_failed, mps},
    error_meaning{
        cudaErrorUnknown, failure::device_failed,
        "the driver does not know itself: see the kernel log; often /dev/nvidia-uvm is missing "
        "or the GPU must be reset"},
};

}  // namespace

std::span<error_meaning const> error_meanings() {
  return meanings;
}

}  // namespace bandgate
