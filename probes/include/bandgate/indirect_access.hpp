// SPDX-License-Identifier: Apache-2.0
/// What gather and scatter have in common; each brings its own kernels, and indirection.hpp says
/// what is right.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <bandgate/indirect_plan.hpp>
#include <bandgate/indirection.hpp>
#include <bandgate/reading.hpp>

namespace bandgate {

/// What a pass works on.
template <class Word, class Index>
struct indirect_arrays {
  Index const* index;
  Word const* in;
  Word* out;
  std::uint64_t elements;
};

template <class Word, class Index>
using indirect_gpu_pass = void (*)(gpu_context&, launch_shape const&,
                                   indirect_arrays<Word, Index> const&);
/// Elements [run.begin, run.end), on the calling thread.
template <class Word, class Index>
using indirect_host_pass = void (*)(indirect_arrays<Word, Index> const&, run_of run);

// What is computed for each element, on whichever device.

template <class Word>
struct make_data {
  std::uint64_t seed;
  BANDGATE_BOTH Word operator()(std::uint64_t i) const { return numbered_data<Word>::at(seed, i); }
};
template <class Index>
struct make_entry {
  index_rule rule;
  BANDGATE_BOTH Index operator()(std::uint64_t i) const { return static_cast<Index>(rule.at(i)); }
};
template <class Check>
struct make_poison {
  Check check;
  BANDGATE_BOTH auto operator()(std::uint64_t i) const { return poison(check, i); }
};
template <class Index>
struct is_entry {
  index_rule rule;
  Index const* table;
  BANDGATE_BOTH bool operator()(std::uint64_t i) const { return table[i] == rule.at(i); }
};
template <class Check>
struct is_acceptable {
  Check check;
  typename Check::word const* out;
  BANDGATE_BOTH bool operator()(std::uint64_t i) const { return acceptable(check, i, out[i]); }
};
template <class Check>
struct is_reached {
  Check check;
  typename Check::word const* out;
  BANDGATE_BOTH bool operator()(std::uint64_t i) const { return reached(check, out, i); }
};

namespace kernels {

template <class T, class Value>
BANDGATE_KERNEL BANDGATE_BOUNDS(helper_threads) void fill_with(T* to, std::uint64_t count,
                                                               Value value) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = value(i);
}

template <class Holds>
BANDGATE_KERNEL BANDGATE_BOUNDS(helper_threads) void find_failing(std::uint64_t count, Holds holds,
                                                                  unsigned long long* first) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    if (!holds(i)) {
      atomicMin(first, i);
      return;
    }
}

/// Ordinary loads: what is read here takes the place of what the caches held.
template <class Vector>
BANDGATE_KERNEL BANDGATE_BOUNDS(helper_threads) void read_through(Vector const* from,
                                                                  std::uint64_t count,
                                                                  observable out) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    sum += from[i].x + from[i].y;
  observe(out, sum);
}

}  // namespace kernels

/// The same few things on a GPU and on the CPU.
template <class Word, class Index>
class indirect_on_gpu {
 public:
  using context = gpu_context;
  using pass = indirect_gpu_pass<Word, Index>;
  indirect_on_gpu(gpu_context& gpu, pass one_pass) : gpu_(gpu), pass_(one_pass), total_(gpu) {}

  template <class T, class Value>
  void fill(T* to, std::uint64_t count, Value const& value) {
    launch(gpu_, "fill", kernels::helper_grid(gpu_, count), &kernels::fill_with<T, Value>, to,
           count, value);
  }
  template <class Holds>
  std::optional<std::uint64_t> first_failing(std::uint64_t count, Holds const& holds) {
    total_.set_all_bits();
    launch(gpu_, "comparison", kernels::helper_grid(gpu_, count), &kernels::find_failing<Holds>,
           count, holds, total_.at());
    auto const first = total_.read();
    if (first == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    return first;
  }
  void read_through(buffer const& all) {
    auto const count = all.size().count / sizeof(ulonglong2);
    launch(gpu_, "reset of the caches", kernels::helper_grid(gpu_, count),
           &kernels::read_through<ulonglong2>, all.as<ulonglong2>(), count,
           observable{~gpu_.seed(), total_.at(), false});
  }
  void run(launch_shape const& shape, indirect_arrays<Word, Index> const& arrays) {
    pass_(gpu_, shape, arrays);
  }

 private:
  gpu_context& gpu_;
  pass pass_;
  device_word total_;
};

/// Each thread its own contiguous run of every array, which it touched first.
template <class Word, class Index>
class indirect_on_host {
 public:
  using context = host_context;
  using pass = indirect_host_pass<Word, Index>;
  indirect_on_host(host_context& host, pass one_pass)
      : host_(host), pass_(one_pass), sums_(host.threads()) {}

  template <class T, class Value>
  void fill(T* to, std::uint64_t count, Value const& value) {
    host_.parallel([&](unsigned thread) {
      auto const run = run_of_thread(count, thread);
      for (std::uint64_t i = run.begin; i < run.end; ++i) to[i] = value(i);
    });
  }
  template <class Holds>
  std::optional<std::uint64_t> first_failing(std::uint64_t count, Holds const& holds) {
    std::vector<std::uint64_t> firsts(host_.threads(), count);
    host_.parallel([&](unsigned thread) {
      auto const run = run_of_thread(count, thread);
      auto i = run.begin;
      while (i < run.end && holds(i)) ++i;
      if (i < run.end) firsts[thread] = i;
    });
    auto const first = *std::min_element(firsts.begin(), firsts.end());
    if (first == count) return std::nullopt;
    return first;
  }
  void read_through(buffer const& all) {
    host_.parallel([&](unsigned thread) {
      auto const run = slice(all.size().count, thread, host_.threads());
      sums_[thread] = host_.loops().sum64(all.as<unsigned char>() + run.begin, run.end - run.begin);
    });
  }
  void run(launch_shape const&, indirect_arrays<Word, Index> const& arrays) {
    host_.parallel([&](unsigned thread) { pass_(arrays, run_of_thread(arrays.elements, thread)); });
  }

 private:
  run_of run_of_thread(std::uint64_t count, unsigned thread) const {
    return slice(count, thread, host_.threads(), 1024);  // whole pages of every array
  }
  host_context& host_;
  pass pass_;
  std::vector<std::uint64_t> sums_;
};

/// Gathers or scatters, as Check says, on Device.
template <class Device, class Check, class Index>
class indirect_kernel final : public kernel {
 public:
  using word = typename Check::word;
  indirect_kernel(typename Device::context& context, work const& w, parameters const& values,
                  typename Device::pass one_pass)
      : device_(context, one_pass),
        index_(context.allocate(w.buffers.at("index"), "index table")),
        in_(context.allocate(w.buffers.at("in"), "elements to read")),
        scratch_(context.allocate(w.buffers.at("scratch"), "what resets the caches")),
        out_(context.allocate(w.buffers.at("out"), "elements to write")),
        elements_(in_.size().count / sizeof(word)),
        seed_(context.seed()),
        check_{make_index_rule(elements_, number_or(values.at("span"), elements_),
                               std::get<std::string>(values.at("mode")) == "sliding", seed_),
               seed_} {}

  void fill() override {
    device_.fill(in_.template as<word>(), elements_, make_data<word>{seed_});
    device_.fill(scratch_.template as<std::uint64_t>(),
                 scratch_.size().count / sizeof(std::uint64_t), make_data<std::uint64_t>{seed_});
    make_table(check_.index);
  }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    for (std::uint64_t i = 0; i < passes; ++i) device_.run(shape, arrays());
  }

  bool resets() const override { return true; }
  void reset() override { device_.read_through(scratch_); }

  /// Where elements share an index, a store that another one covers is not seen; so the table is
  /// held against its rule too, and the kernel has to get a permutation right, of which every store
  /// is seen. A permutation's output says all by itself.
  std::optional<std::string> verify(launch_shape const& shape) override {
    if (auto wrong = verify_pass(shape, check_)) {
      auto entry = wrong_entry();
      return entry ? entry : wrong;
    }
    if (check_.reaches_all()) return std::nullopt;
    if (auto entry = wrong_entry()) return entry;
    auto once = check_;
    once.index = make_index_rule(elements_, check_.index.span, false, seed_);
    make_table(once.index);
    auto wrong = verify_pass(shape, once);
    make_table(check_.index);
    return wrong;
  }

 private:
  void make_table(index_rule const& rule) {
    device_.fill(index_.template as<Index>(), elements_, make_entry<Index>{rule});
  }

  std::optional<std::string> wrong_entry() {
    auto const entry = device_.first_failing(
        elements_, is_entry<Index>{check_.index, index_.template as<Index>()});
    if (!entry) return std::nullopt;
    return "the index table is wrong at entry " + std::to_string(*entry);
  }

  std::optional<std::string> verify_pass(launch_shape const& shape, Check const& check) {
    auto* const out = out_.template as<word>();
    device_.fill(out, elements_, make_poison<Check>{check});
    run(shape, 1);
    if (auto const wrong = device_.first_failing(elements_, is_acceptable<Check>{check, out}))
      return std::string(Check::name) + ": element " + std::to_string(*wrong) +
             " of the output is none of those that belong there";
    if (check.reaches_all()) return std::nullopt;
    if (auto const wrong = device_.first_failing(elements_, is_reached<Check>{check, out}))
      return std::string(Check::name) + ": where element " + std::to_string(*wrong) +
             " of the input belongs, none arrived";
    return std::nullopt;
  }

  indirect_arrays<word, Index> arrays() const {
    return {index_.template as<Index>(), in_.template as<word>(), out_.template as<word>(),
            elements_};
  }

  Device device_;
  buffer index_, in_, scratch_, out_;
  std::uint64_t elements_;
  std::uint64_t seed_;
  Check check_;
};

/// `make(word{}, index{})` with the types that the parameters name. Elements are bit patterns: no
/// arithmetic is done on them.
template <class Make>
std::unique_ptr<kernel> with_types(parameters const& values, Make const& make) {
  auto const types = types_of(values);
  if (types.word == 8)
    return types.index == 8 ? make(std::uint64_t{}, std::uint64_t{})
                            : make(std::uint64_t{}, std::uint32_t{});
  return types.index == 8 ? make(std::uint32_t{}, std::uint64_t{})
                          : make(std::uint32_t{}, std::uint32_t{});
}

/// `gpu_pass(word{}, index{})` and `host_pass` give the functions that run a pass for these types.
template <template <class> class Check, class GpuPass, class HostPass>
void set_kernels(probe& p, GpuPass gpu_pass, HostPass host_pass) {
  p.on_gpu = [gpu_pass](gpu_context& gpu, work const& w, parameters const& values) {
    return with_types(values, [&](auto word, auto index) -> std::unique_ptr<kernel> {
      using device = indirect_on_gpu<decltype(word), decltype(index)>;
      return std::make_unique<indirect_kernel<device, Check<decltype(word)>, decltype(index)>>(
          gpu, w, values, gpu_pass(word, index));
    });
  };
  p.on_host = [host_pass](host_context& host, work const& w, parameters const& values) {
    return with_types(values, [&](auto word, auto index) -> std::unique_ptr<kernel> {
      using device = indirect_on_host<decltype(word), decltype(index)>;
      return std::make_unique<indirect_kernel<device, Check<decltype(word)>, decltype(index)>>(
          host, w, values, host_pass(word, index));
    });
  };
}

}  // namespace bandgate
