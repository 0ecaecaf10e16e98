// SPDX-License-Identifier: Apache-2.0
/// Reads every byte of a buffer once: the read limit of the memory.
#include <bandgate/read_tile.hpp>

namespace bandgate {

BANDGATE_PROBE(read) {
  probe p;
  p.name = "read";
  p.summary = "Reads every byte of a buffer once: the read limit of the memory";
  p.byte_rule = "bytes read";
  p.parameters = {size_parameter()};
  p.suites = {"quick", "full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 1, 1);
  };
  p.shapes = read_shapes;
  p.on_gpu = read_on_gpu;
  p.on_host = read_on_host;
  return p;
}

}  // namespace bandgate
