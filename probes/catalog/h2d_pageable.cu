// SPDX-License-Identifier: Apache-2.0
/// From ordinary host memory, which the driver copies through a page-locked piece of its own.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(h2d_pageable) {
  auto p = transfer_probe("h2d_pageable",
                          "Copies from ordinary host memory to the device; for information", 1);
  p.parameters = {transfer_size_parameter(mib(256))};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    return std::make_unique<transfer>(
        transfer_lane("host to device", gpu, in_pageable(gpu, size, "host source"),
                      in_device(gpu, size, "device target"), gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
