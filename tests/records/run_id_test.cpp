// SPDX-License-Identifier: Apache-2.0
#include "records/run_id.hpp"

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "records/result_store.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using time_point = std::chrono::system_clock::time_point;

constexpr random_bytes ones{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
constexpr random_bytes zeros{};

/// RFC 9562, appendix A.6: 2022-02-22T19:22:22.000Z.
constexpr time_point rfc_example{1645557742000ms};

TEST(RunId, HasTheFieldsOfTheRfc) {
  EXPECT_EQ(run_id_source().make(rfc_example, zeros), "017f22e2-79b0-7000-8000-000000000000");
  EXPECT_EQ(run_id_source().make(rfc_example, ones), "017f22e2-79b0-7000-bfff-ffffffffffff");
  // The RFC's own example: rand_a cc3, which here is 3267/4096 ms, and rand_b 18c4dc0c0c07398f.
  EXPECT_EQ(run_id_source().make(rfc_example + 797700ns,
                                 {0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f}),
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

TEST(RunId, CoversTheTimesThatClocksShow) {
  EXPECT_EQ(run_id_source().make(time_point{1ms}, zeros), "00000000-0001-7000-8000-000000000000");
  EXPECT_EQ(run_id_source().make(time_point{4102444799999ms}, zeros),
            "03bb2cc3-d7ff-7000-8000-000000000000");  // the end of 2099
  EXPECT_EQ(run_id_source().make(time_point{-5s}, zeros), "00000000-0000-7001-8000-000000000000");
}

TEST(RunId, RisesWhileTheClockStandsStill) {
  run_id_source source;
  EXPECT_EQ(source.make(rfc_example, ones), "017f22e2-79b0-7000-bfff-ffffffffffff");
  EXPECT_EQ(source.make(rfc_example, zeros), "017f22e2-79b0-7001-8000-000000000000");
  EXPECT_EQ(source.make(rfc_example + 999999ns, zeros), "017f22e2-79b0-7fff-8000-000000000000");
  EXPECT_EQ(source.make(rfc_example + 999999ns, zeros), "017f22e2-79b1-7000-8000-000000000000");
}

TEST(RunId, RisesWhenTheClockIsSetBack) {
  run_id_source source;
  source.make(rfc_example, zeros);
  EXPECT_EQ(source.make(rfc_example - 2h, zeros), "017f22e2-79b0-7001-8000-000000000000");
  EXPECT_EQ(source.make(rfc_example - 1h, zeros), "017f22e2-79b0-7002-8000-000000000000");
  EXPECT_EQ(source.make(rfc_example + 1ms, zeros), "017f22e2-79b1-7000-8000-000000000000");
}

TEST(RunId, IsUniqueAndRisingAcrossThreads) {
  std::vector<std::vector<std::string>> seen(4);
  std::vector<std::thread> threads;
  for (auto& ids : seen)
    threads.emplace_back([&ids] {
      for (int i = 0; i < 5000; ++i) ids.push_back(new_run_id(rfc_example));
    });
  for (auto& thread : threads) thread.join();
  std::set<std::string> all;
  for (auto const& ids : seen) {
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), 20000U);
}

TEST(RunId, IsRandomBetweenProcesses) {
  // Two sources at one instant are what two processes are.
  EXPECT_NE(run_id_source().make(rfc_example, new_random_bytes()),
            run_id_source().make(rfc_example, new_random_bytes()));
}

TEST(Rfc3339, WritesUtcWithMilliseconds) {
  EXPECT_EQ(rfc3339(time_point{0s}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(rfc_example + 120ms), "2022-02-22T19:22:22.120Z");
  EXPECT_EQ(rfc3339(rfc_example + 9999999ns), "2022-02-22T19:22:22.009Z");
  EXPECT_EQ(rfc3339(time_point{4102444799999ms}), "2099-12-31T23:59:59.999Z");
  EXPECT_EQ(rfc3339(time_point{951827696000ms}), "2000-02-29T12:34:56.000Z");
  EXPECT_EQ(rfc3339(time_point{-1ms}), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace bandgate
