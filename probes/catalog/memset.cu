// SPDX-License-Identifier: Apache-2.0
/// The driver's own fill of the device's memory: a change of it is a change of the driver.
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

/// Eight times one byte.
struct repeated {
  BANDGATE_BOTH static std::uint64_t at(std::uint64_t byte, std::uint64_t) {
    return byte * 0x0101010101010101ULL;
  }
};

class driver_fill final : public kernel {
 public:
  driver_fill(gpu_context& gpu, bytes size)
      : gpu_(gpu), data_(gpu.allocate(size, "buffer to fill")), seed_(gpu.seed()) {}

  void fill() override { fill_random(gpu_, data_, seed_); }

  void run(launch_shape const&, std::uint64_t passes) override {
    for (std::uint64_t i = 0; i < passes; ++i)
      gpu_.fill_bytes(data_.as<void>(), byte_of(pass_++), data_.size());
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    fill();  // random words: no byte eight times over
    auto const byte = byte_of(pass_);
    run(shape, 1);
    auto const wrong = first_difference<repeated>(gpu_, data_, byte);
    if (!wrong) return std::nullopt;
    return "the 64-bit word at byte " + std::to_string(*wrong * 8) +
           " is not what the driver was to fill it with";
  }

 private:
  /// Another one for every pass.
  unsigned char byte_of(std::uint64_t pass) const {
    return static_cast<unsigned char>(seed_ + pass * 37);
  }

  gpu_context& gpu_;
  buffer data_;
  std::uint64_t seed_;
  std::uint64_t pass_{};
};

}  // namespace

BANDGATE_PROBE(memset) {
  probe p;
  p.name = "memset";
  p.summary = "The driver's own fill of the device's memory";
  p.byte_rule = "bytes written";
  p.parameters = {size_parameter()};
  p.suites = {"full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 1, 1);
  };
  p.shapes = [](parameters const&, device_facts const&) { return std::vector<launch_shape>{{}}; };
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<driver_fill>(gpu, w.buffers.at("data"));
  };
  return p;
}

}  // namespace bandgate
