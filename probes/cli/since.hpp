// SPDX-License-Identifier: Apache-2.0
/// What happened to the devices between a mark and now. Pure: values to values and text.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "cli/examined.hpp"
#include "gate/since.hpp"
#include "records/mark.hpp"

namespace bandgate::cli {

/// One device, then and now.
struct compared {
  std::string id;  ///< "gpu0"; empty where it is not there now
  device_identity device;
  bandgate::changes changes;
  std::string gone;    ///< not empty: it was there at the mark, and what became of it
  std::string untold;  ///< not empty: why nothing can be said
};

/// The moments and the devices of both. `now` has the devices that --device chose; those of the
/// mark that it did not choose (`all` are listed) are left out, those that are not listed are gone.
std::vector<compared> compare_with_mark(mark const& then, mark const& now,
                                        std::vector<examined> const& chosen,
                                        std::vector<device_identity> const& all);

/// error where a device is gone, inconclusive where nothing can be said, regression where something
/// harmful happened, else pass.
status status_of(compared const& one);

std::string since_text(compared const& one);
std::string headline(compared const& one);
nlohmann::ordered_json since_json(compared const& one);

}  // namespace bandgate::cli
