// SPDX-License-Identifier: Apache-2.0
/// The time of an empty launch: the pace at which a stream starts kernels that do nothing.
#include <bandgate/reading.hpp>

#include <chrono>

namespace bandgate {
namespace {

/// Empty while timed; the same binary counts its launches where it is verified.
BANDGATE_KERNEL BANDGATE_BOUNDS(1) void empty(unsigned long long* count) {
  if (count != nullptr) atomicAdd(count, 1ULL);
}

class launcher final : public kernel {
 public:
  explicit launcher(gpu_context& gpu) : gpu_(gpu), count_(gpu) {}

  void fill() override {}
  void run(launch_shape const&, std::uint64_t passes) override { start(passes, nullptr); }

  std::optional<std::string> verify(launch_shape const&) override {
    constexpr std::uint64_t launches = 1000;
    count_.clear();
    start(launches, count_.at());
    auto const counted = count_.read();
    if (counted == launches) return std::nullopt;
    return std::to_string(launches) + " launches ran the kernel " + std::to_string(counted) +
           " times";
  }

  /// What a program sees that waits for every launch.
  std::vector<named_value> more(double) override {
    std::vector<double> seconds;
    for (int i = 0; i < 101; ++i) {
      auto const begin = std::chrono::steady_clock::now();
      start(1, nullptr);
      gpu_.synchronize("an empty launch");
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + 50, seconds.end());
    return {{"launch and wait", "s", seconds[50]}};
  }

 private:
  void start(std::uint64_t launches, unsigned long long* count) {
    for (std::uint64_t i = 0; i < launches; ++i) launch(gpu_, "launch", {1, 1}, &empty, count);
  }

  gpu_context& gpu_;
  device_word count_;
};

}  // namespace

BANDGATE_PROBE(launch) {
  probe p;
  p.name = "launch";
  p.summary = "The time of an empty launch, one after the other in a stream";
  p.byte_rule = "none: seconds a launch";
  p.ceiling = ceiling::none;
  p.load = load::cache;
  p.direction = direction::lower_is_better;
  p.expected_spread = 0.4;  // a figure of the host as much as of the device: 3.1 to 4.7 us on H200s
  p.suites = {"full"};
  p.plan = [](parameters const&, device_facts const&) {
    work w;
    w.bytes_per_pass = 1;
    return w;
  };
  p.shapes = [](parameters const&, device_facts const&) { return std::vector<launch_shape>{{}}; };
  p.on_gpu = [](gpu_context& gpu, work const&, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<launcher>(gpu);
  };
  return p;
}

}  // namespace bandgate
