// SPDX-License-Identifier: Apache-2.0
/// Between page-locked host memory and the device, both ways at once on two streams.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(host_bidir) {
  auto p = transfer_probe("host_bidir",
                          "Copies to and from page-locked host memory at the same time", 2);
  p.parameters = {transfer_size_parameter(mib(256)), engine_parameter()};
  p.suites = {"full"};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    return std::make_unique<transfer>(
        transfer_lane("host to device", gpu, in_pinned(gpu, size, "host source"),
                      in_device(gpu, size, "device target"), gpu.seed()),
        transfer_lane("device to host", gpu.side(), in_device(gpu, size, "device source"),
                      in_pinned(gpu, size, "host target"), ~gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
