// SPDX-License-Identifier: Apache-2.0
#include "backend/host/host_backend.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <bandgate/backend.hpp>
#include <cerrno>
#include <chrono>
#include <deque>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/host/host_cpu.hpp"
#include "backend/host/loops.hpp"
#include "device/identity.hpp"

namespace bandgate {
namespace {

constexpr char const* no_source = "none: host";

class steady_clock final : public clock {
 public:
  nanoseconds now() override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

class timed_kernel final : public subject {
 public:
  timed_kernel(kernel& what, launch_shape const& shape, work const& planned)
      : kernel_(what), shape_(shape), work_(planned) {}

  nanoseconds sample(std::uint64_t iterations) override {
    if (!kernel_.resets()) return timed_run(iterations);
    nanoseconds sum{};
    for (std::uint64_t i = 0; i < iterations; ++i) {
      kernel_.reset();
      sum += timed_run(1);
    }
    return sum;
  }
  std::uint64_t bytes_per_iteration() const override { return work_.bytes_per_pass; }
  std::uint64_t min_iterations() const override { return work_.min_iterations; }

 private:
  nanoseconds timed_run(std::uint64_t iterations) {
    auto const start = std::chrono::steady_clock::now();
    kernel_.run(shape_, iterations);
    return std::chrono::steady_clock::now() - start;
  }

  kernel& kernel_;
  launch_shape const& shape_;
  work const& work_;
};

class host_prepared final : public prepared {
 public:
  host_prepared(host_cpu& cpu, probe const& what, parameters const& values)
      : work_(what.plan(values, cpu.facts())), shapes_(what.shapes(values, cpu.facts())) {
    if (cpu.facts().last_level_cache.count == 0)
      work_.notes.push_back(
          "the size of the last-level cache is not readable, so the buffer was not held against "
          "it");
    kernel_ = what.on_host(cpu, work_, values);
    for (auto const& shape : shapes_) timed_.emplace_back(*kernel_, shape, work_);
  }

  bandgate::work const& work() const override { return work_; }
  std::vector<launch_shape> const& shapes() const override { return shapes_; }
  void fill() override { kernel_->fill(); }
  std::optional<std::string> verify(std::size_t shape) override {
    return kernel_->verify(shapes_.at(shape));
  }
  subject& timed(std::size_t shape) override { return timed_.at(shape); }
  std::vector<named_value> more(double seconds_per_pass) override {
    return kernel_->more(seconds_per_pass);
  }
  void select(std::uint64_t slice) override { kernel_->select(slice); }

 private:
  bandgate::work work_;
  std::vector<launch_shape> shapes_;
  std::unique_ptr<kernel> kernel_;
  std::deque<timed_kernel> timed_;
};

class no_monitor final : public health_monitor {
 public:
  bandgate::health report() override {
    bandgate::health nothing;
    nothing.source = no_source;
    return nothing;
  }
};

device_facts facts_of(device_identity const& identity, bytes memory_free) {
  device_facts facts;
  facts.memory_total = {identity.memory_bytes.value_or(memory_free.count)};
  facts.memory_free = memory_free;
  facts.last_level_cache = {identity.last_level_cache_bytes.value_or(0)};
  facts.processors = identity.processors.value_or(0);
  return facts;
}

/// Another one at every run: nothing that an earlier run left in memory can pass for this one's.
std::uint64_t new_seed() {
  std::uint64_t seed = 0;
  while (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    if (errno != EINTR)
      throw measurement_error(failure::device_failed,
                              fmt::format("the system gives no random seed (getrandom): {}",
                                          std::generic_category().message(errno)));
  return seed;
}

class host_session final : public session {
 public:
  host_session(device_identity identity, bytes memory_free)
      : identity_(std::move(identity)),
        cpu_(facts_of(identity_, memory_free), new_seed(), *loops_for(this_cpu()).back()) {}

  device_identity const& identity() const override { return identity_; }
  device_facts facts() const override { return cpu_.facts(); }
  bandgate::clock& clock() override { return clock_; }
  bool proportional() const override { return false; }  // turbo and neighbours move the time
  std::unique_ptr<prepared> prepare(probe const& what, parameters const& values) override {
    if (!what.on_host)
      throw not_applicable(
          fmt::format("probe '{}' has no meaning on the host backend: it needs a GPU", what.name));
    return std::make_unique<host_prepared>(cpu_, what, values);
  }
  health_monitor& health() override { return monitor_; }

 private:
  device_identity identity_;
  steady_clock clock_;
  no_monitor monitor_;
  host_cpu cpu_;
};

class host_backend final : public backend {
 public:
  explicit host_backend(std::filesystem::path root) : root_(std::move(root)) {}

  device_list devices() override {
    device_list list;
    list.devices.push_back(host_identity(root_));
    list.devices.back().backend = "host";
    return list;
  }

  health inspect(std::size_t) override {
    health seen;
    seen.source = no_source;
    return seen;
  }

  std::unique_ptr<session> open(std::size_t index, open_options const&) override {
    auto const list = devices();
    if (index >= list.devices.size())
      throw usage_error(
          fmt::format("there is no host device {}: the host backend has one, index 0", index));
    return std::make_unique<host_session>(list.devices[index], free_host_memory(root_));
  }

 private:
  std::filesystem::path root_;
};

}  // namespace

std::unique_ptr<backend> make_host_backend(std::filesystem::path const& root) {
  return std::make_unique<host_backend>(root);
}

}  // namespace bandgate
