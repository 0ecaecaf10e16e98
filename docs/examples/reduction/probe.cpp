// SPDX-License-Identifier: Apache-2.0
/// Declares the probe. What it measures is in the library; here is how.
#include <bandgate/reading.hpp>

#include "probe.hpp"
#include "reduction.hpp"

BANDGATE_PROBE(reduction) {
  bandgate::probe p;
  p.name = "reduction";
  p.summary = "Sums the words of a buffer";
  p.byte_rule = "bytes read";
  p.parameters = {bandgate::size_parameter()};
  p.suites = {"quick", "full"};
  p.plan = [](bandgate::parameters const& values, bandgate::device_facts const& facts) {
    auto work = bandgate::stream_work(values, facts, 1, 1);  // one buffer, read once a pass
    auto& size = work.buffers.at("data").count;
    size = work.bytes_per_pass = size / 16 * 16;  // the kernel reads pairs of words
    return work;
  };
  p.shapes = [](bandgate::parameters const&, bandgate::device_facts const& facts) {
    std::vector<bandgate::launch_shape> shapes;
    if (!facts.is_gpu) return bandgate::host_shapes(facts);
    for (std::uint64_t const per_processor : {4, 8, 16})
      shapes.push_back({{"blocks", per_processor * facts.processors}});
    return shapes;  // the fastest is measured
  };
  // Every thread of the CPU calls the library for its own part of the buffer. The reader fills it
  // with random words, and holds the sum against that of the words that it wrote.
  p.on_host = [](bandgate::host_context& host, bandgate::work const& work,
                 bandgate::parameters const&) {
    return std::make_unique<bandgate::host_reader<64>>(host, work.buffers.at("data"),
                                                       &sum_of_words);
  };
#ifdef REDUCTION_ON_GPU
  p.on_gpu = reduction_on_gpu;
#endif
  return p;
}
