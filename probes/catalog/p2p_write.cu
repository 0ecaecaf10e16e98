// SPDX-License-Identifier: Apache-2.0
/// This device writes to the peer's memory.
#include <bandgate/transfer.hpp>

namespace bandgate {

BANDGATE_PROBE(p2p_write) {
  auto p = transfer_probe("p2p_write", "Writes to the memory of another GPU", 1);
  p.parameters = {transfer_size_parameter(gib(1)), engine_parameter(), transfer_peer_parameter()};
  p.load = load::peer;
  p.suites = {{"full", {{peer_parameter, "each"}}}};
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const& values) {
    auto const size = transfer_size(values);
    auto& peer = gpu.peer(std::get<std::string>(values.at(peer_parameter)));
    return std::make_unique<transfer>(
        transfer_lane("to the peer", gpu, in_device(gpu, size, "device source"),
                      in_device(peer, size, "peer target"), gpu.seed()));
  };
  return p;
}

}  // namespace bandgate
