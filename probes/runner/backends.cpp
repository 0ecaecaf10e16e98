// SPDX-License-Identifier: Apache-2.0
#include "runner/backends.hpp"

#include "backend/gpu/gpu_backend.hpp"
#include "backend/host/host_backend.hpp"
#include "backend/scripted/scripted_backend.hpp"

namespace bandgate {

std::string chosen_backend(std::string const& asked, gpu_presence const& machine) {
  if (asked.empty() || asked == "auto") return machine.any() ? "cuda" : "host";
  return asked;
}

std::string gpu_support() {
  return gpu_backend_version();
}

std::unique_ptr<backend> make_backend(std::string const& name, backend_options const& how) {
  constexpr std::string_view scripted = "scripted:";
  if (name == "cuda") return make_gpu_backend({how.management, how.visible, how.announce});
  if (name == "host") return make_host_backend();
  if (name.starts_with(scripted) && name.size() > scripted.size())
    return make_scripted_backend(name.substr(scripted.size()), how.announce);
  throw usage_error("unknown backend '" + name +
                    "'; use auto, cuda, host, or scripted:FILE with a device script");
}

}  // namespace bandgate
