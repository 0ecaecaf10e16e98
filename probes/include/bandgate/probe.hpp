// SPDX-License-Identifier: Apache-2.0
/// How a probe is written: one function that returns a `probe`, and one registering line.
///
///     BANDGATE_PROBE(read) {
///       probe p;
///       p.name = "read";  …
///       return p;
///     }
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bandgate/errors.hpp>
#include <bandgate/parameter.hpp>
#include <bandgate/units.hpp>

namespace bandgate {

class gpu_context;   // backend.hpp
class host_context;  // backend.hpp

/// What a reading above which is impossible means for a probe.
enum class ceiling { dram, link, none };
enum class direction { higher_is_better, lower_is_better };
/// What a probe loads, which is what it must not share while it runs.
enum class load { dram, link, cache };
/// Which code runs it. `settle`: warm-up and sampling.
enum class procedure { settle };

constexpr char const* to_string(ceiling c) {
  return c == ceiling::dram ? "dram" : c == ceiling::link ? "link" : "none";
}
constexpr char const* to_string(load l) {
  return l == load::dram ? "dram" : l == load::link ? "link" : "cache";
}

/// What a probe may know about a device before it has touched it.
struct device_facts {
  bytes memory_total{};
  bytes memory_free{};
  bytes last_level_cache{};
  unsigned processors{};          ///< SMs of a GPU, hardware threads of a host
  unsigned compute_capability{};  ///< 90 for 9.0; 0 on the host
  bool is_gpu{};
};

/// What one pass is, for given parameters on a given device.
struct work {
  std::uint64_t bytes_per_pass{};          ///< as counted by the probe's byte rule
  std::uint64_t min_iterations{1};         ///< see subject::min_iterations
  std::map<std::string, bytes> buffers{};  ///< sizes to allocate, by a name of the probe's own
  std::vector<std::string> notes{};        ///< "buffer cut to 80 % of free memory": into the result
};

/// One way to launch the same work: any numbers that the probe's kernel reads, by name
/// ("threads", "blocks", "unroll"). Stored in the result.
using launch_shape = std::map<std::string, std::uint64_t>;

/// A probe made ready on a device: buffers allocated. Destroying it frees them and never throws.
class kernel {
 public:
  virtual ~kernel() = default;

  /// Fills the inputs with random data made on the device from a seed of this run.
  virtual void fill() = 0;

  /// GPU: enqueues so many passes on the context's stream and returns. Host: runs them.
  virtual void run(launch_shape const& shape, std::uint64_t passes) = 0;

  /// Poisons what the kernel writes, runs it once more and compares all of it, bit for bit, with an
  /// independent computation. Returns nothing when it is right, else what differs and where.
  virtual std::optional<std::string> verify(launch_shape const& shape) = 0;
};

/// A probe's declaration.
struct probe {
  std::string name;       ///< a stable identifier: key of baselines and histories
  int version{1};         ///< bumped when a kernel changes what it can reach
  std::string summary;    ///< one sentence
  std::string byte_rule;  ///< "bytes read", "bytes read + bytes written"
  std::vector<parameter> parameters{};
  bandgate::ceiling ceiling{bandgate::ceiling::dram};
  bandgate::load load{bandgate::load::dram};
  bandgate::direction direction{bandgate::direction::higher_is_better};
  bandgate::procedure procedure{bandgate::procedure::settle};
  double expected_spread{0.02};       ///< between healthy cards of one model, relative
  std::vector<std::string> suites{};  ///< "quick", "full"
  unsigned time_limit_s{60};          ///< one attempt, start-up included; then it is killed

  /// Sizes the work. Throws usage_error (a buffer that would measure the cache) or not_applicable.
  std::function<work(bandgate::parameters const&, device_facts const&)> plan;

  /// The launch shapes to rank, at least one; the first is the one the device is warmed up with.
  std::function<std::vector<launch_shape>(bandgate::parameters const&, device_facts const&)> shapes;

  /// Empty where the probe has no meaning on that kind of device.
  std::function<std::unique_ptr<kernel>(gpu_context&, work const&, bandgate::parameters const&)>
      on_gpu{};
  std::function<std::unique_ptr<kernel>(host_context&, work const&, bandgate::parameters const&)>
      on_host{};
};

/// The default buffer of a probe that streams memory. GPU: the larger of 4 GiB and 40 x the
/// last-level cache if `streams` of them fit in 80 % of free memory, else the largest that does.
/// Host: 4 x the last-level cache, at least 1 GiB, with the same cap. `asked` (not "auto") replaces
/// the default. Throws usage_error below 4 x the last-level cache, or when it does not fit.
/// Rounded down to a multiple of 1 MiB. A cut default adds a note to `notes`.
bytes streaming_buffer(parameter_value const& asked, device_facts const& facts, unsigned streams,
                       std::vector<std::string>& notes);

/// All registered probes, sorted by name. Throws usage_error when there is none (a static library
/// silently drops self-registering objects) or when two share a name.
std::vector<probe> const& registered_probes();

/// The probe of that name. Throws usage_error listing near names.
probe const& find_probe(std::string_view name);

struct registrar {
  explicit registrar(probe (*make)());
};

}  // namespace bandgate

/// Defines and registers a probe; the body follows in braces and returns it.
#define BANDGATE_PROBE(identifier)                                                                 \
  static ::bandgate::probe bandgate_make_##identifier();                                           \
  static ::bandgate::registrar const bandgate_registrar_##identifier{&bandgate_make_##identifier}; \
  static ::bandgate::probe bandgate_make_##identifier()
