// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bandgate/errors.hpp>

#include "runner/backends.hpp"
#include "runner/request.hpp"
#include "runner/worker.hpp"

namespace bandgate {
namespace {

TEST(request, survives_the_command_line) {
  worker_request const sent{worker_request::kind::measure,
                            "scripted:/a b/ü.json",
                            "GPU-1",
                            "read",
                            {{"window", "64MiB"}},
                            2,
                            "/opt/libnvidia-ml.so",
                            "1,0",
                            std::chrono::milliseconds(600000),
                            true,
                            {"copy", "write"}};
  auto const got = request_from_text(to_text(sent));
  EXPECT_EQ(got.what, worker_request::kind::measure);
  EXPECT_EQ(got.backend, "scripted:/a b/ü.json");
  EXPECT_EQ(got.selector, "GPU-1");
  EXPECT_EQ(got.probe, "read");
  EXPECT_EQ(got.parameters.at("window"), "64MiB");
  EXPECT_EQ(got.attempt, 2U);
  EXPECT_EQ(got.management, "/opt/libnvidia-ml.so");
  EXPECT_EQ(got.visible, "1,0");
  EXPECT_EQ(got.wait_idle, std::chrono::minutes(10));
  EXPECT_TRUE(got.allow_contention);
  EXPECT_EQ(got.relative_to, (std::vector<std::string>{"copy", "write"}));
}

TEST(request, tells_a_variable_that_is_empty_from_one_that_is_not_set) {
  worker_request sent;
  EXPECT_EQ(request_from_text(to_text(sent)).visible, std::nullopt);
  sent.visible = "";
  EXPECT_EQ(request_from_text(to_text(sent)).visible, "");
}

TEST(request, of_every_kind_is_told_from_the_others) {
  using kind = worker_request::kind;
  for (auto const what : {kind::devices, kind::inspect, kind::measure}) {
    worker_request sent;
    sent.what = what;
    EXPECT_EQ(request_from_text(to_text(sent)).what, what);
  }
}

TEST(request, that_is_not_one_is_refused) {
  EXPECT_THROW(request_from_text("{}"), usage_error);
  EXPECT_THROW(request_from_text("read"), usage_error);
}

device_list two_cards() {
  device_list list;
  list.devices.resize(2);
  list.devices[0].uuid = "GPU-a";
  list.devices[0].pci_address = "0000:1b:00.0";
  list.devices[1].uuid = "GPU-b";
  list.devices[1].pci_address = "0000:43:00.0";
  return list;
}

TEST(select_device, by_uuid_address_or_index) {
  EXPECT_EQ(select_device(two_cards(), "GPU-b"), 1U);
  EXPECT_EQ(select_device(two_cards(), "0000:43:00.0"), 1U);
  EXPECT_EQ(select_device(two_cards(), "1"), 1U);
  EXPECT_EQ(select_device(two_cards(), "0"), 0U);
}

TEST(select_device, that_is_gone_is_a_missing_device_and_never_another_one) {
  for (auto const* selector : {"GPU-c", "2", "", "0000:1b:00.1", "-1", "0x"}) {
    try {
      select_device(two_cards(), selector);
      FAIL() << selector;
    } catch (measurement_error const& e) {
      EXPECT_EQ(e.code(), failure::device_missing);
    }
  }
}

gpu_presence with_node() {
  gpu_presence machine;
  machine.nodes = {"/dev/nvidiactl"};
  return machine;
}

TEST(chosen_backend, never_makes_a_host_run_of_a_broken_gpu_machine) {
  EXPECT_EQ(chosen_backend("auto", with_node()), "cuda");
  EXPECT_EQ(chosen_backend("", with_node()), "cuda");
  EXPECT_EQ(chosen_backend("auto", {}), "host");
  EXPECT_EQ(chosen_backend("host", with_node()), "host");
}

TEST(options_from, tells_a_variable_that_is_empty_from_one_that_is_not_set) {
  EXPECT_EQ(options_from({{"BANDGATE_NVML", "none"}}).management, "none");
  EXPECT_EQ(options_from({}).management, "");
  EXPECT_EQ(options_from({}).visible, std::nullopt);
  EXPECT_EQ(options_from({{"CUDA_VISIBLE_DEVICES", ""}}).visible, "");
}

TEST(make_backend, refuses_what_it_does_not_know) {
  EXPECT_THROW(make_backend("gpu"), usage_error);
  EXPECT_THROW(make_backend("scripted:"), usage_error);
  EXPECT_THROW(make_backend("scripted:/no/such/file.json"), usage_error);
}

}  // namespace
}  // namespace bandgate
