// SPDX-License-Identifier: Apache-2.0
/// STREAM's triad, a = b + s c in doubles: two streams read, one written.

#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

/// Element i of b or c: in [1, 2), with 48 random bits of fraction. With a factor of at most 7 both
/// product and sum are exact, so that a fused and an unfused operation agree to the last bit.
BANDGATE_BOTH constexpr std::uint64_t operand_bits(std::uint64_t seed, std::uint64_t i) {
  return 0x3ff0000000000000ULL | (data_word(seed, i) >> 12 & ~std::uint64_t{15});
}

BANDGATE_BOTH inline double as_double(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

BANDGATE_BOTH inline std::uint64_t as_bits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

BANDGATE_BOTH constexpr std::uint64_t seed_of_c(std::uint64_t seed) {
  return ~seed;
}

/// 3, 5 or 7: not known to the compiler, another in other runs.
BANDGATE_BOTH constexpr double factor_of(std::uint64_t seed) {
  return 3.0 + 2.0 * static_cast<double>(seed % 3);
}

/// What a must hold.
struct outcome {
  BANDGATE_BOTH static std::uint64_t at(std::uint64_t seed, std::uint64_t i) {
    return as_bits(as_double(operand_bits(seed, i)) +
                   factor_of(seed) * as_double(operand_bits(seed_of_c(seed), i)));
  }
};

constexpr unsigned each = gpu_traits::triad_vectors;

BANDGATE_DEVICE inline double2 triad_of(double2 const& b, double2 const& c, double factor) {
  return double2{b.x + factor * c.x, b.y + factor * c.y};
}

/// `each` vectors of each stream a thread, one tile a block. One on NVIDIA's: as in copy, more of
/// them are slower (H200: 4117 GiB/s, with two 4077).
template <unsigned Threads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void triad_tile(double2 const* __restrict__ b,
                                                         double2 const* __restrict__ c,
                                                         double2* __restrict__ a,
                                                         std::uint64_t count, bool odd,
                                                         double factor) {
  std::uint64_t const first = std::uint64_t{blockIdx.x} * (Threads * each) + threadIdx.x;
  if (first + (each - 1) * Threads < count) {
    double2 one[each], other[each];
    BANDGATE_UNROLL
    for (unsigned k = 0; k < each; ++k) one[k] = load_stream(b + first + k * Threads);
    BANDGATE_UNROLL
    for (unsigned k = 0; k < each; ++k) other[k] = load_stream(c + first + k * Threads);
    all_issued();
    BANDGATE_UNROLL
    for (unsigned k = 0; k < each; ++k)
      store_stream(a + first + k * Threads, triad_of(one[k], other[k], factor));
  } else if (each > 1) {
    BANDGATE_NO_UNROLL
    for (std::uint64_t i = first; i < count; i += Threads) a[i] = triad_of(b[i], c[i], factor);
  }
  if (odd && first == 0) a[count].x = b[count].x + factor * c[count].x;
}

BANDGATE_KERNEL BANDGATE_BOUNDS(kernels::helper_threads) void fill_operand(std::uint64_t* to,
                                                                           std::uint64_t count,
                                                                           std::uint64_t seed) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = operand_bits(seed, i);
}

template <unsigned Threads>
void launch_tiles(gpu_context& gpu, buffer const& b, buffer const& c, buffer const& a,
                  double factor) {
  auto const count = a.size().count / sizeof(double2);
  constexpr std::uint64_t tile = Threads * each;
  launch(gpu, "triad", {(count + tile - 1) / tile, Threads}, &triad_tile<Threads>, b.as<double2>(),
         c.as<double2>(), a.as<double2>(), count, odd_word(a) != nullptr, factor);
}

struct variant {
  std::uint64_t threads;
  void (*launch)(gpu_context&, buffer const& b, buffer const& c, buffer const& a, double factor);
};
constexpr variant variants[] = {{1024, &launch_tiles<1024>}, {256, &launch_tiles<256>}};

std::optional<std::string> compared(std::optional<std::uint64_t> wrong) {
  if (!wrong) return std::nullopt;
  return "a[" + std::to_string(*wrong) + "] is not b + s c of that index";
}

class gpu_triad final : public kernel {
 public:
  gpu_triad(gpu_context& gpu, bytes size)
      : gpu_(gpu),
        b_(gpu.allocate(size, "buffer b")),
        c_(gpu.allocate(size, "buffer c")),
        a_(gpu.allocate(size, "buffer a")),
        seed_(gpu.seed()) {}

  void fill() override {
    fill_with(b_, seed_);
    fill_with(c_, seed_of_c(seed_));
  }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    for (auto const& v : variants)
      if (v.threads == shape.at("threads")) {
        for (std::uint64_t i = 0; i < passes; ++i) v.launch(gpu_, b_, c_, a_, factor_of(seed_));
        return;
      }
    throw usage_error("triad: no kernel of that shape");
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    gpu_.fill_bytes(a_.as<void>(), 0xa5, a_.size());
    run(shape, 1);
    return compared(first_difference<outcome>(gpu_, a_, seed_));
  }

 private:
  void fill_with(buffer const& to, std::uint64_t seed) {
    auto const count = to.size().count / sizeof(double);
    launch(gpu_, "fill with operands", kernels::helper_grid(gpu_, count), &fill_operand,
           to.as<std::uint64_t>(), count, seed);
  }

  gpu_context& gpu_;
  buffer b_, c_, a_;
  std::uint64_t seed_;
};

/// Each thread its own contiguous run of all three, which it touched first.
class host_triad final : public kernel {
 public:
  host_triad(host_context& host, bytes size)
      : host_(host),
        b_(host.allocate(size, "buffer b")),
        c_(host.allocate(size, "buffer c")),
        a_(host.allocate(size, "buffer a")),
        seed_(host.seed()) {}

  void fill() override {
    host_.parallel([&](unsigned thread) {
      auto const run = slice(a_.size().count, thread, host_.threads());
      for (auto i = run.begin / sizeof(double); i < run.end / sizeof(double); ++i) {
        b_.as<std::uint64_t>()[i] = operand_bits(seed_, i);
        c_.as<std::uint64_t>()[i] = operand_bits(seed_of_c(seed_), i);
      }
      std::memset(a_.as<unsigned char>() + run.begin, 0, run.end - run.begin);
    });
  }

  void run(launch_shape const&, std::uint64_t passes) override {
    host_.parallel([&](unsigned thread) {
      auto const run = slice(a_.size().count, thread, host_.threads());
      auto const first = run.begin / sizeof(double);
      for (std::uint64_t i = 0; i < passes; ++i)
        host_.loops().triad(a_.as<double>() + first, b_.as<double>() + first,
                            c_.as<double>() + first, run.end - run.begin, factor_of(seed_));
    });
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    host_.parallel([&](unsigned thread) {
      auto const run = slice(a_.size().count, thread, host_.threads());
      std::memset(a_.as<unsigned char>() + run.begin, 0xa5, run.end - run.begin);
    });
    run(shape, 1);
    return compared(first_difference(
        host_, a_, [&](unsigned, std::uint64_t i) { return outcome::at(seed_, i); }));
  }

 private:
  host_context& host_;
  buffer b_, c_, a_;
  std::uint64_t seed_;
};

std::vector<launch_shape> shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  for (auto const& v : variants) all.push_back({{"threads", v.threads}});
  return all;
}

}  // namespace

BANDGATE_PROBE(triad) {
  probe p;
  p.name = "triad";
  p.summary = "STREAM's triad, a = b + s c in doubles: two streams read, one written";
  p.byte_rule = "bytes read + bytes written";
  p.parameters = {size_parameter()};
  p.suites = {"full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 3, 3);
  };
  p.shapes = shapes;
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<gpu_triad>(gpu, w.buffers.at("data"));
  };
  p.on_host = [](host_context& host, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<host_triad>(host, w.buffers.at("data"));
  };
  return p;
}

}  // namespace bandgate
