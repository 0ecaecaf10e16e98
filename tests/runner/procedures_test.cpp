// SPDX-License-Identifier: Apache-2.0
/// In which order a probe's parts are filled, timed and compared.
#include "runner/procedures.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "fakes/scripted_subject.hpp"
#include "fakes/virtual_clock.hpp"

namespace bandgate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Writes down what it is asked for, the timed calls of one slice as one.
class fake_prepared final : public prepared {
 public:
  explicit fake_prepared(fakes::virtual_clock& time)
      : subject_(time, [this](fakes::call const& c) {
          if (log.empty() || log.back() != "time") log.emplace_back("time");
          return fakes::passes(c.iterations, 1000);
        }) {
    work_.bytes_per_pass = work_.slice_bytes = 1000;
    work_.slices = 3;
    work_.windows = 2;
    work_.buffers = {{"data", {2500}}};
  }
  bandgate::work const& work() const override { return work_; }
  std::vector<launch_shape> const& shapes() const override { return shapes_; }
  void fill() override { log.emplace_back("fill"); }
  std::optional<std::string> verify(std::size_t) override {
    log.emplace_back("verify");
    for (auto const slice : wrong)
      if (slice == selected_) return "word " + std::to_string(slice) + " is off";
    return std::nullopt;
  }
  subject& timed(std::size_t) override { return subject_; }
  void select(std::uint64_t slice) override {
    selected_ = slice;
    log.push_back("select " + std::to_string(slice));
  }
  std::vector<std::string> log;
  std::vector<std::uint64_t> wrong;

 private:
  bandgate::work work_;
  std::vector<launch_shape> shapes_{{{"threads", 512}}};
  std::uint64_t selected_{99};
  fakes::scripted_subject subject_;
};

class fake_session final : public session {
 public:
  device_identity const& identity() const override { return identity_; }
  device_facts facts() const override { return {}; }
  bandgate::clock& clock() override { return time; }
  bool proportional() const override { return true; }
  std::unique_ptr<prepared> prepare(probe const&, parameters const&) override { return nullptr; }
  health_monitor& health() override { return health_; }
  fakes::virtual_clock time;

 private:
  struct silent final : health_monitor {
    bandgate::health report() override { return {}; }
  };
  device_identity identity_;
  silent health_;
};

struct progress final : observer {
  void on_phase(phase p) override { heard.emplace_back(to_string(p)); }
  void on_progress(std::uint64_t done, std::uint64_t all) override {
    heard.push_back(std::to_string(done) + "/" + std::to_string(all));
  }
  std::vector<std::string> heard;
};

struct run {
  explicit run(procedure how) : ready(device.time) { what.procedure = how; }
  result measured() {
    result r;
    run_procedure(r, device, what, ready, listener);
    return r;
  }
  fake_session device;
  fake_prepared ready;
  progress listener;
  probe what;
};

TEST(slices_procedure, fills_all_before_it_reads_one_and_compares_all_after_the_last) {
  run map(procedure::slices);
  auto const r = map.measured();
  EXPECT_THAT(map.ready.log,
              ElementsAre("select 0", "fill", "select 1", "fill", "select 2", "fill",  //
                          "select 0", "time", "select 0", "time", "select 1", "time",  //
                          "select 2", "time",                                          //
                          "select 0", "verify", "select 1", "verify", "select 2", "verify"));
  EXPECT_THAT(map.listener.heard,
              ElementsAre("0/3", "1/3", "2/3", "warm-up", "sampling", "0/3", "1/3", "2/3", "3/3",
                          "verify again", "0/3", "1/3", "2/3"));
  EXPECT_TRUE(r.measurement->verified);
  EXPECT_EQ(r.measurement->series->axis, "address");
  EXPECT_EQ(r.measurement->iterations, 5000u);
  EXPECT_EQ(r.probe.shape, (launch_shape{{"threads", 512}}));
}

TEST(slices_procedure, looks_at_every_slice_and_names_all_that_are_wrong) {
  run map(procedure::slices);
  map.ready.wrong = {0, 2};
  try {
    map.measured();
    FAIL() << "no exception";
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::wrong_result);
    EXPECT_STREQ(e.what(),
                 "2 slices are not what was written: slice 1 of 3, 0x0 to 0x3e7; slice 3 of 3, "
                 "0x7d0 to 0x9c3. In slice 1: word 0 is off");
  }
  EXPECT_EQ(map.ready.log.back(), "verify");
  EXPECT_EQ(map.ready.log[map.ready.log.size() - 2], "select 2");
}

TEST(series_procedure, verifies_before_and_after_its_windows) {
  run sustained(procedure::series);
  auto const r = sustained.measured();
  EXPECT_THAT(sustained.ready.log, ElementsAre("fill", "verify", "time", "verify"));
  EXPECT_THAT(sustained.listener.heard,
              ElementsAre("verify", "warm-up", "sampling", "0/2", "1/2", "2/2", "verify again"));
  EXPECT_EQ(r.measurement->samples.size(), 2u);
  EXPECT_TRUE(r.measurement->verified);
  EXPECT_EQ(r.measurement->bytes_per_pass, 1000u);
  sustained.ready.wrong = {99};
  EXPECT_THROW(sustained.measured(), measurement_error);
}

TEST(settle_procedure, has_no_parts) {
  run read(procedure::settle);
  auto const r = read.measured();
  EXPECT_THAT(read.ready.log, ElementsAre("fill", "verify", "time", "verify"));
  EXPECT_THAT(read.listener.heard, ElementsAre("verify", "warm-up", "sampling", "verify again"));
  EXPECT_FALSE(r.measurement->series);
  EXPECT_FALSE(r.measurement->worst);
}

}  // namespace
}  // namespace bandgate
