// SPDX-License-Identifier: Apache-2.0
/// To ordinary host memory, which the driver copies through a page-locked piece of its own.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(d2h_pageable) {
  auto p = transfer_probe("d2h_pageable",
                          "Copies from the device to ordinary host memory; for information", 1);
  p.parameters = {transfer_size_parameter(mib(256))};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    return std::make_unique<transfer>(
        transfer_lane("device to host", gpu, in_device(gpu, size, "device source"),
                      in_pageable(gpu, size, "host target"), gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
