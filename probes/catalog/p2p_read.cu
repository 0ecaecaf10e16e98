// SPDX-License-Identifier: Apache-2.0
/// This device reads the peer's memory.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(p2p_read) {
  auto p = transfer_probe("p2p_read", "Reads the memory of another GPU", 1);
  p.parameters = {transfer_size_parameter(gib(1)), engine_parameter(), transfer_peer_parameter()};
  p.load = load::peer;
  p.suites = {"quick", {"full", {{peer_parameter, "each"}}}};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    auto& peer = gpu.peer(std::get<std::string>(values.at(peer_parameter)));
    return std::make_unique<transfer>(
        transfer_lane("from the peer", gpu, in_device(peer, size, "peer source"),
                      in_device(gpu, size, "device target"), gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
