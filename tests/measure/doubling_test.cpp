// SPDX-License-Identifier: Apache-2.0
#include "measure/doubling.hpp"

#include <gmock/gmock.h>

#include <bandgate/errors.hpp>

#include "fakes/scripted_subject.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using fakes::always;
using fakes::call;
using fakes::passes;
using fakes::reading;
using fakes::scripted_subject;
using fakes::steady;
using fakes::virtual_clock;
using ::testing::ElementsAre;

/// `share` of a sample of 20 000 passes does not depend on their number.
scripted_subject::script with_fixed_share(double share) {
  return [=](call const& c) {
    double const ns = 2e7 * share + static_cast<double>(c.iterations) * 1000 * (1 - share);
    return passes(1, ns);
  };
}

std::optional<failure> failure_of(scripted_subject& device, std::uint64_t n) {
  try {
    require_doubling(device, n, {});
  } catch (measurement_error const& e) {
    return e.code();
  }
  return std::nullopt;
}

TEST(doubling, compares_n_with_2n_once_where_it_fits) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  EXPECT_EQ(failure_of(device, 20000), std::nullopt);
  EXPECT_THAT(device.counts, ElementsAre(20000, 40000));
}

TEST(doubling, an_emptied_kernel_fails) {
  virtual_clock time;
  scripted_subject device(time, always(20ms, 20ms));
  EXPECT_EQ(failure_of(device, 20000), failure::not_proportional);
  EXPECT_EQ(device.counts.size(), 6u) << "three pairs, all of which must fail";
}

TEST(doubling, the_message_has_both_times) {
  virtual_clock time;
  scripted_subject device(time, always(20ms, 20ms));
  try {
    require_doubling(device, 20000, {});
    FAIL();
  } catch (measurement_error const& e) {
    EXPECT_STREQ(e.what(),
                 "20000 passes took 20.000 ms and 40000 passes 20.000 ms, which is 1.00 times the "
                 "time for 2 times the passes (3 tries): the kernel does not do its work");
  }
}

TEST(doubling, five_percent_is_the_limit) {
  virtual_clock time;
  scripted_subject within(time, with_fixed_share(0.09)), beyond(time, with_fixed_share(0.11));
  EXPECT_EQ(failure_of(within, 20000), std::nullopt);               // 0.955 of twice
  EXPECT_EQ(failure_of(beyond, 20000), failure::not_proportional);  // 0.945 of twice
}

TEST(doubling, the_fixed_cost_of_a_launch_fits) {
  virtual_clock time;
  scripted_subject device(time, [](call const& c) {
    auto r = passes(c.iterations, 1000);
    r.elapsed += 2us;
    return r;
  });
  EXPECT_EQ(failure_of(device, 20000), std::nullopt);
}

TEST(doubling, a_disturbed_sample_is_tried_again) {
  virtual_clock time;
  auto disturbed = [](std::size_t pairs) {
    return [=](call const& c) {
      bool const slow = c.number % 2 == 0 && c.number / 2 < pairs;
      return passes(c.iterations, slow ? 1500 : 1000);
    };
  };
  scripted_subject twice(time, disturbed(2)), thrice(time, disturbed(3));
  EXPECT_EQ(failure_of(twice, 20000), std::nullopt);
  EXPECT_EQ(twice.counts.size(), 6u);
  EXPECT_EQ(failure_of(thrice, 20000), failure::not_proportional);
}

TEST(doubling, a_device_that_slows_down_is_no_error) {
  virtual_clock time;
  scripted_subject device(
      time, [](call const& c) { return passes(c.iterations, c.number == 0 ? 1000 : 2000); });
  EXPECT_EQ(failure_of(device, 20000), std::nullopt);
  EXPECT_EQ(device.counts.size(), 2u);
}

TEST(doubling, a_timer_that_reads_nothing_is_an_error_of_its_own) {
  virtual_clock time;
  scripted_subject blind(time, always(0ns, 1us));
  EXPECT_EQ(failure_of(blind, 1024), failure::zero_elapsed);
}

TEST(doubling, at_the_ceiling_it_halves_instead) {
  virtual_clock time;
  scripted_subject even(time, steady(1)), odd(time, steady(1)), needy(time, steady(1), 1u << 24);
  EXPECT_EQ(failure_of(even, 1u << 24), std::nullopt);
  EXPECT_THAT(even.counts, ElementsAre(1u << 23, 1u << 24));
  EXPECT_EQ(failure_of(odd, (1u << 23) + 1), std::nullopt);
  EXPECT_THAT(odd.counts, ElementsAre(1u << 22, (1u << 23) + 1));
  EXPECT_EQ(failure_of(needy, 1u << 24), std::nullopt);
  EXPECT_THAT(needy.counts, ElementsAre(1u << 24, 1u << 25));
}

TEST(doubling, a_single_pass_is_compared_with_two) {
  virtual_clock time;
  scripted_subject device(time, steady(1e9));
  EXPECT_EQ(failure_of(device, 1), std::nullopt);
  EXPECT_THAT(device.counts, ElementsAre(1, 2));
}

}  // namespace
}  // namespace bandgate
