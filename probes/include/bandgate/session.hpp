// SPDX-License-Identifier: Apache-2.0
/// What the runner needs of a backend: list its devices, open one, make a probe ready on it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/observer.hpp>
#include <bandgate/probe.hpp>
#include <bandgate/result.hpp>
#include <bandgate/subject.hpp>

namespace bandgate {

/// A probe made ready on a device, in all its launch shapes.
class prepared {
 public:
  virtual ~prepared() = default;
  virtual bandgate::work const& work() const = 0;
  virtual std::vector<launch_shape> const& shapes() const = 0;
  virtual void fill() = 0;
  /// Nothing when every byte is right, else what differs and where.
  virtual std::optional<std::string> verify(std::size_t shape) = 0;
  virtual subject& timed(std::size_t shape) = 0;
  /// Further values of the last sample, see kernel::more.
  virtual std::vector<named_value> more(double /*seconds_per_pass*/) { return {}; }
  /// See kernel::select.
  virtual void select(std::uint64_t /*slice*/) {}
};

/// The state of a device around and during a measurement. Listens to the phases.
class health_monitor : public observer {
 public:
  virtual health report() = 0;
  /// Around each part of a series: what the device says in its middle, without holding it up.
  virtual void part_begins(nanoseconds /*expected_length*/) {}
  virtual health_snapshot part_ends() { return {}; }
};

/// One opened device. Lives in a worker process only.
class session {
 public:
  virtual ~session() = default;
  virtual device_identity const& identity() const = 0;
  virtual device_facts facts() const = 0;
  virtual bandgate::clock& clock() = 0;
  /// Whether twice the passes are expected to take twice the time (a GPU's are).
  virtual bool proportional() const = 0;
  virtual std::unique_ptr<prepared> prepare(probe const& what, parameters const& values) = 0;
  virtual health_monitor& health() = 0;
};

/// Something that is wrong with the machine's devices, found while listing them.
struct device_problem {
  std::string code;     ///< "device-missing", "driver-without-device", "driver-too-old" …
  std::string message;  ///< PCI address, versions, reason, remedy
  bool usage{};         ///< a matter of configuration (exit code 2), not a broken device (3)
};

struct device_list {
  std::vector<device_identity> devices;  ///< in PCI order: the position is the index
  std::vector<device_problem> problems;
};

struct open_options {
  unsigned attempt{1};  ///< 1, or 2 for the confirmation in a fresh process
  /// How long others on the device are waited for; a burn test may just have ended.
  nanoseconds wait_idle{std::chrono::seconds(5)};
  bool allow_contention{};  ///< measure beside them; what was seen of them is in the health
  std::vector<std::size_t> beside{};  ///< other devices that take part and must be idle, too
};

class backend {
 public:
  virtual ~backend() = default;
  /// Touches the driver: called in worker processes only.
  virtual device_list devices() = 0;
  /// The device at rest, without a context on it: `idle` and `processes` of its health. Throws
  /// measurement_error where it is lost.
  virtual bandgate::health inspect(std::size_t index) = 0;
  /// `index` into devices(). Throws measurement_error: contended where others still compute on the
  /// device after `wait_idle`.
  virtual std::unique_ptr<session> open(std::size_t index, open_options const& options) = 0;
};

}  // namespace bandgate
