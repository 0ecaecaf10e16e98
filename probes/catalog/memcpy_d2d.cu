// SPDX-License-Identifier: Apache-2.0
/// The driver's own copy inside the device's memory: a change of it is a change of the driver.
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

class driver_copy final : public kernel {
 public:
  driver_copy(gpu_context& gpu, bytes size)
      : gpu_(gpu),
        from_(gpu.allocate(size, "buffer to copy from")),
        to_(gpu.allocate(size, "buffer to copy to")),
        seed_(gpu.seed()) {}

  void fill() override { fill_random(gpu_, from_, seed_); }

  void run(launch_shape const&, std::uint64_t passes) override {
    for (std::uint64_t i = 0; i < passes; ++i)
      gpu_.copy(to_.as<void>(), from_.as<void>(), to_.size());
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    gpu_.fill_bytes(to_.as<void>(), 0xa5, to_.size());
    run(shape, 1);
    auto const wrong = first_difference<random_data>(gpu_, to_, seed_);
    if (!wrong) return std::nullopt;
    return "the driver's copy differs from its source in the 64-bit word at byte " +
           std::to_string(*wrong * 8);
  }

 private:
  gpu_context& gpu_;
  buffer from_, to_;
  std::uint64_t seed_;
};

}  // namespace

BANDGATE_PROBE(memcpy_d2d) {
  probe p;
  p.name = "memcpy_d2d";
  p.summary = "The driver's own copy within the device's memory";
  p.byte_rule = "bytes read + bytes written";
  p.parameters = {size_parameter()};
  p.suites = {"full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 2, 2);
  };
  p.shapes = [](parameters const&, device_facts const&) { return std::vector<launch_shape>{{}}; };
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<driver_copy>(gpu, w.buffers.at("data"));
  };
  return p;
}

}  // namespace bandgate
