// SPDX-License-Identifier: Apache-2.0
#include "gate/invalid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "gate/judge.hpp"
#include "gate/link.hpp"
#include "gate/numbers.hpp"

namespace bandgate {
namespace {

bool is_positive(double value) {
  return std::isfinite(value) && value > 0;
}

constexpr char const* wrong_step =
    "Take the device out of service until its memory errors (ECC counters, row remapping) and the "
    "kernel log have been read; if several devices of one build show this, suspect the probe.";
constexpr char const* empty_step =
    "Report it with the result file: a probe that measures nothing is a fault of this tool or of "
    "its clock.";

constexpr std::array<std::pair<char const*, char const*>, 16> steps{{
    {"wrong-result", wrong_step},
    {"not-verified", wrong_step},
    {"no-measurement", empty_step},
    {"no-samples", empty_step},
    {"not-a-rate", empty_step},
    {"zero-elapsed", empty_step},
    {"above-ceiling",
     "Do not record it: check the memory clock and bus width (of a transfer: the PCIe generation "
     "and "
     "width) that the driver reports, then report the probe with the result file."},
    {"not-proportional",
     "Run it again on the idle device; if it repeats, the kernel does not do its work with this "
     "driver or compiler: report it with the result file."},
    {"device-lost",
     "Read the kernel log for Xid messages of this PCI address, then reset the device or drain the "
     "node."},
    {"device-missing",
     "Compare `nvidia-smi -L` (AMD: `amd-smi list`) with the PCI devices of the machine, read the "
     "kernel log, then drain the node."},
    {"device-failed", "Read the kernel log and the driver's message above, then run it again."},
    {"exclusively-held",
     "Wait until the process that holds the device has ended, or set its compute mode to Default."},
    {"contended", contended_step},
    {"out-of-memory", "Free the device's memory (see its processes) or ask for a smaller buffer."},
    {"timed-out",
     "Look for a hung device: the kernel log, `nvidia-smi` or `amd-smi`; then reset it or drain "
     "the node."},
    {"crashed", "Read the message and the kernel log; report it with the result file."},
}};

}  // namespace

char const* step_after(std::string const& code) {
  for (auto const& [name, step] : steps)
    if (code == name) return step;
  return "";
}

std::optional<reason> invalid(result const& measured) {
  if (!measured.measurement)
    return reason{"no-measurement", "the result holds neither a measurement nor a failure"};
  auto const& m = *measured.measurement;
  if (m.samples.empty()) return reason{"no-samples", "no sample was taken"};
  if (!is_positive(m.median) || !is_positive(m.peak) ||
      !std::all_of(m.samples.begin(), m.samples.end(), is_positive))
    return reason{"not-a-rate", fmt::format("a measured {} is zero, negative or not a number",
                                            m.is_time ? "time" : "throughput")};
  if (!m.verified)
    return reason{"not-verified",
                  "the output was not verified, so nothing shows that the work was done"};
  return std::nullopt;
}

std::optional<reason> above_ceiling(result const& measured, baseline_match const& against) {
  auto const& m = *measured.measurement;
  if (m.is_time) return std::nullopt;
  auto limit = ceiling_of(measured);
  char const* whose = crosses_host_link(measured) ? "the peak of the PCIe link as it was under load"
                                                  : "the device's own peak";
  if (!limit && measured.probe.ceiling == "dram" && against.model) {
    limit = against.model->model_peak_bytes_per_second;
    whose = "the peak that the baseline file states for this model";
  }
  double fastest = std::max(m.peak, *std::max_element(m.samples.begin(), m.samples.end()));
  // What was compared with in the same process is a probe of the same memory.
  auto const is_of_the_memory = [&](named_value const& further) {
    return further.name == traffic_name ||
           std::any_of(m.more.begin(), m.more.end(), [&](named_value const& other) {
             return other.name == "ratio to " + further.name;
           });
  };
  for (auto const& further : m.more)
    if (is_of_the_memory(further)) fastest = std::max(fastest, further.value);
  if (!limit || fastest <= *limit) return std::nullopt;
  return reason{to_string(failure::above_ceiling),
                fmt::format("the fastest sample, {}, is {} above {}, {}: the work cannot have been "
                            "done",
                            value_text(fastest, false), percent_text(fastest / *limit - 1), whose,
                            value_text(*limit, false))};
}

reason failure_reason(result const& measured) {
  auto const code = to_string(*measured.failure);
  std::string sentence = measured.failure_message;
  if (sentence.empty()) sentence = fmt::format("the measurement failed: {}", code);
  for (auto const& id : {measured.device.uuid, measured.device.pci_address})
    if (!id.empty() && sentence.find(id) == std::string::npos) sentence += fmt::format(" [{}]", id);
  return {code, sentence};
}

}  // namespace bandgate
