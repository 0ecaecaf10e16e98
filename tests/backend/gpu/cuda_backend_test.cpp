// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "backend/gpu/cuda_check.hpp"
#include "backend/gpu/cuda_devices.hpp"
#include "backend/gpu/cuda_health.hpp"
#include "backend/gpu/gpu_backend.hpp"

namespace bandgate::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
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

TEST(cuda_version, splits_the_number) {
  EXPECT_EQ(cuda_version(13000), "13.0");
  EXPECT_EQ(cuda_version(12080), "12.8");
  EXPECT_EQ(std::string(gpu_backend_version()), "cuda " + cuda_version(CUDART_VERSION));
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

}  // namespace
}  // namespace bandgate::testing
