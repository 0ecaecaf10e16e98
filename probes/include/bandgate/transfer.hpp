// SPDX-License-Identifier: Apache-2.0
/// What the probes that move data between two memories have in common: host and device, or two
/// devices; one way, or both ways at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bandgate/random_data.hpp>

namespace bandgate {

/// Each block moves one contiguous tile and ends. Several independent loads a thread, since each
/// takes microseconds to cross a link.
template <unsigned Threads, unsigned Loads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void transfer_tile(ulonglong2 const* __restrict__ from,
                                                            ulonglong2* __restrict__ to,
                                                            std::uint64_t count) {
  std::uint64_t const first = std::uint64_t{blockIdx.x} * Threads * Loads + threadIdx.x;
  if (first + (Loads - 1) * Threads < count) {
    ulonglong2 value[Loads];
    BANDGATE_UNROLL
    for (unsigned k = 0; k < Loads; ++k) value[k] = load_once(from + first + k * Threads);
    BANDGATE_UNROLL
    for (unsigned k = 0; k < Loads; ++k) to[first + k * Threads] = value[k];
  } else {
    BANDGATE_NO_UNROLL
    for (std::uint64_t i = first; i < count; i += Threads) to[i] = from[i];
  }
}

template <unsigned Threads, unsigned Loads>
void launch_transfer(gpu_context& gpu, buffer const& from, buffer const& to) {
  auto const count = from.size().count / sizeof(ulonglong2);
  constexpr std::uint64_t tile = Threads * Loads;
  launch(gpu, "transfer", {(count + tile - 1) / tile, Threads}, &transfer_tile<Threads, Loads>,
         from.as<ulonglong2>(), to.as<ulonglong2>(), count);
}

struct transfer_variant {
  std::uint64_t threads, loads;
  void (*launch)(gpu_context&, buffer const& from, buffer const& to);
};
inline constexpr transfer_variant transfer_variants[] = {{256, 4, &launch_transfer<256, 4>},
                                                         {512, 8, &launch_transfer<512, 8>},
                                                         {512, 1, &launch_transfer<512, 1>}};

/// A memory in which a transfer begins or ends.
struct transfer_end {
  gpu_context& gpu;  ///< whose memory it is, or that reaches this host memory
  buffer memory;
  bool on_host{};
};

inline transfer_end in_device(gpu_context& gpu, bytes size, char const* what) {
  return {gpu, gpu.allocate(size, what), false};
}
inline transfer_end in_pinned(gpu_context& gpu, bytes size, char const* what) {
  return {gpu, gpu.allocate_pinned(size, what), true};
}
inline transfer_end in_pageable(gpu_context& gpu, bytes size, char const* what) {
  return {gpu, gpu.allocate_pageable(size, what), true};
}

/// One direction: random data made where it begins, compared to the last byte where it ends. Data
/// in host memory are made and compared on the device, by way of the memory at the other end.
class transfer_lane {
 public:
  /// `carrier`: whose copy engine or kernel does it, on its stream.
  transfer_lane(std::string name, gpu_context& carrier, transfer_end from, transfer_end to,
                std::uint64_t seed)
      : name_(std::move(name)),
        carrier_(&carrier),
        from_(std::move(from)),
        to_(std::move(to)),
        seed_(seed) {}

  std::string const& name() const { return name_; }
  gpu_context& carrier() const { return *carrier_; }
  bytes size() const { return to_.memory.size(); }

  void fill() {
    auto const& made = from_.on_host ? to_ : from_;
    fill_random(made.gpu, made.memory, seed_);
    if (from_.on_host)
      made.gpu.copy_to_host(from_.memory.as<void>(), made.memory.as<void>(), made.memory.size());
    made.gpu.synchronize("filling the source of a transfer");
  }

  /// Nothing that an earlier pass brought may pass for the next one's.
  void poison() {
    constexpr unsigned char value = 0xa5;
    if (to_.on_host)
      std::memset(to_.memory.as<void>(), value, to_.memory.size().count);
    else
      to_.gpu.fill_bytes(to_.memory.as<void>(), value, to_.memory.size());
    to_.gpu.synchronize("poisoning the end of a transfer");
  }

  void send(launch_shape const& shape) const {
    if (shape.empty())
      return carrier_->copy(to_.memory.as<void>(), from_.memory.as<void>(), to_.memory.size());
    for (auto const& v : transfer_variants)
      if (v.threads == shape.at("threads") && v.loads == shape.at("loads"))
        return v.launch(*carrier_, from_.memory, to_.memory);
    throw usage_error("transfer: no kernel of that shape");
  }

  std::optional<std::string> compare() {
    if (to_.on_host) {  // back into the source, which was the same data and is none any more
      from_.gpu.fill_bytes(from_.memory.as<void>(), 0x5a, from_.memory.size());
      from_.gpu.copy(from_.memory.as<void>(), to_.memory.as<void>(), to_.memory.size());
    }
    auto const& seen = to_.on_host ? from_ : to_;
    auto const wrong = first_difference<random_data>(seen.gpu, seen.memory, seed_);
    if (!wrong) return std::nullopt;
    return name_ + ": what arrived differs from what was sent in the 64-bit word at byte " +
           std::to_string(*wrong * 8);
  }

 private:
  std::string name_;
  gpu_context* carrier_;
  transfer_end from_, to_;
  std::uint64_t seed_;
};

/// A transfer in one lane, or in two at once, each on its carrier's stream. The first lane's
/// carrier is the context on which the passes are timed.
class transfer final : public kernel {
 public:
  explicit transfer(transfer_lane only) { lanes_.push_back(std::move(only)); }
  transfer(transfer_lane first, transfer_lane second) {
    lanes_.push_back(std::move(first));
    lanes_.push_back(std::move(second));
  }

  void fill() override {
    for (auto& lane : lanes_) lane.fill();
  }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    if (lanes_.size() > 1) begin_together();
    for (std::uint64_t i = 0; i < passes; ++i)
      for (auto const& lane : lanes_) lane.send(shape);
    if (lanes_.size() > 1) end_together();
    passes_ = passes;
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    for (auto& lane : lanes_) lane.poison();
    run(shape, 1);
    for (auto const& lane : lanes_) lane.carrier().synchronize("a transfer to be verified");
    for (auto& lane : lanes_)
      if (auto wrong = lane.compare()) return wrong;
    return std::nullopt;
  }

  /// Of several lanes, each one's own bytes a second.
  std::vector<named_value> more(double) override {
    std::vector<named_value> values;
    if (lanes_.size() > 1)
      for (auto const& lane : lanes_)
        values.push_back({lane.name(), "B/s",
                          static_cast<double>(lane.size().count) * static_cast<double>(passes_) /
                              lane.carrier().timer_seconds()});
    return values;
  }

 private:
  void begin_together() {
    auto& first = lanes_.front().carrier();
    for (auto const& lane : lanes_) {
      if (&lane.carrier() != &first) lane.carrier().wait_for(first);
      lane.carrier().start_timer();
    }
  }
  void end_together() {
    auto& first = lanes_.front().carrier();
    for (auto const& lane : lanes_) lane.carrier().stop_timer();
    for (auto const& lane : lanes_)
      if (&lane.carrier() != &first) first.wait_for(lane.carrier());
  }

  std::vector<transfer_lane> lanes_;
  std::uint64_t passes_{};
};

/// "size" of a transfer: part of the key, since short ones are slower.
inline parameter transfer_size_parameter(bytes fallback) {
  parameter p;
  p.name = "size";
  p.kind = parameter_kind::size;
  p.fallback = fallback.count;
  p.help = "bytes of one transfer, in each direction; a multiple of 16";
  p.least = mib(1).count;
  p.most = std::uint64_t{1} << 60;
  return p;
}
inline bytes transfer_size(parameters const& values) {
  return {std::get<std::uint64_t>(values.at("size"))};
}

inline parameter engine_parameter() {
  parameter p;
  p.name = "engine";
  p.kind = parameter_kind::choice;
  p.fallback = std::string("ce");
  p.choices = {"ce", "sm"};
  p.help = "what moves the data: ce, a copy engine; sm, a kernel that loads and stores";
  return p;
}

/// No part of the key: a baseline holds for every pair.
inline parameter transfer_peer_parameter() {
  parameter p;
  p.name = peer_parameter;
  p.kind = parameter_kind::device;
  p.fallback = std::string("auto");
  p.choices = {"auto", "each"};
  p.help = "the other GPU: UUID, PCI address or index; auto: the next one in PCI order";
  p.keyed = false;
  return p;
}

/// What all transfers declare.
inline probe transfer_probe(char const* name, char const* summary, unsigned directions) {
  probe p;
  p.name = name;
  p.summary = summary;
  p.directions = directions;
  p.byte_rule = directions == 1 ? "bytes transferred" : "bytes transferred, both directions summed";
  p.ceiling = ceiling::link;
  p.load = load::link;
  p.expected_spread = 0.04;
  // Host memory is made, poisoned and, where it is ordinary, moved at a few GiB a second.
  p.more_time_s = [](parameters const& values) {
    return static_cast<unsigned>(std::min<std::uint64_t>(transfer_size(values).count >> 30, 1000)) *
           5;
  };
  p.plan = [directions](parameters const& values, device_facts const&) {
    auto const size = transfer_size(values).count;
    if (size % sizeof(ulonglong2) != 0)
      throw usage_error("parameter size: " + std::to_string(size) +
                        " bytes are not a multiple of 16");
    work w;
    w.bytes_per_pass = directions * size;
    w.buffers = {{"data", {directions * size}}};
    return w;
  };
  p.shapes = [](parameters const& values, device_facts const&) {
    auto const engine = values.find("engine");
    std::vector<launch_shape> all;
    if (engine != values.end() && engine->second == parameter_value("sm"))
      for (auto const& v : transfer_variants)
        all.push_back({{"threads", v.threads}, {"loads", v.loads}});
    else
      all.emplace_back();  // the driver knows no shapes
    return all;
  };
  return p;
}

}  // namespace bandgate
