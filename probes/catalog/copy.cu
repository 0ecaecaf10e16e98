// SPDX-License-Identifier: Apache-2.0
/// Copies a buffer: as many bytes read as written.
#include <bandgate/reading.hpp>
#include <bandgate/windows.hpp>

namespace bandgate {
namespace {

constexpr unsigned window_threads = 512;
/// Loads of a thread that precede its stores; they may be of two windows.
constexpr unsigned window_group = gpu_traits::window_copies;
constexpr unsigned each = gpu_traits::copied_vectors;

/// Each block copies one contiguous tile and ends, each thread `each` vectors. One on NVIDIA's:
/// more of them interleave reads and writes worse (H200: 4000 GiB/s with one, 3885 with two, 3815
/// with four).
template <unsigned Threads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void copy_tile(ulonglong2 const* __restrict__ from,
                                                        ulonglong2* __restrict__ to,
                                                        std::uint64_t count,
                                                        std::uint64_t const* odd_from,
                                                        std::uint64_t* odd_to) {
  std::uint64_t const first = std::uint64_t{blockIdx.x} * (Threads * each) + threadIdx.x;
  if (first + (each - 1) * Threads < count) {
    ulonglong2 value[each];
    BANDGATE_UNROLL
    for (unsigned k = 0; k < each; ++k) value[k] = load_stream(from + first + k * Threads);
    BANDGATE_UNROLL
    for (unsigned k = 0; k < each; ++k) store_stream(to + first + k * Threads, value[k]);
  } else if (each > 1) {
    BANDGATE_NO_UNROLL
    for (std::uint64_t i = first; i < count; i += Threads) to[i] = from[i];
  }
  if (odd_to != nullptr && first == 0) *odd_to = *odd_from;
}

BANDGATE_KERNEL BANDGATE_BOUNDS(window_threads) void copy_windows(
    ulonglong2 const* __restrict__ from, ulonglong2* __restrict__ to, window_walk walk) {
  window_cursor cursor(walk, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x,
                       std::uint64_t{gridDim.x} * blockDim.x);
  std::uint64_t left = cursor.total();
  BANDGATE_NO_UNROLL
  for (; left >= window_group; left -= window_group) {
    std::uint64_t place[window_group];
    ulonglong2 value[window_group];
    BANDGATE_UNROLL
    for (unsigned k = 0; k < window_group; ++k) place[k] = cursor.next();
    BANDGATE_UNROLL
    for (unsigned k = 0; k < window_group; ++k) value[k] = load_stream(from + place[k]);
    BANDGATE_UNROLL
    for (unsigned k = 0; k < window_group; ++k) store_stream(to + place[k], value[k]);
  }
  BANDGATE_NO_UNROLL
  for (; left != 0; --left) {
    std::uint64_t const place = cursor.next();
    to[place] = from[place];
  }
}

template <unsigned Threads>
void launch_tiles(gpu_context& gpu, buffer const& from, buffer const& to) {
  auto const count = from.size().count / sizeof(ulonglong2);
  constexpr std::uint64_t tile = Threads * each;
  launch(gpu, "copy", {(count + tile - 1) / tile, Threads}, &copy_tile<Threads>,
         from.as<ulonglong2>(), to.as<ulonglong2>(), count, odd_word(from), odd_word(to));
}

struct variant {
  std::uint64_t threads;
  void (*launch)(gpu_context&, buffer const& from, buffer const& to);
};
constexpr variant variants[] = {
    {128, &launch_tiles<128>}, {256, &launch_tiles<256>}, {512, &launch_tiles<512>}};

std::optional<std::string> compared(std::optional<std::uint64_t> wrong) {
  if (!wrong) return std::nullopt;
  return "the copy differs from its source in the 64-bit word at byte " +
         std::to_string(*wrong * 8);
}

class gpu_copier final : public kernel {
 public:
  /// `window` 0: the whole buffer a pass.
  gpu_copier(gpu_context& gpu, bytes size, std::uint64_t window)
      : gpu_(gpu),
        from_(gpu.allocate(size, "buffer to copy from")),
        to_(gpu.allocate(size, "buffer to copy to")),
        window_(window),
        seed_(gpu.seed()) {}

  void fill() override { fill_random(gpu_, from_, seed_); }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    if (window_ != 0) return run_windows(shape, passes);
    for (auto const& v : variants)
      if (v.threads == shape.at("threads")) {
        for (std::uint64_t i = 0; i < passes; ++i) v.launch(gpu_, from_, to_);
        return;
      }
    throw usage_error("copy: no kernel of that shape");
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    gpu_.fill_bytes(to_.as<void>(), 0xa5, to_.size());
    run(shape, window_ != 0 ? passes_over(to_.size().count, window_) : 1);
    return compared(first_difference<random_data>(gpu_, to_, seed_));
  }

 private:
  /// Goes on where the last launch ended, or its last windows would still be cached.
  void run_windows(launch_shape const& shape, std::uint64_t passes) {
    constexpr auto vector = sizeof(ulonglong2);
    auto const pool = from_.size().count;
    launch(gpu_, "copy", {shape.at("blocks"), window_threads}, &copy_windows,
           from_.as<ulonglong2>(), to_.as<ulonglong2>(),
           window_walk{pool / vector, window_ / vector, next_ / vector, passes, false});
    next_ = (next_ + passes % pool * (window_ % pool)) % pool;
  }

  gpu_context& gpu_;
  buffer from_, to_;
  std::uint64_t window_;
  std::uint64_t seed_;
  std::uint64_t next_{};
};

/// Each thread copies its own run, or its own run of every window.
class host_copier final : public kernel {
 public:
  host_copier(host_context& host, bytes size, std::uint64_t window)
      : host_(host),
        from_(host.allocate(size, "buffer to copy from")),
        to_(host.allocate(size, "buffer to copy to")),
        window_(window != 0 ? window : size.count),
        seed_(host.seed()) {}

  void fill() override {
    each_window([&](std::uint64_t begin, std::uint64_t end) {
      fill_random(from_.as<void>(), {begin, end}, seed_);
      std::memset(to_.as<unsigned char>() + begin, 0, end - begin);
    });
  }

  void run(launch_shape const&, std::uint64_t passes) override {
    auto const pool = from_.size().count;
    host_.parallel([&](unsigned thread) {
      std::uint64_t base = next_;
      for (std::uint64_t i = 0; i < passes; ++i, base = wrap(base + window_, pool))
        visit_window(pool, window_, base, thread, host_.threads(),
                     [&](std::uint64_t begin, std::uint64_t end) {
                       host_.loops().copy(to_.as<unsigned char>() + begin,
                                          from_.as<unsigned char>() + begin, end - begin);
                     });
    });
    next_ = (next_ + passes % pool * (window_ % pool)) % pool;
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    each_window([&](std::uint64_t begin, std::uint64_t end) {
      std::memset(to_.as<unsigned char>() + begin, 0xa5, end - begin);
    });
    run(shape, passes_over(to_.size().count, window_));
    return compared(first_difference(
        host_, to_, [&](unsigned, std::uint64_t i) { return data_word(seed_, i); }));
  }

 private:
  /// Every thread on its own parts of the whole buffer.
  template <class Body>
  void each_window(Body const& body) {
    auto const pool = from_.size().count;
    host_.parallel([&](unsigned thread) {
      for (std::uint64_t base = 0; base < pool; base += window_)
        visit_window(pool, std::min(window_, pool - base), base, thread, host_.threads(), body);
    });
  }

  host_context& host_;
  buffer from_, to_;
  std::uint64_t window_;
  std::uint64_t seed_;
  std::uint64_t next_{};
};

/// 0: no window was asked for.
std::uint64_t window_of(parameters const& values) {
  auto const* window = std::get_if<std::uint64_t>(&values.at("window"));
  return window != nullptr ? *window : 0;
}

work plan(parameters const& values, device_facts const& facts) {
  auto const window = window_of(values);
  if (window == 0) return stream_work(values, facts, 2, 2);
  if (!std::holds_alternative<std::string>(values.at("size")))
    throw usage_error(
        "parameter size: a windowed copy walks a pool of its own; leave size or "
        "window at its default");
  if (window % 4096 != 0) throw usage_error("parameter window: is not a multiple of 4KiB");
  auto w = window_work(window, facts, 2);
  w.bytes_per_pass = 2 * window;
  return w;
}

std::vector<launch_shape> shapes(parameters const& values, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  if (window_of(values) != 0) {
    for (std::uint64_t const a_processor : {4, 2})
      all.push_back({{"blocks", a_processor * facts.processors}, {"threads", window_threads}});
    return all;
  }
  for (auto const& v : variants) all.push_back({{"threads", v.threads}});
  return all;
}

}  // namespace

BANDGATE_PROBE(copy) {
  probe p;
  p.name = "copy";
  p.summary = "Copies a buffer: as many bytes read as written";
  p.byte_rule = "bytes read + bytes written";
  p.parameters = {size_parameter(),
                  window_parameter(std::string("auto"),
                                   "bytes copied a pass, the next window of a pool each time; "
                                   "auto: the whole buffer")};
  p.suites = {"quick", "full"};
  p.plan = plan;
  p.shapes = shapes;
  p.on_gpu = [](gpu_context& gpu, work const& w,
                parameters const& values) -> std::unique_ptr<kernel> {
    return std::make_unique<gpu_copier>(gpu, w.buffers.at("data"), window_of(values));
  };
  p.on_host = [](host_context& host, work const& w,
                 parameters const& values) -> std::unique_ptr<kernel> {
    return std::make_unique<host_copier>(host, w.buffers.at("data"), window_of(values));
  };
  return p;
}

}  // namespace bandgate
