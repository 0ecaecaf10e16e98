// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "backend/gpu/cuda_check.hpp"
#include "backend/gpu/cuda_devices.hpp"
#include "backend/gpu/cuda_health.hpp"
#include "backend/gpu/gpu_backend.hpp"
#include "backend/gpu/vendor.hpp"

namespace bandgate::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(check, tells_failures_apart) {
  EXPECT_EQ(failure_of(cudaErrorMemoryAllocation), failure::out_of_memory);
  EXPECT_EQ(failure_of(cudaErrorDevicesUnavailable), failure::exclusively_held);
  EXPECT_EQ(failure_of(cudaErrorNoDevice), failure::device_lost);
  EXPECT_EQ(failure_of(cudaErrorECCUncorrectable), failure::device_failed);
  EXPECT_EQ(failure_of(cudaErrorIllegalAddress), failure::device_failed);
  EXPECT_EQ(failure_of(cudaErrorUnknown), failure::device_failed);
  EXPECT_EQ(failure_of(static_cast<cudaError_t>(226)), failure::device_failed);  // contained
}

TEST(check, says_what_is_broken_and_what_to_do) {
  EXPECT_THAT(remedy_for(cudaErrorInvalidDevice), HasSubstr("Xid 79"));
  EXPECT_THAT(remedy_for(cudaErrorECCUncorrectable), HasSubstr("reset the GPU"));
  EXPECT_THAT(remedy_for(cudaErrorNvlinkUncorrectable), HasSubstr("Xid 74"));
  EXPECT_THAT(remedy_for(static_cast<cudaError_t>(226)), HasSubstr("Xid 94"));
  EXPECT_THAT(remedy_for(cudaErrorHardwareStackError), HasSubstr("hardware"));
  EXPECT_THAT(remedy_for(cudaErrorExternalDevice), HasSubstr("other GPU"));
  EXPECT_THAT(remedy_for(cudaErrorSystemNotReady), HasSubstr("fabric manager"));
  EXPECT_THAT(remedy_for(cudaErrorSystemDriverMismatch), HasSubstr("reload the module"));
  EXPECT_THAT(remedy_for(cudaErrorUnknown), HasSubstr("kernel log"));
  EXPECT_EQ(std::string(remedy_for(cudaErrorInvalidValue)), "");
  try {
    check(cudaErrorNvlinkUncorrectable, "launch of p2p_read on GPU-1, PCI 0000:1b:00.0");
    FAIL() << "did not throw";
  } catch (measurement_error const& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("launch of p2p_read on GPU-1, PCI 0000:1b:00.0: "),
                                    HasSubstr("error 220"), HasSubstr("Xid 74")));
  }
}

TEST(check, names_the_call_the_error_and_the_place) {
  EXPECT_NO_THROW(check(cudaSuccess, "launch"));
  try {
    check(cudaErrorMemoryAllocation, "cudaMalloc of 8 bytes (pool)");
    FAIL() << "did not throw";
  } catch (measurement_error const& error) {
    EXPECT_EQ(error.code(), failure::out_of_memory);
    EXPECT_THAT(error.what(), AllOf(StartsWith("cudaMalloc of 8 bytes (pool): out of memory"),
                                    HasSubstr("cudaErrorMemoryAllocation, error 2"),
                                    HasSubstr("[cuda_backend_test.cpp:"), Not(HasSubstr("/"))));
  }
}

TEST(version, splits_the_number) {
  EXPECT_EQ(vendor::version_text(13000), "13.0");
  EXPECT_EQ(vendor::version_text(12080), "12.8");
  EXPECT_EQ(std::string(gpu_backend_name()), "cuda");
  EXPECT_EQ(std::string(gpu_backend_version()), "cuda " + vendor::version_text(CUDART_VERSION));
}

TEST(uuid, is_written_as_nvidia_smi_does) {
  unsigned char const raw[16] = {0xf8, 0x16, 0x3f, 0x92, 0xc5, 0x67, 0x30, 0x28,
                                 0x56, 0xa1, 0x81, 0xf9, 0x0d, 0xc6, 0xbd, 0x18};
  EXPECT_EQ(format_uuid("GPU-", raw), "GPU-f8163f92-c567-3028-56a1-81f90dc6bd18");
}

TEST(mig, profile_comes_from_the_name) {
  EXPECT_EQ(mig_profile_of("NVIDIA H200 MIG 1g.18gb"), "1g.18gb");
  EXPECT_EQ(mig_profile_of("NVIDIA H200"), "");
}

TEST(start_problem, keeps_quiet_where_there_is_no_device_or_no_driver) {
  EXPECT_FALSE(start_problem(cudaSuccess, 13000, 13000, "580.1"));
  EXPECT_FALSE(start_problem(cudaErrorNoDevice, 13000, 13000, "580.1"));
  EXPECT_FALSE(start_problem(cudaErrorInsufficientDriver, 0, 13000, ""));
}

TEST(start_problem, says_which_driver_an_old_one_must_become) {
  auto const problem = start_problem(cudaErrorInsufficientDriver, 12040, 13000, "550.54.14");
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->code, "driver-too-old");
  EXPECT_TRUE(problem->usage);
  EXPECT_THAT(problem->message,
              AllOf(HasSubstr("550.54.14"), HasSubstr("supports CUDA 12.4"), HasSubstr("CUDA 13.0"),
                    HasSubstr("driver 580 or newer"), HasSubstr("a build made with CUDA 12")));
}

TEST(start_problem, names_no_build_that_there_cannot_be) {
  auto const problem = start_problem(cudaErrorInsufficientDriver, 11080, 12040, "520.61.05");
  ASSERT_TRUE(problem);
  EXPECT_THAT(problem->message, EndsWith("which uses CUDA 12.4: install driver 525 or newer"));
}

TEST(start_problem, reports_a_driver_that_does_not_start) {
  auto const problem = start_problem(cudaErrorSystemNotReady, 13000, 13000, "580.1");
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->code, "device-failed");
  EXPECT_FALSE(problem->usage);
  EXPECT_THAT(problem->message, AllOf(HasSubstr("802"), HasSubstr("fabric manager")));
}

device_process process(std::uint64_t pid) {
  return {pid, "", {}, false};
}

TEST(own_processes, knows_itself_by_its_number) {
  EXPECT_THAT(own_processes({process(7)}, {process(7), process(8), process(42)}, 42),
              ElementsAre(42));
}

TEST(own_processes, knows_itself_in_another_namespace_as_the_one_that_came) {
  EXPECT_THAT(own_processes({process(7)}, {process(7), process(31337)}, 42),
              ElementsAre(42, 31337));
}

TEST(own_processes, takes_no_stranger_for_itself) {
  EXPECT_THAT(own_processes({}, {process(1), process(2)}, 42), ElementsAre(42));
  EXPECT_THAT(own_processes({process(7)}, {process(7)}, 42), ElementsAre(42));
}

health_field number(double value) {
  return {health_field::state::ok, value, {}};
}

TEST(counted, is_the_difference_of_what_counts_up) {
  health_field const gone{health_field::state::unavailable, {}, "lost"};
  auto const change = counted({{"pcie_replays", number(5)},
                               {"thermal_ns", number(100)},
                               {"power_w", number(100)},
                               {"ecc_uncorrected_volatile", gone}},
                              {{"pcie_replays", number(7)},
                               {"thermal_ns", number(100)},
                               {"power_w", number(700)},
                               {"ecc_uncorrected_volatile", number(1)}});
  ASSERT_EQ(change.size(), 3U);
  EXPECT_EQ(std::get<double>(change.at("pcie_replays").value), 2.0);
  EXPECT_EQ(std::get<double>(change.at("thermal_ns").value), 0.0);
  EXPECT_EQ(change.at("ecc_uncorrected_volatile").why, "lost");
}

TEST(counted, knows_every_counter) {
  health_snapshot before, after;
  for (char const* name :
       {"clock_event_hw_thermal_ns", "clock_event_sw_power_cap_ns", "pcie_replays", "nvlink_errors",
        "ecc_corrected_volatile", "ecc_uncorrected_volatile", "ecc_uncorrected_aggregate"}) {
    before[name] = number(3);
    after[name] = number(10);
  }
  auto const change = counted(before, after);
  EXPECT_EQ(change.size(), 7U);
  for (auto const& [name, field] : change) EXPECT_EQ(std::get<double>(field.value), 7) << name;
}

TEST(counted, makes_no_difference_of_what_is_none) {
  health_field const text{health_field::state::ok, std::string("many"), {}};
  auto const change = counted({{"pcie_replays", number(7)}, {"nvlink_errors", text}},
                              {{"pcie_replays", number(5)}, {"nvlink_errors", number(1)}});
  EXPECT_EQ(change.at("pcie_replays").status, health_field::state::unavailable);
  EXPECT_EQ(change.at("pcie_replays").why, "the counter was set back meanwhile");
  EXPECT_EQ(change.at("nvlink_errors").why, "the counter is no number");
}

}  // namespace
}  // namespace bandgate::testing
