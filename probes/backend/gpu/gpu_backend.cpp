// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/gpu_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "backend/gpu/bounded_management.hpp"
#include "backend/gpu/cuda_context.hpp"
#include "backend/gpu/cuda_devices.hpp"
#include "backend/gpu/cuda_health.hpp"
#include "backend/gpu/vendor.hpp"
#include "device/contention.hpp"
#include "device/management.hpp"
#include "device/steps.hpp"

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
  gpu_prepared(cuda_context& gpu, probe const& what, parameters const& values,
               std::vector<std::string> const& notes)
      : gpu_(gpu),
        work_(what.plan(values, gpu.facts())),
        shapes_(what.shapes(values, gpu.facts())),
        kernel_(what.on_gpu(gpu, work_, values)) {
    work_.notes.insert(work_.notes.begin(), notes.begin(), notes.end());
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
  gpu_session(std::shared_ptr<management const> library, cuda_context::machine const& all,
              std::size_t index, std::vector<std::string> notes)
      : identity_(all->at(index).identity),
        health_(std::move(library), identity_),
        gpu_(all, index),
        notes_(std::move(notes)) {
    health_.context_made();
  }

  device_identity const& identity() const override { return identity_; }
  device_facts facts() const override { return gpu_.facts(); }
  bandgate::clock& clock() override { return clock_; }
  bool proportional() const override { return true; }
  std::unique_ptr<prepared> prepare(probe const& what, parameters const& values) override {
    if (!what.on_gpu)
      throw not_applicable(fmt::format("probe '{}' has no meaning on a GPU", what.name));
    return std::make_unique<gpu_prepared>(gpu_, what, values, notes_);
  }
  health_monitor& health() override { return health_; }

 private:
  device_identity identity_;
  steady_clock clock_;
  cuda_health health_;  ///< before the context: it reads the idle device
  cuda_context gpu_;
  std::vector<std::string> notes_;
};

class gpu_backend final : public backend {
 public:
  explicit gpu_backend(gpu_backend_options options) : options_(std::move(options)) {}

  device_list devices() override {
    auto const& all = listed();
    device_list list;
    for (auto const& device : all.devices) list.devices.push_back(device.identity);
    list.problems = all.problems;
    return list;
  }

  health inspect(std::size_t index) override {
    auto const& who = at(index).identity;
    announce(fmt::format("{} of {}", asking_library, label_of(who)));
    if (auto const why = library_->lost(who))
      throw measurement_error(failure::device_lost, label_of(who) + " is lost: " + *why);
    health seen;
    seen.source = source_of(*library_);
    seen.idle = library_->snapshot(who);
    seen.processes = library_->processes(who, {});
    for (auto& process : seen.processes)
      if (is_mps_server(process)) process.active = false;
    return seen;
  }

  std::unique_ptr<session> open(std::size_t index, open_options const& options) override {
    std::vector<participant> all{participant_at(index)};
    for (auto const other : options.beside) all.push_back(participant_at(other));
    steady_clock time;
    auto const pause = [&](nanoseconds length) {
      announce(waiting_for_others);
      std::this_thread::sleep_for(length);
    };
    auto notes = wait_for_others(all, time, pause, options.wait_idle, options.allow_contention);
    return std::make_unique<gpu_session>(
        library_, std::make_shared<std::vector<cuda_device> const>(listed().devices), index,
        std::move(notes));
  }

 private:
  void announce(std::string const& step) const {
    if (options_.announce) options_.announce(step);
  }

  participant participant_at(std::size_t index) {
    auto const& who = at(index).identity;
    return {label_of(who), [this, who] {
              return occupancy_of(library_->snapshot(who), library_->processes(who, {}));
            }};
  }

  cuda_device const& at(std::size_t index) {
    auto const& all = listed();
    if (index < all.devices.size()) return all.devices[index];
    for (auto const& problem : all.problems) {
      if (problem.usage) throw usage_error(problem.message);
      throw measurement_error(failure::device_failed, problem.message);
    }
    throw measurement_error(
        failure::device_missing,
        fmt::format("there is no GPU {}: the driver lists {}", index, all.devices.size()));
  }

  /// Asked once: a worker lists its devices, then opens one of them.
  cuda_device_list const& listed() {
    if (listed_) return *listed_;
    // Who a device is decides what it is judged by, so this once the library is waited for; no
    // reading of health is.
    announce(fmt::format("{} ({})", asking_library, vendor::management_library()));
    std::shared_ptr<management const> const library =
        open_management(vendor::management(), options_.management_library);
    library_ = std::make_shared<bounded_management>(library);
    listed_ = list_cuda_devices(*library, options_.visible,
                                [&](std::string const& step) { announce(step); });
    return *listed_;
  }

  gpu_backend_options options_;
  std::shared_ptr<management const> library_;
  std::optional<cuda_device_list> listed_;
};

}  // namespace

char const* gpu_backend_version() {
  static std::string const text = vendor::built_with();
  return text.c_str();
}

char const* gpu_backend_name() {
  return vendor::backend();
}

std::unique_ptr<backend> make_gpu_backend(gpu_backend_options options) {
  return std::make_unique<gpu_backend>(std::move(options));
}

}  // namespace bandgate
