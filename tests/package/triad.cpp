// SPDX-License-Identifier: Apache-2.0
// A probe of a project that uses Bandgate: public headers alone, the CPU alone.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/probe.hpp>

namespace {

class triad final : public bandgate::kernel {
 public:
  explicit triad(std::size_t count) : a_(count), b_(count), c_(count) {}

  void fill() override {
    for (std::size_t i = 0; i < b_.size(); ++i) {
      b_[i] = static_cast<std::uint32_t>(i * 2654435761U);
      c_[i] = ~b_[i];
    }
  }

  void run(bandgate::launch_shape const&, std::uint64_t passes) override {
    for (std::uint64_t pass = 0; pass < passes; ++pass)
      for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = b_[i] + 3 * c_[i];
  }

  std::optional<std::string> verify(bandgate::launch_shape const& shape) override {
    for (auto& value : a_) value = 0xdeadbeefU;
    run(shape, 1);
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (a_[i] != b_[i] + 3 * ~b_[i]) return "element " + std::to_string(i) + " differs";
    return std::nullopt;
  }

 private:
  std::vector<std::uint32_t> a_, b_, c_;
};

}  // namespace

BANDGATE_PROBE(triad) {
  bandgate::probe p;
  p.name = "triad";
  p.summary = "a = b + 3 c, in a cache";
  p.byte_rule = "bytes read + bytes written";
  p.ceiling = bandgate::ceiling::none;
  p.load = bandgate::load::cache;
  p.suites = {"quick"};
  p.plan = [](bandgate::parameters const&, bandgate::device_facts const&) {
    bandgate::work w;
    w.bytes_per_pass = 3 * 4 * 4096;
    return w;
  };
  p.shapes = [](bandgate::parameters const&, bandgate::device_facts const&) {
    return std::vector<bandgate::launch_shape>{{{"threads", 1}}};
  };
  p.on_host = [](bandgate::host_context&, bandgate::work const&, bandgate::parameters const&) {
    return std::make_unique<triad>(4096);
  };
  return p;
}
