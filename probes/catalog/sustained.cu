// SPDX-License-Identifier: Apache-2.0
/// `read` for many seconds: what a card keeps up once it is warm, which short peaks do not show.
#include <bandgate/read_tile.hpp>

namespace bandgate {
namespace {

parameter seconds_parameter() {
  parameter p;
  p.name = "seconds";
  p.kind = parameter_kind::count;
  p.fallback = std::uint64_t{30};
  p.help = "how long; a healthy card reads as fast in its last second as in its first";
  p.least = 2;
  p.most = 3600;
  p.keyed = false;  // so a second is judged the same however many there are
  return p;
}

std::uint64_t seconds_of(parameters const& values) {
  return std::get<std::uint64_t>(values.at("seconds"));
}

}  // namespace

BANDGATE_PROBE(sustained) {
  probe p;
  p.name = "sustained";
  p.summary = "Reads a buffer for many seconds: throttling that short measurements miss";
  p.byte_rule = "bytes read";
  p.parameters = {seconds_parameter(), size_parameter()};
  p.suites = {"sustained"};
  p.procedure = procedure::series;
  // A window ends with the sample that fills its second, so it is a little longer than one.
  p.more_time_s = [](parameters const& values) {
    return static_cast<unsigned>(seconds_of(values) + seconds_of(values) / 20);
  };
  p.plan = [](parameters const& values, device_facts const& facts) {
    auto w = stream_work(values, facts, 1, 1);
    w.windows = seconds_of(values);
    return w;
  };
  p.shapes = read_shapes;
  p.on_gpu = read_on_gpu;
  p.on_host = read_on_host;
  return p;
}

}  // namespace bandgate
