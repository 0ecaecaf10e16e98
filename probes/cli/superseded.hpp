// SPDX-License-Identifier: Apache-2.0
/// Which stored results need not be looked at any closer, because a newer one of their kind was.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

namespace bandgate::cli {

/// Fed with the newest first, it spares reading a week of results of which the last few count.
class superseded {
 public:
  /// Whether a newer result of the same node, device, probe and parameters was accepted, of another
  /// invocation. What does not look like a result is not superseded: its reader says what is wrong.
  bool by_newer(nlohmann::json const& document);

  /// The document asked about last was a valid result that counts.
  void accept();

 private:
  struct last_seen {
    std::string group, started;
  };
  std::map<std::string, last_seen> newest_;
  std::string key_;
  last_seen seen_;
};

}  // namespace bandgate::cli
