// SPDX-License-Identifier: Apache-2.0
#include "device/peer.hpp"

#include <bandgate/errors.hpp>

namespace bandgate {
namespace {

std::string place_of(device_identity const& d) {
  return d.pci_address.empty() ? d.uuid : d.pci_address;
}

bool names(std::string const& selector, device_identity const& d, std::size_t index) {
  return selector == d.uuid || selector == d.pci_address || selector == std::to_string(index);
}

}  // namespace

std::size_t find_peer(std::vector<device_identity> const& all, std::size_t self,
                      std::string const& selector) {
  if (all.size() < 2)
    throw not_applicable("a transfer between GPUs needs two; there is only the one at " +
                         place_of(all.at(self)));
  if (selector == "auto") return (self + 1) % all.size();
  std::string known;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!selector.empty() && names(selector, all[i], i)) {
      if (i != self) return i;
      throw usage_error("parameter peer=" + selector + ": is the device itself (" +
                        place_of(all[i]) + "); name another, or choose devices with --device");
    }
    if (i != self)
      known += (known.empty() ? "" : ", ") + std::to_string(i) + " (" + all[i].uuid + ")";
  }
  throw usage_error("parameter peer=" + selector + ": names no device; for the one at " +
                    place_of(all[self]) + " there are " + known +
                    "; give an index, a UUID, a PCI address, auto or each");
}

}  // namespace bandgate
