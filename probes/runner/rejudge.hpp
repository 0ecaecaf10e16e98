// SPDX-License-Identifier: Apache-2.0
/// Judging again what was measured earlier. Pure: results to verdicts; no device, no file, no
/// clock.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "records/baselines.hpp"
#include "runner/check.hpp"

namespace bandgate {

/// Who was measured with what: backend, device, probe and all its parameters. The device counts by
/// its UUID, else its PCI address, on any host.
std::string key_of(result const& r);

/// The newest results of every key, as they arrive in any order: of each the attempts of its newest
/// invocation, which belong together.
class newest_results {
 public:
  /// A result whose start is no time is refused: usage_error.
  void add(result r);

  /// In the order of devices (PCI address, UUID), probes and parameters. A machine that missed a
  /// device does so until its next invocation. `id` is what people call the device, that of the
  /// host is "host".
  std::vector<checked> take();

 private:
  /// Every invocation lists all devices: what an earlier one missed and the newest did not is there
  /// again.
  void drop_mended();

  std::map<std::string, std::vector<result>> attempts_by_key_;
  std::set<std::string> missed_something_;  ///< groups; several may run at once
};

/// What `baselines` hold for a result: nothing for a probe that is not among `known`, since nobody
/// here knows what it should reach.
baseline_match match_of(result const& r, baseline_library const& baselines,
                        std::vector<probe> const& known);

/// Judges stored attempts against `baselines` as check() does what it has measured: what a second
/// attempt confirmed stays confirmed, and what it found fine is unstable. A first attempt that is
/// low by now and was not measured again is a regression, and says that it was not confirmed.
void rejudge(checked& pair, baseline_library const& baselines);
void rejudge(checked& pair, baseline_match const& match);

}  // namespace bandgate
