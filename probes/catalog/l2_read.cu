// SPDX-License-Identifier: Apache-2.0
/// Re-reads a window that stays in the cache which all processors share: that cache's bandwidth,
/// not the memory's.
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

constexpr unsigned loads = 4;
/// Passes that a launch carries at least: the first of them finds nothing cached.
constexpr std::uint64_t least_passes = 64;

/// All threads read the window together, `loads` vectors each a step; each pass begins one step
/// after the last, so that no load repeats one that the compiler could have kept. The loads go past
/// the processors' own caches: 132 of 256 KiB would serve an H200 32 MiB.
template <unsigned Threads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void read_cached(ulonglong2 const* from,
                                                          std::uint64_t count, std::uint64_t passes,
                                                          observable out) {
  std::uint64_t const threads = std::uint64_t{gridDim.x} * Threads;
  std::uint64_t const thread = std::uint64_t{blockIdx.x} * Threads + threadIdx.x;
  std::uint64_t const step = threads * loads;
  std::uint64_t const steps = (count + step - 1) / step;
  std::uint64_t sum = 0;
  std::uint64_t at = 0;
  BANDGATE_NO_UNROLL
  for (; passes != 0; --passes) {
    BANDGATE_NO_UNROLL
    for (std::uint64_t left = steps; left != 0; --left) {
      std::uint64_t const first = at * step + thread;
      ulonglong2 value[loads];
      if ((at + 1) * step <= count) {  // a whole step: its loads wait for no comparison
        BANDGATE_UNROLL
        for (unsigned k = 0; k < loads; ++k)
          value[k] = load_shared_cache(from + first + k * threads);
      } else {
        BANDGATE_UNROLL
        for (unsigned k = 0; k < loads; ++k)
          value[k] = first + k * threads < count ? load_shared_cache(from + first + k * threads)
                                                 : ulonglong2{0, 0};
      }
      BANDGATE_UNROLL
      for (unsigned k = 0; k < loads; ++k) sum += value[k].x + value[k].y;
      if (++at == steps) at = 0;
    }
    if (++at == steps) at = 0;
  }
  observe(out, sum);
}

template <unsigned Threads>
void launch_reader(gpu_context& gpu, std::uint64_t blocks, buffer const& window,
                   std::uint64_t passes, observable out) {
  launch(gpu, "l2_read", {blocks, Threads}, &read_cached<Threads>, window.as<ulonglong2>(),
         window.size().count / sizeof(ulonglong2), passes, out);
}

struct variant {
  std::uint64_t threads, a_processor;  ///< threads a block, blocks a processor
  void (*launch)(gpu_context&, std::uint64_t blocks, buffer const&, std::uint64_t passes,
                 observable);
};
constexpr variant variants[] = {{1024, 1, &launch_reader<1024>}, {256, 4, &launch_reader<256>}};

class cache_reader final : public kernel {
 public:
  cache_reader(gpu_context& gpu, bytes window)
      : gpu_(gpu),
        window_(gpu.allocate(window, "window to re-read")),
        total_(gpu),
        seed_(gpu.seed()) {}

  void fill() override { fill_random(gpu_, window_, seed_); }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    read(shape, passes, {~seed_, total_.at(), false});
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    constexpr std::uint64_t passes = 3;
    total_.clear();
    read(shape, passes, {~seed_, total_.at(), true});
    return compare_sums(total_.read(), passes * sum_of_random<64>(gpu_, window_.size(), seed_));
  }

 private:
  void read(launch_shape const& shape, std::uint64_t passes, observable out) {
    for (auto const& v : variants)
      if (v.threads == shape.at("threads"))
        return v.launch(gpu_, shape.at("blocks"), window_, passes, out);
    throw usage_error("l2_read: no kernel of that shape");
  }

  gpu_context& gpu_;
  buffer window_;
  device_word total_;
  std::uint64_t seed_;
};

work plan(parameters const& values, device_facts const& facts) {
  auto const cache = facts.last_level_cache.count;
  if (cache == 0)
    throw not_applicable(
        "the driver does not say how large this device's cache is; nothing tells "
        "which window stays in it");
  auto const* asked = std::get_if<std::uint64_t>(&values.at("window"));
  auto const window = asked != nullptr ? *asked : cache / 2 / kib(64).count * kib(64).count;
  if (window % sizeof(ulonglong2) != 0)
    throw usage_error("parameter window: is not a multiple of 16 bytes");
  if (window > cache)
    throw usage_error("window=" + to_string(window, parameter_kind::size) +
                      " does not stay in the cache of " + to_string(cache, parameter_kind::size) +
                      ": it would measure the memory; choose a smaller one, or read_window");
  work w;
  w.bytes_per_pass = window;
  w.min_iterations = least_passes;
  w.buffers = {{"data", {window}}};
  return w;
}

}  // namespace

BANDGATE_PROBE(l2_read) {
  probe p;
  p.name = "l2_read";
  p.summary = "Re-reads a window that stays in the shared cache: the cache's bandwidth";
  p.byte_rule = "bytes read from the cache";
  parameter window;
  window.name = "window";
  window.kind = parameter_kind::size;
  window.fallback = std::string("auto");
  window.help = "bytes re-read; auto: half of the cache";
  window.least = kib(64).count;
  p.parameters = {window};
  p.ceiling = ceiling::none;
  p.load = load::cache;
  p.expected_spread = 0.04;
  p.suites = {"full"};
  p.plan = plan;
  p.shapes = [](parameters const&, device_facts const& facts) {
    std::vector<launch_shape> all;
    for (auto const& v : variants)
      all.push_back({{"threads", v.threads}, {"blocks", v.a_processor * facts.processors}});
    return all;
  };
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<cache_reader>(gpu, w.buffers.at("data"));
  };
  return p;
}

}  // namespace bandgate
