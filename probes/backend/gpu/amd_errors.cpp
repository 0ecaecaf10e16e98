// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/gpu/cuda_check.hpp"

namespace bandgate {
namespace {

struct meaning {
  hipError_t status;
  failure what;
  char const* remedy;
};

constexpr char const* fallen =
    "the GPU fell off the bus or was taken away: look for lines of amdgpu in the kernel log, then "
    "reset it or drain the node";

constexpr std::array meanings{
    meaning{hipErrorOutOfMemory, failure::out_of_memory, ""},
    // Said by calls on a device that was there before.
    meaning{hipErrorNoDevice, failure::device_lost, fallen},
    meaning{hipErrorInvalidDevice, failure::device_lost, fallen},
    meaning{hipErrorDeinitialized, failure::device_lost, fallen},
    meaning{
        hipErrorECCNotCorrectable, failure::device_failed,
        "the GPU's memory has an error that ECC could not correct: read the RAS lines of amdgpu "
        "in the kernel log, then reset the GPU (`amd-smi reset --gpureset`)"},
    meaning{
        hipErrorNoBinaryForGpu, failure::device_failed,
        "this build has no code for this GPU: build it with CMAKE_HIP_ARCHITECTURES of that GPU, "
        "which `rocminfo` names (gfx942 wants ROCm 6 or newer)"},
    meaning{
        hipErrorInvalidDeviceFunction, failure::device_failed,
        "this build has no code for this GPU: build it with CMAKE_HIP_ARCHITECTURES of that GPU, "
        "which `rocminfo` names (gfx942 wants ROCm 6 or newer)"},
    meaning{
        hipErrorInitializationError, failure::device_failed,
        "the runtime could not be initialised: see `rocminfo`, the kernel log, and whether this "
        "user may open /dev/kfd (groups render and video)"},
    meaning{hipErrorInsufficientDriver, failure::device_failed,
            "the kernel's driver is older than the runtime needs: update amdgpu"},
    meaning{hipErrorSharedObjectInitFailed, failure::device_failed,
            "HIP's runtime library could not be loaded: install ROCm's, of the release that this "
            "build was made with"},
    meaning{
        hipErrorLaunchTimeOut, failure::device_failed,
        "the driver ended a kernel that took too long: read the lines of amdgpu in the kernel log"},
    meaning{hipErrorIllegalAddress, failure::device_failed,
            "a page fault of the GPU: if it repeats, read the lines of amdgpu in the kernel log"},
    meaning{hipErrorUnknown, failure::device_failed,
            "the runtime does not know itself: read the lines of amdgpu in the kernel log"},
};

meaning const* meaning_of(hipError_t status) {
  for (auto const& known : meanings)
    if (known.status == status) return &known;
  return nullptr;
}

}  // namespace

failure failure_of(hipError_t status) {
  auto const* const known = meaning_of(status);
  return known == nullptr ? failure::device_failed : known->what;
}

char const* remedy_for(hipError_t status) {
  auto const* const known = meaning_of(status);
  return known == nullptr ? "" : known->remedy;
}

}  // namespace bandgate
