// SPDX-License-Identifier: Apache-2.0
/// What the probes that read a buffer once a pass have in common; each brings its own kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bandgate/random_data.hpp>

namespace bandgate {

/// How a read becomes observable, handed to the kernel whole. Timed: a thread stores its sum where
/// it equals `never`, a value of this run that the compiler cannot know. Verifying (the same
/// binary): all sums are added up in *total.
struct observable {
  std::uint64_t never;
  unsigned long long* total;
  bool reduce;
};

BANDGATE_DEVICE inline void observe(observable const& to, std::uint64_t sum) {
  if (to.reduce)
    atomicAdd(to.total, sum);
  else if (sum == to.never)
    *to.total = sum;
}

/// The last 64-bit word of a buffer that the 16-byte vectors leave over; null where there is none.
inline std::uint64_t* odd_word(buffer const& all) {
  auto const words = all.size().count / sizeof(std::uint64_t);
  return words % 2 == 0 ? nullptr : all.as<std::uint64_t>() + words - 1;
}

inline std::optional<std::string> compare_sums(std::uint64_t read, std::uint64_t expected) {
  if (read == expected) return std::nullopt;
  return "the elements read sum to " + std::to_string(read) + " modulo 2^64, the data to " +
         std::to_string(expected) + ": some were not read, read twice, or read wrongly";
}

/// Reads a buffer on a GPU. `one_pass` enqueues one pass in the given shape.
template <unsigned ElementBits>
class gpu_reader final : public kernel {
 public:
  using pass = std::function<void(gpu_context&, launch_shape const&, buffer const&, observable)>;
  gpu_reader(gpu_context& gpu, bytes size, pass one_pass)
      : gpu_(gpu),
        pass_(std::move(one_pass)),
        data_(gpu.allocate(size, "buffer to read")),
        total_(gpu),
        seed_(gpu.seed()) {}

  void fill() override { fill_random(gpu_, data_, seed_); }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    for (std::uint64_t i = 0; i < passes; ++i)
      pass_(gpu_, shape, data_, {~seed_, total_.at(), false});
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    total_.clear();
    pass_(gpu_, shape, data_, {~seed_, total_.at(), true});
    return compare_sums(total_.read(), sum_of_random<ElementBits>(gpu_, data_.size(), seed_));
  }

 private:
  gpu_context& gpu_;
  pass pass_;
  buffer data_;
  device_word total_;
  std::uint64_t seed_;
};

/// Reads a buffer on the CPU: each thread its own contiguous run, which it touched first.
template <unsigned ElementBits>
class host_reader final : public kernel {
 public:
  using loop = std::uint64_t (*)(void const* from, std::uint64_t size);
  host_reader(host_context& host, bytes size, loop sum)
      : host_(host),
        sum_(sum),
        data_(host.allocate(size, "buffer to read")),
        seed_(host.seed()),
        sums_(host.threads()) {}

  void fill() override { fill_random(host_, data_, seed_); }

  void run(launch_shape const&, std::uint64_t passes) override {
    host_.parallel([&](unsigned thread) {
      auto const run = slice(data_.size().count, thread, host_.threads());
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < passes; ++i)
        sum += sum_(data_.as<unsigned char>() + run.begin, run.end - run.begin);
      sums_[thread].value = sum;
    });
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    for (auto& sum : sums_) sum.value = 0;
    run(shape, 1);
    std::uint64_t read = 0;
    for (auto const& sum : sums_) read += sum.value;
    return compare_sums(read, sum_of_random<ElementBits>(host_, data_.size(), seed_));
  }

 private:
  struct alignas(64) padded {
    std::uint64_t value{};
  };
  host_context& host_;
  loop sum_;
  buffer data_;
  std::uint64_t seed_;
  std::vector<padded> sums_;
};

/// The one shape of a probe on the host: all threads.
inline std::vector<launch_shape> host_shapes(device_facts const& facts) {
  return {{{"threads", facts.processors}}};
}

/// "blocks" of the classic kernels: their bandwidth against the number of blocks is a known curve.
inline parameter blocks_parameter() {
  parameter p;
  p.name = "blocks";
  p.kind = parameter_kind::count;
  p.fallback = std::string("auto");
  p.choices = {"auto"};
  p.help = "blocks of the launch; auto: the best of 8, 16 ... 8192";
  p.most = 1U << 20;
  return p;
}

/// The classic sweep over 8, 16 … 8192 blocks, the largest first: it is what warms the device, and
/// a device is not warmed by eight blocks.
inline std::vector<launch_shape> block_sweep(parameters const& values, unsigned threads) {
  if (auto const* blocks = std::get_if<std::uint64_t>(&values.at("blocks")))
    return {{{"blocks", *blocks}, {"threads", threads}}};
  std::vector<launch_shape> all;
  for (std::uint64_t blocks = 8192; blocks >= 8; blocks /= 2)
    all.push_back({{"blocks", blocks}, {"threads", threads}});
  return all;
}

/// "size": the buffer of a probe that streams memory.
inline parameter size_parameter() {
  parameter p;
  p.name = "size";
  p.kind = parameter_kind::size;
  p.fallback = std::string("auto");
  p.help =
      "bytes of each buffer, such as 20GiB (2^30), 20G (the same) or 20GB (10^9); auto: large "
      "enough that no cache matters";
  p.least = mib(1).count;
  return p;
}

/// The work of a pass that moves a whole buffer in each of `streams` streams.
inline work stream_work(parameters const& values, device_facts const& facts, unsigned streams,
                        unsigned buffers) {
  work w;
  auto const size = streaming_buffer(values.at("size"), facts, buffers, w.notes);
  w.bytes_per_pass = size.count * streams;
  w.buffers = {{"data", size}};
  return w;
}

/// What the two classic reads of 4-byte elements have in common.
inline probe classic_read(char const* name, gpu_reader<32>::pass one_pass, unsigned threads,
                          host_reader<32>::loop host_loops::*loop) {
  probe p;
  p.name = name;
  p.byte_rule = "bytes read";
  p.parameters = {size_parameter(), blocks_parameter()};
  p.expected_spread = 0.04;
  p.suites = {"full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 1, 1);
  };
  p.shapes = [threads](parameters const& values, device_facts const& facts) {
    return facts.is_gpu ? block_sweep(values, threads) : host_shapes(facts);
  };
  p.on_gpu = [one_pass](gpu_context& gpu, work const& w, parameters const&) {
    return std::make_unique<gpu_reader<32>>(gpu, w.buffers.at("data"), one_pass);
  };
  p.on_host = [loop](host_context& host, work const& w, parameters const&) {
    return std::make_unique<host_reader<32>>(host, w.buffers.at("data"), host.loops().*loop);
  };
  return p;
}

}  // namespace bandgate
