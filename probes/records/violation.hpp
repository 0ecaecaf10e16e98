// SPDX-License-Identifier: Apache-2.0
/// Says in plain words how a document breaks a schema, once the validator has said where.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace bandgate {

/// A place in a document: object keys and array indices from the root.
using json_path = std::vector<std::string>;

struct violation {
  std::string pointer;  ///< JSON pointer; empty for the document itself
  std::string reason;
};

/// The deepest of `places` (not empty) that breaks a rule of its own, with that rule. A place that
/// only fails in combination (oneOf, if) is told by the "description" beside that combination.
violation explain(nlohmann::json const& schema, nlohmann::json const& document,
                  std::vector<json_path> places);

}  // namespace bandgate
