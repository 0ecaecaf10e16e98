// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/gpu_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "backend/gpu/cuda_context.hpp"
#include "backend/gpu/cuda_devices.hpp"
#include "backend/gpu/cuda_health.hpp"
#include "device/nvml.hpp"

namespace bandgate {
namespace {

class steady_clock final : public clock {
 public:
  nanoseconds now() override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

/// Times the passes between two events of the context's stream.
class timed_kernel final : public subject {
 public:
  timed_kernel(cuda_context& gpu, kernel& what, launch_shape const& shape, work const& planned)
      : gpu_(gpu), kernel_(what), shape_(shape), work_(planned) {}

  nanoseconds sample(std::uint64_t iterations) override {
    gpu_.make_current();  // the kernel may have worked on another device as well
    if (kernel_.resets()) return one_by_one(iterations);
    begin_.record(gpu_.stream());
    kernel_.run(shape_, iterations);
    gpu_.make_current();
    end_.record(gpu_.stream());
    end_.wait(gpu_.on_device("timed passes"));
    return end_ - begin_;
  }
  std::uint64_t bytes_per_iteration() const override { return work_.bytes_per_pass; }
  std::uint64_t min_iterations() const override { return work_.min_iterations; }

 private:
  /// Each pass between events of its own, what resets it outside them.
  nanoseconds one_by_one(std::uint64_t passes) {
    while (marks_.size() < passes) marks_.emplace_back();
    for (std::uint64_t i = 0; i < passes; ++i) {
      kernel_.reset();
      marks_[i].first.record(gpu_.stream());
      kernel_.run(shape_, 1);
      marks_[i].second.record(gpu_.stream());
    }
    gpu_.synchronize("timed passes");
    nanoseconds sum{};
    for (std::uint64_t i = 0; i < passes; ++i) sum += marks_[i].second - marks_[i].first;
    return sum;
  }

  cuda_context& gpu_;
  kernel& kernel_;
  launch_shape const& shape_;
  bandgate::work const& work_;
  cuda_event begin_, end_;
  std::vector<std::pair<cuda_event, cuda_event>> marks_;
};

class gpu_prepared final : public prepared {
 public:
  gpu_prepared(cuda_context& gpu, probe const& what, parameters const& values)
      : gpu_(gpu),
        work_(what.plan(values, gpu.facts())),
        shapes_(what.shapes(values, gpu.facts())),
        kernel_(what.on_gpu(gpu, work_, values)) {
    for (auto& note : gpu.take_notes())
      if (std::find(work_.notes.begin(), work_.notes.end(), note) == work_.notes.end())
        work_.notes.push_back(std::move(note));
    gpu.make_current();  // where the events are made
    for (auto const& shape : shapes_) timed_.emplace_back(gpu, *kernel_, shape, work_);
  }

  bandgate::work const& work() const override { return work_; }
  std::vector<launch_shape> const& shapes() const override { return shapes_; }
  void fill() override {
    kernel_->fill();
    gpu_.synchronize("filling the buffers");
  }
  std::optional<std::string> verify(std::size_t shape) override {
    return kernel_->verify(shapes_.at(shape));
  }
  subject& timed(std::size_t shape) override { return timed_.at(shape); }
  std::vector<named_value> more(double seconds_per_pass) override {
    return kernel_->more(seconds_per_pass);
  }
  void select(std::uint64_t slice) override { kernel_->select(slice); }

 private:
  cuda_context& gpu_;
  bandgate::work work_;
  std::vector<launch_shape> shapes_;
  std::unique_ptr<kernel> kernel_;
  std::deque<timed_kernel> timed_;
};

class gpu_session final : public session {
 public:
  gpu_session(management const& library, cuda_context::machine const& all, std::size_t index)
      : identity_(all->at(index).identity), health_(library, identity_), gpu_(all, index) {
    health_.context_made();
  }

  device_identity const& identity() const override { return identity_; }
  device_facts facts() const override { return gpu_.facts(); }
  bandgate::clock& clock() override { return clock_; }
  bool proportional() const override { return true; }
  std::unique_ptr<prepared> prepare(probe const& what, parameters const& values) override {
    if (!what.on_gpu)
      throw not_applicable(fmt::format("probe '{}' has no meaning on a GPU", what.name));
    return std::make_unique<gpu_prepared>(gpu_, what, values);
  }
  health_monitor& health() override { return health_; }

 private:
  device_identity identity_;
  steady_clock clock_;
  cuda_health health_;  ///< before the context: it reads the idle device
  cuda_context gpu_;
};

class gpu_backend final : public backend {
 public:
  device_list devices() override {
    auto const& all = listed();
    device_list list;
    for (auto const& device : all.devices) list.devices.push_back(device.identity);
    list.problems = all.problems;
    return list;
  }

  health inspect(std::size_t index) override {
    auto const& who = at(index).identity;
    health seen;
    seen.source = nvml_.available() ? nvml_.name() : "none: " + nvml_.why_not();
    seen.idle = nvml_.snapshot(who);
    seen.processes = nvml_.processes(who, {});
    return seen;
  }

  std::unique_ptr<session> open(std::size_t index, open_options const&) override {
    at(index);
    return std::make_unique<gpu_session>(
        nvml_, std::make_shared<std::vector<cuda_device> const>(listed().devices), index);
  }

 private:
  cuda_device const& at(std::size_t index) {
    auto const& all = listed();
    for (auto const& problem : all.problems) {
      if (problem.usage) throw usage_error(problem.message);
      throw measurement_error(failure::device_failed, problem.message);
    }
    if (index >= all.devices.size())
      throw measurement_error(
          failure::device_missing,
          fmt::format("there is no GPU {}: the driver lists {}", index, all.devices.size()));
    return all.devices[index];
  }

  /// Asked once: a worker lists its devices, then opens one of them.
  cuda_device_list const& listed() {
    if (!listed_) listed_ = list_cuda_devices(nvml_);
    return *listed_;
  }

  nvml nvml_;
  std::optional<cuda_device_list> listed_;
};

}  // namespace

char const* gpu_backend_version() {
  static std::string const text = "cuda " + cuda_version(CUDART_VERSION);
  return text.c_str();
}

std::unique_ptr<backend> make_gpu_backend() {
  return std::make_unique<gpu_backend>();
}

}  // namespace bandgate
