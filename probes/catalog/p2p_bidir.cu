// SPDX-License-Identifier: Apache-2.0
/// Two devices write to each other's memory at the same time.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(p2p_bidir) {
  auto p =
      transfer_probe("p2p_bidir", "Two GPUs write to the memory of each other at the same time", 2);
  p.parameters = {transfer_size_parameter(gib(1)), engine_parameter(), transfer_peer_parameter()};
  p.load = load::peer;
  p.suites = {{"full", {{peer_parameter, "each"}}}};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    auto& peer = gpu.peer(std::get<std::string>(values.at(peer_parameter)));
    return std::make_unique<transfer>(
        transfer_lane("to the peer", gpu, in_device(gpu, size, "device source"),
                      in_device(peer, size, "peer target"), gpu.seed()),
        transfer_lane("from the peer", peer, in_device(peer, size, "peer source"),
                      in_device(gpu, size, "device target"), ~gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
