// SPDX-License-Identifier: Apache-2.0
/// Reads a window a pass, each pass the next window of a large pool: cold at every size.
#include <bandgate/reading.hpp>
#include <bandgate/windows.hpp>

namespace bandgate {
namespace {

constexpr unsigned block_threads = 512;
/// Loads of a thread that are issued before the first is used; they may be of two windows, or a
/// window that is one step long would never have more than one in flight.
constexpr unsigned group = gpu_traits::window_loads;

/// 32 bytes: one load where the device has such (compute capability 10.0), else two.
struct alignas(32) four_words {
  unsigned long long x, y, z, w;
};

template <unsigned Bytes>
struct raw_of;
template <>
struct raw_of<1> {
  using type = std::uint8_t;
};
template <>
struct raw_of<2> {
  using type = std::uint16_t;
};
template <>
struct raw_of<4> {
  using type = std::uint32_t;
};
template <>
struct raw_of<8> {
  using type = unsigned long long;
};
template <>
struct raw_of<16> {
  using type = ulonglong2;
};
template <>
struct raw_of<32> {
  using type = four_words;
};

/// Applies `f` to each 64-bit word of a vector; vectors below 8 bytes are one word.
template <class F>
BANDGATE_DEVICE inline void for_words(unsigned long long value, F f) {
  f(value);
}
template <class F>
BANDGATE_DEVICE inline void for_words(ulonglong2 const& value, F f) {
  f(value.x), f(value.y);
}
template <class F>
BANDGATE_DEVICE inline void for_words(four_words const& value, F f) {
  f(value.x), f(value.y), f(value.z), f(value.w);
}

template <class To, class From>
BANDGATE_DEVICE inline To bits_as(From from) {
  static_assert(sizeof(To) <= sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// Integers: the sum of the elements as unsigned, modulo 2^64.
template <unsigned Bits>
struct integer_sum {
  static constexpr unsigned bits = Bits;
  std::uint64_t sum{};
  BANDGATE_DEVICE void add(unsigned long long word, unsigned) {
    sum += sum_of_elements<Bits>(word);
  }
  BANDGATE_DEVICE std::uint64_t verified() const { return sum; }
  BANDGATE_DEVICE std::uint64_t timed() const { return sum; }
};

/// Floating point: as such, and for the verification as bit patterns. Both always, since the
/// compiler makes two loops of a choice.
template <class Float>
struct float_sum {
  static constexpr unsigned bits = 8 * sizeof(Float);
  Float lanes{};
  std::uint64_t sum{};
  BANDGATE_DEVICE void add(unsigned long long word, unsigned bytes) {
    sum += sum_of_elements<bits>(word);
    lanes += bits_as<Float>(word);
    if (sizeof(Float) < 8 && bytes >= 8) lanes += bits_as<Float>(word >> 32);
  }
  BANDGATE_DEVICE std::uint64_t verified() const { return sum; }
  BANDGATE_DEVICE std::uint64_t timed() const {
    if constexpr (sizeof(Float) == 8)
      return sum ^ bits_as<std::uint64_t>(lanes);
    else
      return sum ^ bits_as<std::uint32_t>(lanes);
  }
};

/// Thread 0 writes one line at the end, which is not counted; the comparison makes every thread's
/// sum matter to the compiler.
template <class Raw, class Sum>
BANDGATE_KERNEL BANDGATE_BOUNDS(block_threads) void read_windows(Raw const* __restrict__ pool,
                                                                 window_walk walk, observable out) {
  std::uint64_t const thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  window_cursor cursor(walk, thread, std::uint64_t{gridDim.x} * blockDim.x);
  Sum sum;
  auto const add = [&](Raw const& value) {
    for_words(value, [&](unsigned long long word) { sum.add(word, sizeof(Raw)); });
  };
  std::uint64_t left = cursor.total();
  BANDGATE_NO_UNROLL
  for (; left >= group; left -= group) {
    std::uint64_t place[group];
    Raw value[group];
    BANDGATE_UNROLL
    for (unsigned k = 0; k < group; ++k) place[k] = cursor.next();
    BANDGATE_UNROLL
    for (unsigned k = 0; k < group; ++k) value[k] = load_stream(pool + place[k]);
    all_issued();
    BANDGATE_UNROLL
    for (unsigned k = 0; k < group; ++k) add(value[k]);
  }
  BANDGATE_NO_UNROLL
  for (; left != 0; --left) add(pool[cursor.next()]);
  observe(out, out.reduce ? sum.verified() : sum.timed());
  if (!out.reduce && thread == 0) *out.total = sum.timed();
}

using launcher = void (*)(gpu_context&, launch_shape const&, buffer const&, window_walk,
                          observable);

/// `walk` in bytes.
template <unsigned Bytes, class Sum>
void launch_windows(gpu_context& gpu, launch_shape const& shape, buffer const& pool,
                    window_walk walk, observable out) {
  using raw = typename raw_of<Bytes>::type;
  window_walk const vectors{walk.pool / Bytes, walk.window / Bytes, walk.start / Bytes, walk.passes,
                            walk.blocked};
  launch(gpu, "read_window", {shape.at("blocks"), block_threads}, &read_windows<raw, Sum>,
         pool.as<raw>(), vectors, out);
}

template <class Sum>
launcher launcher_of(std::uint64_t bytes) {
  if constexpr (Sum::bits <= 8)
    if (bytes == 1) return &launch_windows<1, Sum>;
  if constexpr (Sum::bits <= 16)
    if (bytes == 2) return &launch_windows<2, Sum>;
  if constexpr (Sum::bits <= 32)
    if (bytes == 4) return &launch_windows<4, Sum>;
  if (bytes == 8) return &launch_windows<8, Sum>;
  if (bytes == 16) return &launch_windows<16, Sum>;
  if constexpr (gpu_traits::widest_load >= 32)
    return &launch_windows<32, Sum>;
  else
    throw usage_error("read_window: no kernel of that vector");
}

struct element {
  char const* name;
  std::uint64_t bytes;
  launcher (*launcher_of)(std::uint64_t vector_bytes);
};
/// Signed integers are summed as unsigned: the bits are the same.
constexpr element elements[] = {
    {"u8", 1, &launcher_of<integer_sum<8>>},    {"i8", 1, &launcher_of<integer_sum<8>>},
    {"u16", 2, &launcher_of<integer_sum<16>>},  {"i16", 2, &launcher_of<integer_sum<16>>},
    {"u32", 4, &launcher_of<integer_sum<32>>},  {"i32", 4, &launcher_of<integer_sum<32>>},
    {"f32", 4, &launcher_of<float_sum<float>>}, {"u64", 8, &launcher_of<integer_sum<64>>},
    {"i64", 8, &launcher_of<integer_sum<64>>},  {"f64", 8, &launcher_of<float_sum<double>>}};

element const& element_of(parameters const& values) {
  auto const& name = std::get<std::string>(values.at("dtype"));
  for (auto const& e : elements)
    if (name == e.name) return e;
  throw usage_error("parameter dtype=" + name + ": is not an element type of read_window");
}

std::uint64_t number(parameters const& values, char const* name) {
  return std::get<std::uint64_t>(values.at(name));
}

class gpu_window_reader final : public kernel {
 public:
  gpu_window_reader(gpu_context& gpu, work const& w, parameters const& values)
      : gpu_(gpu),
        element_(element_of(values)),
        launch_(element_.launcher_of(element_.bytes * number(values, "vector"))),
        window_(w.bytes_per_pass),
        blocked_(std::get<std::string>(values.at("layout")) == "blocked"),
        pool_(gpu.allocate(w.buffers.at("data"), "pool of windows")),
        total_(gpu),
        seed_(gpu.seed()) {}

  void fill() override { fill_random(gpu_, pool_, seed_); }

  /// Goes on where the last launch ended, or its last windows would still be cached.
  void run(launch_shape const& shape, std::uint64_t passes) override {
    launch_(gpu_, shape, pool_, walk(next_, passes), {~seed_, total_.at(), false});
    auto const pool = pool_.size().count;
    next_ = (next_ + passes % pool * (window_ % pool)) % pool;
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    auto const passes = passes_over(pool_.size().count, window_);
    total_.clear();
    launch_(gpu_, shape, pool_, walk(0, passes), {~seed_, total_.at(), true});
    return compare_sums(total_.read(), expected(passes * window_));
  }

 private:
  window_walk walk(std::uint64_t start, std::uint64_t passes) const {
    return {pool_.size().count, window_, start, passes, blocked_};
  }
  std::uint64_t expected(std::uint64_t size) {
    auto const pool = pool_.size().count;
    switch (element_.bytes) {
      case 1:
        return sum_of_walk<8>(gpu_, pool, size, seed_);
      case 2:
        return sum_of_walk<16>(gpu_, pool, size, seed_);
      case 4:
        return sum_of_walk<32>(gpu_, pool, size, seed_);
      default:
        return sum_of_walk<64>(gpu_, pool, size, seed_);
    }
  }

  gpu_context& gpu_;
  element const& element_;
  launcher launch_;
  std::uint64_t window_;
  bool blocked_;
  buffer pool_;
  device_word total_;
  std::uint64_t seed_;
  std::uint64_t next_{};
};

/// On the CPU each thread sums its own contiguous run of every window in the widest vectors.
class host_window_reader final : public kernel {
 public:
  host_window_reader(host_context& host, work const& w)
      : host_(host),
        window_(w.bytes_per_pass),
        pool_(host.allocate(w.buffers.at("data"), "pool of windows")),
        seed_(host.seed()),
        sums_(host.threads()) {}

  /// Window by window, so that each thread touches first what it will read.
  void fill() override {
    auto const pool = pool_.size().count;
    host_.parallel([&](unsigned thread) {
      for (std::uint64_t base = 0; base < pool; base += window_)
        visit_window(pool, std::min(window_, pool - base), base, thread, host_.threads(),
                     [&](std::uint64_t begin, std::uint64_t end) {
                       fill_random(pool_.as<void>(), {begin, end}, seed_);
                     });
    });
  }

  void run(launch_shape const&, std::uint64_t passes) override {
    auto const pool = pool_.size().count;
    host_.parallel([&](unsigned thread) {
      std::uint64_t sum = 0;
      std::uint64_t base = next_;
      for (std::uint64_t i = 0; i < passes; ++i, base = wrap(base + window_, pool))
        visit_window(pool, window_, base, thread, host_.threads(),
                     [&](std::uint64_t begin, std::uint64_t end) {
                       sum += host_.loops().sum64(pool_.as<unsigned char>() + begin, end - begin);
                     });
      sums_[thread].value = sum;
    });
    next_ = (next_ + passes % pool * (window_ % pool)) % pool;
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    for (auto& sum : sums_) sum.value = 0;
    next_ = 0;
    auto const passes = passes_over(pool_.size().count, window_);
    run(shape, passes);
    std::uint64_t read = 0;
    for (auto const& sum : sums_) read += sum.value;
    return compare_sums(read, sum_of_walk<64>(host_, pool_.size().count, passes * window_, seed_));
  }

 private:
  struct alignas(64) padded {
    std::uint64_t value{};
  };
  host_context& host_;
  std::uint64_t window_;
  buffer pool_;
  std::uint64_t seed_;
  std::vector<padded> sums_;
  std::uint64_t next_{};
};

std::vector<parameter> declared() {
  parameter dtype;
  dtype.name = "dtype";
  dtype.kind = parameter_kind::choice;
  dtype.fallback = std::string("u32");
  dtype.help = "element type";
  for (auto const& e : elements) dtype.choices.emplace_back(e.name);
  parameter vector;
  vector.name = "vector";
  vector.kind = parameter_kind::count;
  vector.fallback = std::uint64_t{4};
  vector.help =
      "elements a load, a power of two: at most 16 bytes, 32 from compute capability 10.0";
  vector.most = 32;
  parameter layout;
  layout.name = "layout";
  layout.kind = parameter_kind::choice;
  layout.fallback = std::string("coalesced");
  layout.help = "coalesced: neighbouring threads load neighbours; blocked: each its own run";
  layout.choices = {"coalesced", "blocked"};
  return {dtype, vector, layout, window_parameter(mib(64).count, "bytes read a pass")};
}

/// Refuses what cannot be loaded at once on this device.
void check_vector(parameters const& values, device_facts const& facts) {
  auto const vector = number(values, "vector");
  auto const size = vector * element_of(values).bytes;
  if ((vector & (vector - 1)) != 0 || size > 32)
    throw usage_error("parameter vector=" + std::to_string(vector) + ": " + std::to_string(size) +
                      " bytes are no vector; choose 1, 2, 4 … elements of " +
                      "at most 16 bytes in all (32 from compute capability 10.0)");
  if (size == 32 && facts.compute_capability == 0)
    throw not_applicable("loads of 32 bytes need an NVIDIA GPU of compute capability 10.0");
  if (size == 32 && facts.compute_capability < 100)
    throw not_applicable("loads of 32 bytes need compute capability 10.0; this device has " +
                         std::to_string(facts.compute_capability / 10) + "." +
                         std::to_string(facts.compute_capability % 10));
  if (number(values, "window") % size != 0)
    throw usage_error("parameter window: is not a whole number of " + std::to_string(size) +
                      "-byte vectors; choose a multiple of 1MiB");
}

work plan(parameters const& values, device_facts const& facts) {
  if (facts.is_gpu) {
    check_vector(values, facts);
  } else {
    for (auto const& p : declared())
      if (p.name != "window" && values.at(p.name) != p.fallback)
        throw not_applicable("the host backend reads windows in its widest vectors only; leave " +
                             p.name + " at its default");
    if (number(values, "window") % 4096 != 0)
      throw usage_error("parameter window: is not a multiple of 4KiB");
  }
  return window_work(number(values, "window"), facts, 1);
}

std::vector<launch_shape> shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  for (std::uint64_t const a_processor : {4, 2})
    all.push_back({{"blocks", a_processor * facts.processors}, {"threads", block_threads}});
  return all;
}

}  // namespace

BANDGATE_PROBE(read_window) {
  probe p;
  p.name = "read_window";
  p.summary = "Reads a window a pass, each the next of a large pool: cold at every size";
  p.byte_rule = "bytes read";
  p.parameters = declared();
  p.expected_spread = 0.04;
  p.suites = {"full"};
  p.plan = plan;
  p.shapes = shapes;
  p.on_gpu = [](gpu_context& gpu, work const& w,
                parameters const& values) -> std::unique_ptr<kernel> {
    return std::make_unique<gpu_window_reader>(gpu, w, values);
  };
  p.on_host = [](host_context& host, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<host_window_reader>(host, w);
  };
  return p;
}

}  // namespace bandgate
