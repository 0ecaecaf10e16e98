// SPDX-License-Identifier: Apache-2.0
#include "device/file_text.hpp"
#include "device/identity.hpp"
#include "device/kernel_module.hpp"

namespace bandgate {
namespace {

using std::filesystem::path;

/// The variables that are set, trimmed to one line; an empty one is as good as none.
class variables {
 public:
  explicit variables(std::map<std::string, std::string> const& all) : all_(all) {}

  std::string operator[](char const* name) const {
    auto const found = all_.find(name);
    return found == all_.end() ? std::string{} : one_line(found->second);
  }
  std::string first_of(std::initializer_list<char const*> names) const {
    for (char const* name : names)
      if (auto value = (*this)[name]; !value.empty()) return value;
    return {};
  }

 private:
  std::map<std::string, std::string> const& all_;
};

std::string scheduler_job(variables const& set) {
  constexpr std::pair<char const*, char const*> schedulers[] = {{"slurm", "SLURM_JOB_ID"},
                                                                {"pbs", "PBS_JOBID"},
                                                                {"lsf", "LSB_JOBID"},
                                                                {"flux", "FLUX_JOB_ID"}};
  for (auto const& [name, variable] : schedulers)
    if (auto const id = set[variable]; !id.empty()) return std::string(name) + ":" + id;
  return {};
}

std::string github_job(variables const& set) {
  auto const id = set["GITHUB_RUN_ID"];
  auto const name = set["GITHUB_JOB"];
  if (set["GITHUB_SERVER_URL"].empty() || set["GITHUB_REPOSITORY"].empty() || id.empty())
    return name.empty() ? id : name;
  auto const url =
      set["GITHUB_SERVER_URL"] + "/" + set["GITHUB_REPOSITORY"] + "/actions/runs/" + id;
  return name.empty() ? url : url + " " + name;
}

void add_ci(run_info& run, variables const& set) {
  auto const found = [&](char const* system, std::string job, std::string commit) {
    run.ci_system = system;
    run.ci_job = std::move(job);
    run.ci_commit = std::move(commit);
  };
  if (!set["GITHUB_ACTIONS"].empty())
    found("github", github_job(set), set["GITHUB_SHA"]);
  else if (!set["GITLAB_CI"].empty())
    found("gitlab", set.first_of({"CI_JOB_URL", "CI_JOB_ID"}), set["CI_COMMIT_SHA"]);
  else if (!set["BUILDKITE"].empty())
    found("buildkite", set.first_of({"BUILDKITE_BUILD_URL", "BUILDKITE_JOB_ID"}),
          set["BUILDKITE_COMMIT"]);
  else if (!set.first_of({"JENKINS_URL", "JENKINS_HOME"}).empty())
    found("jenkins", set.first_of({"BUILD_URL", "BUILD_TAG"}), set["GIT_COMMIT"]);
}

/// Podman writes the image down, GitLab and Apptainer name it; Docker only leaves a trace.
std::string container_image(variables const& set, path const& root) {
  auto const named = set.first_of(
      {"BANDGATE_CONTAINER_IMAGE", "CI_JOB_IMAGE", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"});
  if (!named.empty()) return named;
  constexpr std::string_view key = "image=\"";
  for (auto const& line : lines_of(read_text(root / "run/.containerenv").value_or("")))
    if (line.starts_with(key) && line.ends_with('"') && line.size() > key.size())
      return one_line(line.substr(key.size(), line.size() - key.size() - 1));
  if (file_exists(root / "run/.containerenv")) return "podman, image unknown";
  if (!set["KUBERNETES_SERVICE_HOST"].empty()) return "kubernetes, image unknown";
  if (file_exists(root / ".dockerenv")) return "docker, image unknown";
  return {};
}

/// The firmware that runs the cards' own processor, as the driver writes it down.
std::string gsp_version(path const& root) {
  auto const cards = root / "proc/driver/nvidia/gpus";
  for (auto const& card : names_in(cards)) {
    auto const version =
        value_of(read_text(cards / card / "information").value_or(""), "GPU Firmware");
    if (!version.empty() && version != "N/A") return version;
  }
  return {};
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (auto const& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

}  // namespace

void add_environment(run_info& run, std::map<std::string, std::string> const& environment,
                     path const& root) {
  variables const set(environment);
  run.host = read_line(root / "proc/sys/kernel/hostname");
  run.node = set.first_of({"BANDGATE_NODE", "NODE_NAME", "SLURMD_NODENAME"});
  if (run.node.empty()) run.node = run.host;
  run.boot_id = read_line(root / "proc/sys/kernel/random/boot_id");
  run.kernel = read_line(root / "proc/sys/kernel/osrelease");
  run.kernel_module_flavour = nvidia_kernel_module(root).flavour;
  run.gsp_version = gsp_version(root);
  auto const dmi = root / "sys/class/dmi/id";
  run.bios = joined({read_line(dmi / "bios_vendor"), read_line(dmi / "bios_version"),
                     read_line(dmi / "bios_date")});
  run.product = joined({read_line(dmi / "sys_vendor"), read_line(dmi / "product_name")});
  run.container_image = container_image(set, root);
  run.scheduler_job = scheduler_job(set);
  add_ci(run, set);
}

}  // namespace bandgate
