// SPDX-License-Identifier: Apache-2.0
/// What a supervisor makes of workers that wait, hang or die; the workers are shell scripts.
#include "runner/supervisor.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "records/result_json.hpp"
#include "records/schema.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

/// $1: the parent, $2: the request.
supervisor with_worker(std::string const& script, std::chrono::milliseconds limit = 20s,
                       std::chrono::milliseconds wait_idle = 5s) {
  supervisor_options options;
  options.worker = {"/bin/sh", "-c", script, "worker"};
  options.backend = "scripted:x";
  options.time_limit = limit;
  options.wait_idle = wait_idle;
  options.counts_gpus = false;
  options.group_id = "01890a5d-ac96-774b-bcce-b302099a8057";
  return supervisor(options);
}

device_identity card() {
  device_identity d;
  d.backend = "scripted";
  d.name = "Card";
  d.uuid = "GPU-1";
  d.pci_address = "0000:1b:00.0";
  return d;
}

probe const& a_probe() {
  static probe const p = [] {
    probe made;
    made.name = "read";
    made.version = 1;
    return made;
  }();
  return p;
}

result measured_by(supervisor const& runs) {
  return runs.measure(card(), 0, a_probe(), {}, 1, {});
}

gpu_presence nothing() {
  return {};
}

TEST(supervisor, says_what_a_hung_worker_was_asking_and_names_the_device) {
  auto const r = measured_by(with_worker(
      "echo 'asking the driver'; echo 'asking the management library'; exec sleep 600", 2s));
  EXPECT_EQ(r.failure, failure::timed_out);
  EXPECT_THAT(r.failure_message,
              AllOf(HasSubstr("GPU-1 at 0000:1b:00.0"), HasSubstr("time limit of 2 s"),
                    HasSubstr("stuck while asking the management library")));
  EXPECT_EQ(r.device.uuid, "GPU-1");
  EXPECT_NO_THROW(validate(nlohmann::json(to_json(r)), "result", "the result"));
}

TEST(supervisor, gives_a_worker_that_waits_for_others_its_time_on_top_once) {
  auto const waits = "for i in 1 2 3 4 5 6; do echo 'waiting for others'; sleep 0.5; done; ";
  auto const r = measured_by(with_worker(std::string(waits) + "exit 9", 2s, 20s));
  EXPECT_EQ(r.failure, failure::crashed);
  EXPECT_THAT(r.failure_message, HasSubstr("exited with code 9"));
  auto const stuck = measured_by(with_worker(std::string(waits) + "exec sleep 600", 1s, 2s));
  EXPECT_EQ(stuck.failure, failure::timed_out);
  EXPECT_LT(stuck.run.duration_s, 20);
  EXPECT_THAT(stuck.failure_message, HasSubstr("while waiting for others"));
}

TEST(supervisor, ends_a_listing_that_hangs_and_says_where) {
  auto const listed =
      with_worker("echo 'asking the management library'; exec sleep 600", 2s).devices(nothing);
  ASSERT_THAT(listed.problems, SizeIs(1));
  EXPECT_EQ(listed.problems[0].code, "timed-out");
  EXPECT_THAT(listed.problems[0].message, AllOf(HasSubstr("listing the devices"), HasSubstr("2 s"),
                                                HasSubstr("while asking the management library")));
}

std::string listing_of_two() {
  auto second = card();
  second.uuid = "GPU-2";
  second.pci_address = "0000:43:00.0";
  nlohmann::ordered_json const document{
      {"devices", {{{"device", device_to_json(card())}}, {{"device", device_to_json(second)}}}},
      {"problems", nlohmann::ordered_json::array()}};
  return document.dump();
}

TEST(supervisor, inspects_devices_apart_when_one_does_not_answer) {
  // Asked for all it hangs at the second; asked for one it answers for the first.
  auto const script =
      "case \"$2\" in *'\"what\":\"devices\"'*) echo '" + listing_of_two() +
      "' >&3;; *GPU-1*) echo '{\"devices\": [{\"device\": " + device_to_json(card()).dump() +
      ", \"health\": {\"source\": \"nvml\", \"idle\": {}, \"load\": {}, "
      "\"change\": {}, \"processes\": []}}], \"problems\": []}' >&3;; "
      "*) echo 'looking at GPU-2'; exec sleep 600;; esac";
  auto const started = std::chrono::steady_clock::now();
  auto const seen = with_worker(script, 12s).inspect(nothing);
  // One limit for all of it, not one for the first look and one for those that follow.
  EXPECT_LT(std::chrono::steady_clock::now() - started, 20s);
  ASSERT_THAT(seen.devices, SizeIs(2));
  EXPECT_EQ(seen.devices[0].lost, "");
  EXPECT_EQ(seen.devices[0].health.source, "nvml");
  EXPECT_EQ(seen.devices[1].device.uuid, "GPU-2");
  EXPECT_THAT(seen.devices[1].lost, HasSubstr("while looking at GPU-2"));
  EXPECT_THAT(seen.problems, SizeIs(0));
}

TEST(supervisor, lets_a_driver_start_slowly_before_there_is_a_device_to_look_at) {
  auto const script = "sleep 7; echo 'looking at GPU-1'; echo '{\"devices\": [{\"device\": " +
                      device_to_json(card()).dump() +
                      ", \"health\": {\"source\": \"nvml\", \"idle\": {}, \"load\": {}, "
                      "\"change\": {}, \"processes\": []}}], \"problems\": []}' >&3";
  auto const seen = with_worker(script, 12s).inspect(nothing);
  ASSERT_THAT(seen.devices, SizeIs(1));
  EXPECT_EQ(seen.devices[0].lost, "");
  EXPECT_THAT(seen.problems, SizeIs(0));
}

TEST(supervisor, names_no_device_where_the_listing_itself_hangs) {
  auto const seen = with_worker("echo 'asking the driver'; exec sleep 600", 2s).inspect(nothing);
  EXPECT_THAT(seen.devices, SizeIs(0));
  ASSERT_THAT(seen.problems, SizeIs(1));
  EXPECT_THAT(seen.problems[0].message, HasSubstr("while asking the driver"));
}

TEST(supervisor, keeps_what_a_worker_says_of_a_lost_device) {
  auto const script = "echo '{\"devices\": [{\"device\": " + device_to_json(card()).dump() +
                      ", \"lost\": \"it fell off the bus\"}], \"problems\": []}' >&3";
  auto const seen = with_worker(script).inspect(nothing);
  ASSERT_THAT(seen.devices, SizeIs(1));
  EXPECT_EQ(seen.devices[0].lost, "it fell off the bus");
}

}  // namespace
}  // namespace bandgate
