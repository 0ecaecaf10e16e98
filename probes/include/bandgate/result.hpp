// SPDX-License-Identifier: Apache-2.0
/// The values that pass between measuring, judging and recording. No code but what they mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <bandgate/errors.hpp>
#include <bandgate/named_value.hpp>
#include <bandgate/parameter.hpp>
#include <bandgate/units.hpp>

namespace bandgate {

/// Who a device is. Empty or absent: not known, never a made-up value.
struct device_identity {
  std::string backend;        ///< "cuda", "hip", "host", "scripted"
  std::string name;           ///< for display only
  std::string uuid;           ///< "GPU-…", "MIG-…"; empty on the host
  std::string pci_address;    ///< "0000:1b:00.0"
  std::string pci_device;     ///< "10de:2335"
  std::string pci_subsystem;  ///< "10de:18bf"
  std::string board_part;     ///< "692-2G520-0282-001", from NVML
  std::string serial;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<unsigned> bus_width_bits;
  std::optional<double> memory_clock_mhz;       ///< maximum
  std::optional<double> peak_bytes_per_second;  ///< clock x 2 x bus width / 8
  std::optional<unsigned> processors;           ///< SMs; hardware threads of a host
  std::optional<std::uint64_t> last_level_cache_bytes;
  std::string compute_capability;  ///< "9.0"
  std::optional<bool> ecc;
  std::string mig_profile;  ///< "1g.18gb"; empty for a whole card
  std::string mig_parent;   ///< UUID of the card
  std::string virtualization;
  std::optional<double> power_limit_w;
  std::optional<double> power_limit_default_w;
  std::string vbios;
  std::string driver_version;
  std::string runtime_version;
  std::string persistence_mode;
  std::string compute_mode;
  std::optional<int> numa_node;
  // host only
  std::string cpu_model;
  std::optional<unsigned> sockets;
  std::optional<unsigned> numa_nodes;
  std::optional<unsigned> dimm_mts;  ///< configured speed, MT/s
};

/// One value of the health table: read, or why not. Never a zero that was not read.
struct health_field {
  enum class state { ok, not_supported, unavailable };
  state status{state::unavailable};
  std::variant<double, bool, std::string> value{};  ///< meaningful when ok
  std::string why{};                                ///< meaningful when unavailable
};
using health_snapshot = std::map<std::string, health_field>;

/// Another process on the device.
struct device_process {
  std::uint64_t pid{};
  std::string name;
  std::optional<std::uint64_t> memory_bytes;
  bool active{};  ///< it computes; an idle context is only a note
};

struct health {
  std::string source;      ///< "nvml", "scripted", "none: why"
  health_snapshot idle;    ///< before the timed region
  health_snapshot load;    ///< during it
  health_snapshot change;  ///< counters, after minus before
  std::vector<device_process> processes;
};

/// A measurement in parts: over time (one-second windows) or over a memory (slices).
struct series {
  struct point {
    double at{};     ///< where the part begins: seconds, or bytes from the start of the memory
    double value{};  ///< as the median: bytes per second, or seconds
    std::optional<double> sm_clock_mhz, temperature_c, power_w;  ///< read inside the part
  };
  std::string axis;  ///< "time" or "address"
  double step{};     ///< length of a part: seconds or bytes (the last may be shorter)
  std::vector<point> points;
};

/// Statistics of the samples. Rates are bytes per second (times: seconds), whichever `is_time`
/// says.
struct measurement {
  bool is_time{};
  double median{};
  double peak{};  ///< the fastest sample
  double p05{};
  double p95{};
  std::optional<double> sd;  ///< n - 1; none for one sample
  std::optional<double> cv;
  std::optional<double> slope;  ///< trend over the whole sampling, as a share of the median
  bool unsettled{};
  std::vector<double> samples;
  std::uint64_t iterations{};  ///< passes a sample
  std::uint64_t bytes_per_pass{};
  double warm_up_s{};
  bool verified{};
  std::vector<named_value> more;
  std::optional<bandgate::series> series;  ///< the samples are its values
  std::optional<double> worst;             ///< of a series: its slowest part
  std::optional<double> drop;  ///< of a series over time: last / first - 1, below 0 where it fell
};

enum class status {
  pass,
  improved,
  regression,
  error,
  inconclusive,
  no_baseline,
  skipped,
  measured
};

constexpr char const* to_string(status s) {
  switch (s) {
    case status::pass:
      return "pass";
    case status::improved:
      return "improved";
    case status::regression:
      return "regression";
    case status::error:
      return "error";
    case status::inconclusive:
      return "inconclusive";
    case status::no_baseline:
      return "no-baseline";
    case status::skipped:
      return "skipped";
    case status::measured:
      return "measured";  // by `run`, which never judges
  }
  return "?";
}

struct reason {
  std::string code;      ///< "below-bound", "wrong-result", "contended" …
  std::string sentence;  ///< for a person
};

/// What a device is judged against, as it was applied. Rates in bytes per second, times in seconds.
struct applied_baseline {
  std::string file;       ///< path, or "built-in:nvidia-h200.json"
  std::string entry;      ///< JSON pointer
  std::string kind;       ///< "measured", "published", "peak-fraction"
  std::string statistic;  ///< "median", "peak" or "worst"
  bool generic{};
  bool card{};  ///< an entry of this single card
  double reference{};
  std::optional<double> lower;  ///< absolute bound; none: unbounded
  std::optional<double> upper;
  double ratio{};  ///< measured / reference
};

struct verdict {
  bandgate::status status{bandgate::status::measured};
  bool unstable{};                          ///< low once, fine in a fresh process
  std::vector<applied_baseline> baselines;  ///< the model's and, where there is one, the card's
  std::vector<reason> reasons;
  std::string next_step;
};

/// Where and when: filled in by the runner.
struct run_info {
  std::string id;        ///< UUIDv7
  std::string group_id;  ///< one invocation
  std::string started;   ///< RFC 3339, UTC
  double duration_s{};   ///< steady clock
  unsigned attempt{1};
  std::string host, node, boot_id, kernel, kernel_module_flavour, gsp_version, fabric_manager;
  std::string bios, product, container_image, scheduler_job, ci_system, ci_job, ci_commit;
  std::map<std::string, std::string> labels;
  std::string tool_version, tool_build;
};

struct probe_record {
  std::string name;
  int version{};
  bandgate::parameters parameters;  ///< complete, defaults included
  std::map<std::string, std::uint64_t> shape;
  std::string byte_rule;
  std::string ceiling;     ///< "dram", "link", "none"
  unsigned directions{1};  ///< see probe::directions
  bool lower_is_better{};
  double expected_spread{};
};

/// One (process, device, probe). `failure` and `measurement` exclude each other.
struct result {
  run_info run;
  device_identity device;
  probe_record probe;
  std::optional<bandgate::measurement> measurement;
  std::optional<bandgate::failure> failure;
  std::string failure_message;
  std::string skip_reason;  ///< not empty: the probe does not apply here
  std::vector<std::string> notes;
  bandgate::health health;
  bandgate::verdict verdict;
};

}  // namespace bandgate
