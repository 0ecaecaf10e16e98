// SPDX-License-Identifier: Apache-2.0
/// From the device to page-locked host memory.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(d2h) {
  auto p = transfer_probe("d2h", "Copies from the device to page-locked host memory", 1);
  p.parameters = {transfer_size_parameter(mib(256)), engine_parameter()};
  p.suites = {"quick",
              "full",
              {"full", {{"size", "64MiB"}}},
              {"full", {{"size", "1GiB"}}},
              {"full", {{"engine", "sm"}}}};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    return std::make_unique<transfer>(
        transfer_lane("device to host", gpu, in_device(gpu, size, "device source"),
                      in_pinned(gpu, size, "host target"), gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
