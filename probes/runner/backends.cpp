// SPDX-License-Identifier: Apache-2.0
#include "runner/backends.hpp"

#include "backend/gpu/gpu_backend.hpp"
#include "backend/host/host_backend.hpp"
#include "backend/scripted/scripted_backend.hpp"

namespace bandgate {

std::string chosen_backend(std::string const& asked, gpu_presence const& machine) {
  if (asked.empty() || asked == "auto") return machine.any() ? gpu_backend_name() : "host";
  return asked;
}

std::string gpu_backend() {
  return gpu_backend_name();
}

bool is_gpu_backend(std::string const& name) {
  return name == gpu_backend_name();
}

std::string gpu_support() {
  return gpu_backend_version();
}

backend_options options_from(std::map<std::string, std::string> const& environment) {
  backend_options found;
  if (auto const set = environment.find("BANDGATE_NVML"); set != environment.end())
    found.management = set->second;
  if (auto const set = environment.find("CUDA_VISIBLE_DEVICES"); set != environment.end())
    found.visible = set->second;
  return found;
}

std::unique_ptr<backend> make_backend(std::string const& name, backend_options const& how) {
  constexpr std::string_view scripted = "scripted:";
  if (is_gpu_backend(name)) return make_gpu_backend({how.management, how.visible, how.announce});
  if (name == "host") return make_host_backend();
  if (name.starts_with(scripted) && name.size() > scripted.size())
    return make_scripted_backend(name.substr(scripted.size()), how.announce);
  if (name == "cuda" || name == "hip")
    throw usage_error("this build drives the GPUs of backend '" + std::string(gpu_backend_name()) +
                      "'; for '" + name +
                      "' use a build configured with -DBANDGATE_BACKEND=" + name);
  throw usage_error("unknown backend '" + name + "'; use auto, " + gpu_backend_name() +
                    ", host, or scripted:FILE with a device script");
}

}  // namespace bandgate
