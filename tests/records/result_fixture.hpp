// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/result.hpp>

namespace bandgate::testing {

/// Every member set, each to a value of its own.
inline result full_result() {
  result r;
  r.run = {.id = "01939b2e-5f4b-7cc3-98c4-dc0c0c07398f",
           .group_id = "group",
           .started = "2026-11-29T02:10:03.120Z",
           .duration_s = 1.5,
           .attempt = 2,
           .host = "host",
           .node = "node",
           .boot_id = "boot",
           .kernel = "kernel",
           .kernel_module_flavour = "open",
           .gsp_version = "gsp",
           .fabric_manager = "fabric",
           .bios = "bios",
           .product = "product",
           .container_image = "image",
           .scheduler_job = "job",
           .ci_system = "ci",
           .ci_job = "ci job",
           .ci_commit = "commit",
           .labels = {{"rack", "7"}},
           .tool_version = "0.1.0",
           .tool_build = "build"};
  r.device = {.backend = "cuda",
              .name = "NVIDIA H200",
              .uuid = "GPU-1",
              .pci_address = "0000:1b:00.0",
              .pci_device = "10de:2335",
              .pci_subsystem = "10de:18bf",
              .board_part = "part",
              .serial = "serial",
              .memory_bytes = 150754820096,
              .bus_width_bits = 6144,
              .memory_clock_mhz = 3201.5,
              .peak_bytes_per_second = 4.8143e12,
              .processors = 132,
              .last_level_cache_bytes = 62914560,
              .compute_capability = "9.0",
              .ecc = true,
              .mig_profile = "1g.18gb",
              .mig_parent = "GPU-2",
              .virtualization = "none",
              .power_limit_w = 700.5,
              .power_limit_default_w = 701.5,
              .vbios = "vbios",
              .driver_version = "580.159.04",
              .runtime_version = "13.0",
              .persistence_mode = "on",
              .compute_mode = "default",
              .numa_node = -1,
              .cpu_model = "cpu",
              .sockets = 2,
              .numa_nodes = 4,
              .dimm_mts = 4800};
  r.probe = {.name = "read",
             .version = 3,
             .parameters = {{"buffer", "auto"}, {"window", std::uint64_t{18446744073709551615U}}},
             .shape = {{"threads", 256}},
             .byte_rule = "bytes read",
             .ceiling = "dram",
             .lower_is_better = false,
             .expected_spread = 0.02};
  r.measurement = measurement{.is_time = false,
                              .median = 4.6e12,
                              .peak = 4.7e12,
                              .p05 = 4.5e12,
                              .p95 = 4.65e12,
                              .sd = 1.25e9,
                              .cv = 0.00025,
                              .slope = -0.001,
                              .unsettled = true,
                              .samples = {4.5e12, 4.6e12, 4.7e12},
                              .iterations = 5,
                              .bytes_per_pass = 4294967296,
                              .warm_up_s = 0.75,
                              .verified = true,
                              .more = {{"ratio to copy", "1", 1.1}},
                              .series = series{.axis = "time",
                                               .step = 1,
                                               .points = {{.at = 0,
                                                           .value = 4.5e12,
                                                           .sm_clock_mhz = 1980,
                                                           .temperature_c = 41,
                                                           .power_w = std::nullopt}}},
                              .worst = 4.5e12,
                              .drop = -0.125};
  r.notes = {"note"};
  r.health = {.source = "nvml",
              .idle = {{"ecc", {health_field::state::ok, true, ""}},
                       {"p_state", {health_field::state::ok, std::string("P0"), ""}},
                       {"fan", {health_field::state::not_supported, {}, ""}}},
              .load = {{"sm_clock_mhz", {health_field::state::ok, 1980.0, ""}}},
              .change = {{"replays", {health_field::state::unavailable, {}, "no library"}}},
              .processes = {{.pid = 42, .name = "other", .memory_bytes = 1024, .active = true}}};
  r.verdict = {.status = status::regression,
               .unstable = true,
               .baselines = {{.file = "built-in:nvidia-h200.json",
                              .entry = "/entries/0",
                              .kind = "measured",
                              .statistic = "median",
                              .generic = true,
                              .card = true,
                              .reference = 4.62e12,
                              .lower = 4.57e12,
                              .upper = 4.66e12,
                              .ratio = 0.99}},
               .reasons = {{"below-bound", "It is slow."}},
               .next_step = "next"};
  return r;
}

/// Nothing known but that the attempt died: all that may be null or empty is.
inline result bare_result() {
  result r;
  r.run.id = "01939b2e-5f4b-7cc3-98c4-dc0c0c07398f";
  r.run.started = "1970-01-01T00:00:00.000Z";
  r.device.backend = "host";
  r.probe.name = "read";
  r.probe.ceiling = "none";
  r.failure = failure::crashed;
  r.failure_message = "killed by signal 9";
  r.verdict.status = status::error;
  return r;
}

}  // namespace bandgate::testing
