// SPDX-License-Identifier: Apache-2.0
/// What a set of baselines says of a history. Pure: results to verdicts; no device, no file.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "records/baselines.hpp"
#include "runner/check.hpp"

namespace bandgate {

/// The verdict of one invocation on one (device, probe).
struct tried {
  result last;  ///< the attempt that carries the verdict
  std::size_t attempts{};
  std::vector<std::string> files;  ///< whose entries it was held against: the model's, the card's
};

/// Judges results one after the other, as rejudge() does; the attempts of one invocation stand next
/// to each other. What baselines hold for a device and probe is looked up once.
class trial {
 public:
  /// Both must outlive it. A result that says nothing of its probe's ceiling, directions and sense
  /// has those of the probe in `known`.
  trial(baseline_library const& baselines, std::vector<probe> const& known);

  /// The invocation before this one, once it is complete.
  std::optional<tried> add(result r);
  /// The last one.
  std::optional<tried> finish();

 private:
  baseline_match const& match_for(result const& r);
  void complete(probe_record& p) const;

  baseline_library const& baselines_;
  std::vector<probe> const& known_;
  std::unordered_map<std::string, baseline_match> matches_;
  std::vector<result> waiting_;  ///< attempts of one invocation
  std::string waiting_key_;
};

}  // namespace bandgate
