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
#include <utility>
#include <vector>

#include <bandgate/errors.hpp>
#include <bandgate/named_value.hpp>
#include <bandgate/parameter.hpp>
#include <bandgate/units.hpp>

namespace bandgate {

class gpu_context;   // backend.hpp
class host_context;  // backend.hpp

/// What a reading above which is impossible means for a probe.
enum class ceiling { dram, link, none };
enum class direction { higher_is_better, lower_is_better };
/// What a probe loads, which is what it must not share while it runs: besides its own device the
/// link to the host (`link`) or the other GPU that its parameter `peer` names (`peer`).
enum class load { dram, link, cache, peer };
/// Which code runs it. `settle`: warm-up and sampling. `series`: windows of one second, one after
/// the other. `slices`: one short measurement of each slice of a memory.
enum class procedure { settle, series, slices };

constexpr char const* to_string(ceiling c) {
  return c == ceiling::dram ? "dram" : c == ceiling::link ? "link" : "none";
}
constexpr char const* to_string(load l) {
  return l == load::dram ? "dram" : l == load::cache ? "cache" : "link";
}

/// What a probe may know about a device before it has touched it.
struct device_facts {
  bytes memory_total{};
  bytes memory_free{};
  bytes last_level_cache{};
  unsigned processors{};          ///< SMs of a GPU, hardware threads of a host
  unsigned compute_capability{};  ///< 90 for 9.0; 0 on all but NVIDIA's GPUs
  bool is_gpu{};
};

/// What one pass is, for given parameters on a given device.
struct work {
  std::uint64_t bytes_per_pass{};          ///< as counted by the probe's byte rule
  std::uint64_t traffic_per_pass{};        ///< index bytes included; 0: what is counted is all
  std::uint64_t min_iterations{1};         ///< see subject::min_iterations
  std::map<std::string, bytes> buffers{};  ///< sizes to allocate, by a name of the probe's own
  std::vector<std::string> notes{};        ///< "buffer cut to 80 % of free memory": into the result
  std::uint64_t windows{};                 ///< `series`: how many seconds
  std::uint64_t slices{};                  ///< `slices`: how many
  std::uint64_t slice_bytes{};             ///< `slices`: bytes of each but perhaps the last
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

  /// Whether reset() is to come before every pass. The passes are then timed one by one.
  virtual bool resets() const { return false; }
  /// Brings what a pass depends on (the state of the caches) to the same place; not timed.
  virtual void reset() {}

  /// `slices`: which slice fill, run and verify work on from now on, below work::slices.
  virtual void select(std::uint64_t /*slice*/) {}

  /// Further values of the last sample, given the median time of a pass: the second direction.
  virtual std::vector<named_value> more(double /*seconds_per_pass*/) { return {}; }
};

/// A probe's place in a suite: with these parameters, written as on the command line.
struct suite_member {
  std::string suite;  ///< "quick", "full"
  std::map<std::string, std::string> parameters;
  // Not explicit: most probes list their suites by name alone.
  suite_member(char const* name, std::map<std::string, std::string> given = {})
      : suite(name), parameters(std::move(given)) {}
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
  unsigned directions{1};  ///< of a link that a pass loads at once; each has the link's ceiling
  bandgate::direction direction{bandgate::direction::higher_is_better};
  bandgate::procedure procedure{bandgate::procedure::settle};
  double expected_spread{0.02};  ///< between healthy cards of one model, relative
  std::vector<suite_member> suites{};
  unsigned time_limit_s{60};  ///< one attempt, start-up included; then it is killed
  /// Added to the limit for parameters that ask for more time. Empty: nothing.
  std::function<unsigned(bandgate::parameters const&)> more_time_s{};
  /// A probe that the same process measures too, with its defaults: its rate and the ratio to it
  /// become further values ("copy", "ratio to copy"). Empty: none.
  std::string compared_with{};

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
/// the default, to the byte: a multiple of 8, of 64 on the host. Throws usage_error for another and
/// below 4 x the last-level cache, measurement_error when it does not fit. A cut default adds a
/// note to `notes`.
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
