// SPDX-License-Identifier: Apache-2.0
/// What other tools measured: the JSON of Google Benchmark and of NVBench. Nobody here verified it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bandgate/parameter.hpp>
#include <bandgate/units.hpp>

#include "records/baselines.hpp"

namespace bandgate {

/// One benchmark, with all values that files hold of it: a value a repetition, or one a file where
/// the tool itself averages.
struct external_benchmark {
  std::string name;                             ///< without what only says how often it ran
  std::string full_name;                        ///< as the tool writes it
  parameters values;                            ///< the axes of NVBench, as text
  std::string device;                           ///< its name; empty: the file does not say
  std::optional<std::int64_t> device_index;     ///< as the tool counts; none: the file does not say
  std::optional<double> peak_bytes_per_second;  ///< of the device, as the tool states it
  std::vector<double> rates;                    ///< bytes per second; empty: it counts no bytes
  std::vector<double> seconds;                  ///< of one iteration
  std::string why_no_rate;                      ///< what is missing, and the remedy
  std::string failure;                          ///< not empty: it failed, and why
  std::string skipped;                          ///< not empty: the tool skipped it, and why
  std::vector<std::string> notes;               ///< for people: what a value is
  std::string where;                            ///< "FILE: /benchmarks/3", the first of them

  /// Several files' values of these are values of one.
  bool same_as(external_benchmark const& other) const {
    return full_name == other.full_name && values == other.values && on_device_of(other);
  }
  bool on_device_of(external_benchmark const& other) const {
    return device == other.device && device_index == other.device_index;
  }
};

struct external_results {
  std::string tool;  ///< "Google Benchmark", "NVBench"
  std::vector<external_benchmark> benchmarks;
};

/// A user's counter of Google Benchmark that is the rate, and the unit that it was given in.
using rate_counter = std::optional<std::pair<std::string, unit>>;

/// Reads the files of one tool, each of a process of its own; benchmarks of the same name,
/// parameters and device become one. Throws usage_error "FILE: /json/pointer: reason; remedy": no
/// such document, a file named twice, NaN, a duplicate, aggregates without a median, no benchmark
/// at all. A value that cannot have been measured (0, negative, infinite) is the failure of its
/// benchmark.
external_results read_external(std::vector<std::filesystem::path> const& files,
                               rate_counter const& counter);

/// The baseline files that an external benchmark may be held against.
class external_baselines {
 public:
  /// One file applies as it is named, a folder by the device's name. The shipped ones never do: a
  /// benchmark of the same name counts its bytes by rules of its own.
  explicit external_baselines(std::filesystem::path const& where);

  /// Those for a device of that name, the closest first. Throws usage_error where the one file is
  /// of another model, and where a folder is to be searched for a device without a name.
  std::vector<baseline_file const*> files_for(std::string const& device) const;

 private:
  std::filesystem::path where_;
  bool is_folder_;
  std::vector<baseline_file> files_;
};

/// The first entry of these files for the benchmark: its probe is the full name or the name, its
/// parameters are the values. None where there is none.
baseline_entry const* entry_for(external_benchmark const& of,
                                std::vector<baseline_file const*> const& files);

}  // namespace bandgate
