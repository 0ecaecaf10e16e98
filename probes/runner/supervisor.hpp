// SPDX-License-Identifier: Apache-2.0
/// The side that never touches a driver: it starts workers, holds them to their time limit, and
/// makes a valid result of whatever happens to them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/probe.hpp>
#include <bandgate/result.hpp>
#include <bandgate/session.hpp>

#include "device/presence.hpp"
#include "runner/request.hpp"
#include "runner/resources.hpp"

namespace bandgate {

struct supervisor_options {
  std::vector<std::string> worker;  ///< program and first arguments of a worker process
  std::string backend;              ///< resolved: "cuda", "host", "scripted:FILE"
  std::optional<std::chrono::milliseconds> time_limit;  ///< instead of each probe's own
  std::map<std::string, std::string> environment;       ///< of this process
  std::map<std::string, std::string> labels;            ///< the user's
  bool counts_gpus{true};  ///< false: the host was asked for by name, so no GPU is missing
  std::chrono::milliseconds wait_idle{5000};  ///< how long others on a device are waited for
  bool allow_contention{};                    ///< measure beside them
  std::string group_id;                       ///< of this invocation
  std::string tool_version, tool_build;
};

/// Starting a CUDA driver can take seconds a card; a driver that needs longer than this hangs.
inline constexpr std::chrono::seconds listing_limit{60};

/// Looking at devices at rest makes no context on any of them; a healthy machine is done in well
/// under two seconds. Where one device does not answer in half of it, each is asked by a worker of
/// its own in what is left, so that the others are known. A worker that sleeps inside the kernel
/// even when it is killed takes `reap_limit` more; with that it is still below the 30 s after which
/// node health checks give up.
inline constexpr std::chrono::seconds inspection_limit{20};

struct inspected {
  device_identity device;
  bandgate::health health;
  std::string lost;  ///< not empty: the device does not answer, and why
};

struct inspection {
  std::vector<inspected> devices;  ///< in PCI order
  std::vector<device_problem> problems;
};

class supervisor {
 public:
  /// Hears what each device is doing: (device, probe, what its worker announced).
  using progress = std::function<void(std::string const&, std::string const&, std::string const&)>;

  explicit supervisor(supervisor_options options) : options_(std::move(options)) {}

  /// Lists the devices in a worker; adds what the machine has and the driver does not list. `look`
  /// is called after the driver was asked, which creates the device nodes on some machines.
  /// Throws usage_error as the backend did.
  device_list devices(std::function<gpu_presence()> const& look) const;

  /// Lists the devices and looks at each at rest, in a worker. As devices(), in all else. A worker
  /// that is stuck with one device does not hide the others.
  inspection inspect(std::function<gpu_presence()> const& look) const;

  /// One attempt in a worker of its own. Always returns a valid result, whatever the worker did.
  /// Throws usage_error for what the caller asked wrongly. `relative_to`: see measure_attempt().
  /// `waits`: false for a device whose others were waited for before, in vain; two seconds then.
  result measure(device_identity const& device, std::size_t index, probe const& what,
                 std::map<std::string, std::string> const& given, unsigned attempt,
                 progress const& listener, std::vector<std::string> const& relative_to = {},
                 bool waits = true) const;

  /// The result of what does not apply, without a worker.
  result skip(device_identity const& device, probe const& what,
              std::map<std::string, std::string> const& given, std::string const& reason) const;

  /// The limit that holds for one attempt of this probe with those (complete) parameters; what it
  /// waits for others on the device comes on top.
  std::chrono::milliseconds limit_for(probe const& what, parameters const& values) const;

  supervisor_options const& options() const noexcept { return options_; }

 private:
  worker_request request_for(worker_request::kind what) const;
  /// Each device in a worker of its own, at the same time.
  inspection inspect_each(std::chrono::steady_clock::time_point deadline) const;

  /// And what the machine has and the driver does not list.
  std::vector<device_problem> add_missing(std::vector<device_problem> problems,
                                          std::vector<device_identity> const& listed,
                                          std::function<gpu_presence()> const& look) const;

  /// Writes down where, when and by whom.
  void stamp(result& r, std::chrono::system_clock::time_point started, double duration_s,
             unsigned attempt) const;

  supervisor_options options_;
};

}  // namespace bandgate
