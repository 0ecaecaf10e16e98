// SPDX-License-Identifier: Apache-2.0
/// From page-locked host memory to the device.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(h2d) {
  auto p = transfer_probe("h2d", "Copies from page-locked host memory to the device", 1);
  p.parameters = {transfer_size_parameter(mib(256)), engine_parameter()};
  p.suites = {"quick",
              "full",
              {"full", {{"size", "64MiB"}}},
              {"full", {{"size", "1GiB"}}},
              {"full", {{"engine", "sm"}}}};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    return std::make_unique<transfer>(
        transfer_lane("host to device", gpu, in_pinned(gpu, size, "host source"),
                      in_device(gpu, size, "device target"), gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
