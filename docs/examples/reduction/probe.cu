// SPDX-License-Identifier: Apache-2.0
#include <bandgate/reading.hpp>

#include "probe.hpp"
#include "reduction.cuh"

namespace {

class reduction final : public bandgate::kernel {
 public:
  reduction(bandgate::gpu_context& gpu, bandgate::bytes size)
      : gpu_(gpu), data_(gpu.allocate(size, "buffer to sum")), total_(gpu), seed_(gpu.seed()) {}

  void fill() override { bandgate::fill_random(gpu_, data_, seed_); }

  void run(bandgate::launch_shape const& shape, std::uint64_t passes) override {
    for (std::uint64_t pass = 0; pass < passes; ++pass)
      bandgate::launch(gpu_, "sum_of_pairs", {shape.at("blocks"), threads}, &sum_of_pairs<threads>,
                       data_.as<ulonglong2>(), data_.size().count / sizeof(ulonglong2),
                       total_.at());
  }

  std::optional<std::string> verify(bandgate::launch_shape const& shape) override {
    total_.clear();  // what earlier passes left there must not pass for the result
    run(shape, 1);
    return bandgate::compare_sums(total_.read(),
                                  bandgate::sum_of_random<64>(gpu_, data_.size(), seed_));
  }

 private:
  static constexpr unsigned threads = 512;
  bandgate::gpu_context& gpu_;
  bandgate::buffer data_;
  bandgate::device_word total_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<bandgate::kernel> reduction_on_gpu(bandgate::gpu_context& gpu,
                                                   bandgate::work const& work,
                                                   bandgate::parameters const&) {
  return std::make_unique<reduction>(gpu, work.buffers.at("data"));
}
