// SPDX-License-Identifier: Apache-2.0
/// Fills a buffer with runtime values: the write limit of the memory.
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

/// Word i of what a pass with that key writes: another for every word and every pass. Neighbours
/// differ in few bits, for the reason that data_word() gives: hashed words draw 670 W on an H200,
/// these 500, at the same bandwidth.
struct pattern {
  BANDGATE_BOTH static std::uint64_t at(std::uint64_t key, std::uint64_t i) { return key + i; }
};

constexpr unsigned each = gpu_traits::written_vectors;

/// `each` 16-byte stores a thread; each block writes one contiguous tile and ends. The stores
/// bypass the caches: samples then vary by 0.05 % instead of 0.15 % (H200).
template <unsigned Threads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void write_tile(ulonglong2* __restrict__ to,
                                                         std::uint64_t count, std::uint64_t* odd,
                                                         std::uint64_t key) {
  std::uint64_t const first = std::uint64_t{blockIdx.x} * (Threads * each) + threadIdx.x;
  BANDGATE_UNROLL
  for (unsigned k = 0; k < each; ++k)
    if (auto const i = first + k * Threads; i < count)
      store_once(to + i, ulonglong2{pattern::at(key, 2 * i), pattern::at(key, 2 * i + 1)});
  if (odd != nullptr && first == 0) *odd = pattern::at(key, 2 * count);
}

template <unsigned Threads>
void launch_tiles(gpu_context& gpu, buffer const& to, std::uint64_t key) {
  auto const count = to.size().count / sizeof(ulonglong2);
  constexpr std::uint64_t tile = Threads * each;
  launch(gpu, "write", {(count + tile - 1) / tile, Threads}, &write_tile<Threads>,
         to.as<ulonglong2>(), count, odd_word(to), key);
}

struct variant {
  std::uint64_t threads;
  void (*launch)(gpu_context&, buffer const&, std::uint64_t key);
};
/// One shape: 1024 threads are as fast on an H200 and 512 are 0.2 % slower, so ranking them would
/// only add noise between processes (128 are 28 % slower).
constexpr variant variants[] = {{256, &launch_tiles<256>}};

std::string wrong_word(std::uint64_t index) {
  return "the 64-bit word at byte " + std::to_string(index * 8) +
         " is not what the pass had to write there";
}

class gpu_writer final : public kernel {
 public:
  gpu_writer(gpu_context& gpu, bytes size)
      : gpu_(gpu), data_(gpu.allocate(size, "buffer to write")), seed_(gpu.seed()) {}

  void fill() override { fill_random(gpu_, data_, seed_); }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    for (auto const& v : variants)
      if (v.threads == shape.at("threads")) {
        for (std::uint64_t i = 0; i < passes; ++i)
          v.launch(gpu_, data_, random_word(seed_, pass_++));
        return;
      }
    throw usage_error("write: no kernel of that shape");
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    gpu_.fill_bytes(data_.as<void>(), 0xa5, data_.size());
    auto const key = random_word(seed_, pass_);  // new: nothing written before can satisfy it
    run(shape, 1);
    auto const wrong = first_difference<pattern>(gpu_, data_, key);
    return wrong ? std::optional(wrong_word(*wrong)) : std::nullopt;
  }

 private:
  gpu_context& gpu_;
  buffer data_;
  std::uint64_t seed_;
  std::uint64_t pass_{};
};

/// Each thread writes a word of its own all over its own run, which it touched first.
class host_writer final : public kernel {
 public:
  host_writer(host_context& host, bytes size)
      : host_(host), data_(host.allocate(size, "buffer to write")), seed_(host.seed()) {}

  void fill() override { fill_random(host_, data_, seed_); }

  void run(launch_shape const&, std::uint64_t passes) override {
    host_.parallel([&](unsigned thread) {
      auto const run = slice(data_.size().count, thread, host_.threads());
      for (std::uint64_t i = 0; i < passes; ++i)
        host_.loops().store64(data_.as<unsigned char>() + run.begin, run.end - run.begin,
                              pattern::at(random_word(seed_, pass_ + i), thread));
    });
    pass_ += passes;
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    host_.parallel([&](unsigned thread) {
      auto const run = slice(data_.size().count, thread, host_.threads());
      std::memset(data_.as<unsigned char>() + run.begin, 0xa5, run.end - run.begin);
    });
    auto const key = random_word(seed_, pass_);  // new: nothing written before can satisfy it
    run(shape, 1);
    auto const wrong = first_difference(
        host_, data_, [&](unsigned thread, std::uint64_t) { return pattern::at(key, thread); });
    return wrong ? std::optional(wrong_word(*wrong)) : std::nullopt;
  }

 private:
  host_context& host_;
  buffer data_;
  std::uint64_t seed_;
  std::uint64_t pass_{};
};

std::vector<launch_shape> shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  for (auto const& v : variants) all.push_back({{"threads", v.threads}});
  return all;
}

}  // namespace

BANDGATE_PROBE(write) {
  probe p;
  p.name = "write";
  p.summary = "Fills a buffer with runtime values: the write limit of the memory";
  p.byte_rule = "bytes written";
  p.parameters = {size_parameter()};
  p.suites = {"quick", "full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 1, 1);
  };
  p.shapes = shapes;
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<gpu_writer>(gpu, w.buffers.at("data"));
  };
  p.on_host = [](host_context& host, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<host_writer>(host, w.buffers.at("data"));
  };
  return p;
}

}  // namespace bandgate
