// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/bounded_management.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "backend/gpu/cuda_health.hpp"

namespace bandgate::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Answers until it is told to hang; then only the end of the test lets it go.
class moody final : public management {
 public:
  ~moody() override = default;
  std::string name() const override { return "nvml"; }
  bool available() const noexcept override { return true; }
  std::string const& why_not() const noexcept override { return why_; }
  void add_identity(device_identity& d) const override {
    answer();
    d.serial = "1650000000002";
  }
  health_snapshot snapshot(device_identity const&) const override {
    answer();
    return {{"power_w", {health_field::state::ok, 118.0, {}}}};
  }
  std::vector<device_process> processes(device_identity const&,
                                        std::vector<std::uint64_t> const&) const override {
    answer();
    return {{7, "idle", {}, false}};
  }
  std::optional<std::string> lost(device_identity const&) const override {
    answer();
    return "the GPU is lost";
  }

  mutable std::atomic<bool> hangs{false};
  mutable std::atomic<int> questions{0};

 private:
  void answer() const {
    ++questions;
    while (hangs) std::this_thread::sleep_for(1ms);
  }
  std::string why_;
};

struct patience : ::testing::Test {
  std::shared_ptr<moody> library = std::make_shared<moody>();
  device_identity card;
  ~patience() override { library->hangs = false; }
};

TEST_F(patience, passes_on_what_comes_in_time) {
  bounded_management const bounded(library);
  bounded.add_identity(card);
  EXPECT_EQ(card.serial, "1650000000002");
  EXPECT_EQ(std::get<double>(bounded.snapshot(card).at("power_w").value), 118);
  EXPECT_EQ(bounded.processes(card, {}).size(), 1U);
  EXPECT_EQ(bounded.lost(card), "the GPU is lost");
  EXPECT_TRUE(bounded.available());
  EXPECT_EQ(source_of(bounded), "nvml");
}

TEST_F(patience, gives_up_a_library_that_hangs_and_asks_no_more) {
  bounded_management const bounded(library, 200ms);
  library->hangs = true;
  auto const seen = bounded.snapshot(card);
  EXPECT_EQ(seen.at("power_w").status, health_field::state::unavailable);
  EXPECT_THAT(seen.at("power_w").why, HasSubstr("(nvml) gave no answer within 200 ms"));
  while (library->questions == 0) std::this_thread::sleep_for(1ms);
  EXPECT_THAT(bounded.processes(card, {}), IsEmpty());
  EXPECT_EQ(bounded.lost(card), std::nullopt);
  EXPECT_EQ(library->questions, 1);
  EXPECT_FALSE(bounded.available());
  EXPECT_THAT(source_of(bounded), HasSubstr("none: the management library"));
}

TEST_F(patience, keeps_a_measurement_going_when_the_library_hangs_in_the_middle) {
  auto const shared = std::make_shared<bounded_management>(library, 2s);
  cuda_health health(shared, card);
  health.context_made();
  health.on_phase(phase::sampling);
  library->hangs = true;
  health.on_phase(phase::verify_again);
  auto const seen = health.report();
  EXPECT_EQ(std::get<double>(seen.idle.at("power_w").value), 118);
  EXPECT_EQ(seen.source, "nvml");
}

}  // namespace
}  // namespace bandgate::testing
