// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/gpu/cuda_check.hpp"

namespace bandgate {
namespace {

constexpr char const* fallen =
    "the GPU fell off the bus or was taken away: look for lines of amdgpu in the kernel log, then "
    "reset it or drain the node";

constexpr std::array meanings{
    error_meaning{hipErrorOutOfMemory, failure::out_of_memory, ""},
    // Said by calls on a device that was there before.
    error_meaning{hipErrorNoDevice, failure::device_lost, fallen},
    error_meaning{hipErrorInvalidDevice, failure::device_lost, fallen},
    error_meaning{hipErrorDeinitialized, failure::device_lost, fallen},
    error_meaning{
        hipErrorECCNotCorrectable, failure::device_failed,
        "the GPU's memory has an error that ECC could not correct: read the RAS lines of amdgpu "
        "in the kernel log, then reset the GPU (`amd-smi reset --gpureset`)"},
    error_meaning{
        hipErrorNoBinaryForGpu, failure::device_failed,
        "this build has no code for this GPU: build it with CMAKE_HIP_ARCHITECTURES of that GPU, "
        "which `rocminfo` names (gfx942 wants ROCm 6 or newer)"},
    error_meaning{
        hipErrorInvalidDeviceFunction, failure::device_failed,
        "this build has no code for this GPU: build it with CMAKE_HIP_ARCHITECTURES of that GPU, "
        "which `rocminfo` names (gfx942 wants ROCm 6 or newer)"},
    error_meaning{
        hipErrorInitializationError, failure::device_failed,
        "the runtime could not be initialised: see `rocminfo`, the kernel log, and whether this "
        "user may open /dev/kfd (groups render and video)"},
    error_meaning{hipErrorInsufficientDriver, failure::device_failed,
                  "the kernel's driver is older than the runtime needs: update amdgpu"},
    error_meaning{
        hipErrorSharedObjectInitFailed, failure::device_failed,
        "HIP's runtime library could not be loaded: install ROCm's, of the release that this "
        "build was made with"},
    error_meaning{
        hipErrorLaunchTimeOut, failure::device_failed,
        "the driver ended a kernel that took too long: read the lines of amdgpu in the kernel log"},
    error_meaning{
        hipErrorIllegalAddress, failure::device_failed,
        "a page fault of the GPU: if it repeats, read the lines of amdgpu in the kernel log"},
    error_meaning{hipErrorUnknown, failure::device_failed,
                  "the runtime does not know itself: read the lines of amdgpu in the kernel log"},
};

}  // namespace

std::span<error_meaning const> error_meanings() {
  return meanings;
}

}  // namespace bandgate
