// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/fake_root.hpp"
#include "device/identity.hpp"

namespace bandgate {
namespace {

using variables = std::map<std::string, std::string>;

run_info described(fake_root const& root, variables const& environment) {
  run_info run;
  add_environment(run, environment, root.path());
  return run;
}

TEST(environment, reads_the_machine) {
  fake_root root;
  root.add_driver().add({});
  root.file("proc/sys/kernel/hostname", "node17\n");
  root.file("proc/sys/kernel/random/boot_id", "6d0ce3c2-0001\n");
  root.file("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
  root.file("sys/class/dmi/id/bios_vendor", "Maker\n");
  root.file("sys/class/dmi/id/bios_version", "1.2\n");
  root.file("sys/class/dmi/id/bios_date", "01/02/2026\n");
  root.file("sys/class/dmi/id/sys_vendor", "Builder\n");
  root.file("sys/class/dmi/id/product_name", "Server 8\n");
  auto const run = described(root, {});
  EXPECT_EQ(run.host, "node17");
  EXPECT_EQ(run.node, "node17");
  EXPECT_EQ(run.boot_id, "6d0ce3c2-0001");
  EXPECT_EQ(run.kernel, "6.1.0-28-amd64");
  EXPECT_EQ(run.kernel_module_flavour, "open");
  EXPECT_EQ(run.gsp_version, "580.159.04");
  EXPECT_EQ(run.bios, "Maker 1.2 01/02/2026");
  EXPECT_EQ(run.product, "Builder Server 8");
  EXPECT_EQ(run.container_image, "");
  EXPECT_EQ(run.ci_system, "");
}

TEST(environment, makes_nothing_up_on_an_empty_machine) {
  fake_root const root;
  auto const run = described(root, {});
  for (auto const& field : {run.host, run.node, run.boot_id, run.kernel, run.kernel_module_flavour,
                            run.gsp_version, run.bios, run.product, run.container_image,
                            run.scheduler_job, run.ci_system, run.ci_job, run.ci_commit})
    EXPECT_EQ(field, "");
}

TEST(environment, leaves_the_runners_own_fields_alone) {
  fake_root const root;
  run_info run;
  run.id = "id";
  run.attempt = 2;
  run.labels = {{"rack", "7"}};
  run.tool_version = "0.1.0";
  add_environment(run, {}, root.path());
  EXPECT_EQ(run.id, "id");
  EXPECT_EQ(run.attempt, 2U);
  EXPECT_EQ(run.labels.at("rack"), "7");
  EXPECT_EQ(run.tool_version, "0.1.0");
}

TEST(environment, a_node_has_the_first_name_that_is_set) {
  fake_root root;
  root.file("proc/sys/kernel/hostname", "pod-5c9\n");
  variables set{{"SLURMD_NODENAME", "c"}};
  EXPECT_EQ(described(root, set).node, "c");
  set["NODE_NAME"] = "b";
  EXPECT_EQ(described(root, set).node, "b");
  set["BANDGATE_NODE"] = "a";
  EXPECT_EQ(described(root, set).node, "a");
  set["BANDGATE_NODE"] = "";
  EXPECT_EQ(described(root, set).node, "b");
}

TEST(environment, scheduler_jobs_name_their_scheduler) {
  fake_root const root;
  EXPECT_EQ(described(root, {{"SLURM_JOB_ID", "12"}}).scheduler_job, "slurm:12");
  EXPECT_EQ(described(root, {{"PBS_JOBID", "7.head"}}).scheduler_job, "pbs:7.head");
  EXPECT_EQ(described(root, {{"LSB_JOBID", "9"}}).scheduler_job, "lsf:9");
}

TEST(environment, ci_systems) {
  fake_root const root;
  auto run = described(root, {{"GITHUB_ACTIONS", "true"},
                              {"GITHUB_SERVER_URL", "https://example.org"},
                              {"GITHUB_REPOSITORY", "a/b"},
                              {"GITHUB_RUN_ID", "42"},
                              {"GITHUB_JOB", "gpu"},
                              {"GITHUB_SHA", "c0ffee"}});
  EXPECT_EQ(run.ci_system, "github");
  EXPECT_EQ(run.ci_job, "https://example.org/a/b/actions/runs/42 gpu");
  EXPECT_EQ(run.ci_commit, "c0ffee");
  run = described(root, {{"GITLAB_CI", "true"},
                         {"CI_JOB_ID", "7"},
                         {"CI_JOB_IMAGE", "site/cuda:13"},
                         {"CI_COMMIT_SHA", "beef"}});
  EXPECT_EQ(run.ci_system, "gitlab");
  EXPECT_EQ(run.ci_job, "7");
  EXPECT_EQ(run.ci_commit, "beef");
  EXPECT_EQ(run.container_image, "site/cuda:13");
  run = described(root, {{"BUILDKITE", "true"}, {"BUILDKITE_BUILD_URL", "u"}});
  EXPECT_EQ(run.ci_system, "buildkite");
  EXPECT_EQ(run.ci_job, "u");
  run = described(root, {{"JENKINS_URL", "j"}, {"BUILD_TAG", "t"}, {"GIT_COMMIT", "c"}});
  EXPECT_EQ(run.ci_system, "jenkins");
  EXPECT_EQ(run.ci_job, "t");
  EXPECT_EQ(run.ci_commit, "c");
}

TEST(environment, containers) {
  fake_root root;
  EXPECT_EQ(described(root, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}).container_image,
            "kubernetes, image unknown");
  root.file(".dockerenv", "");
  EXPECT_EQ(described(root, {}).container_image, "docker, image unknown");
  root.file("run/.containerenv", "");
  EXPECT_EQ(described(root, {}).container_image, "podman, image unknown");
  root.file("run/.containerenv", "engine=\"podman-4\"\nimage=\"site/gate:1\"\n");
  EXPECT_EQ(described(root, {}).container_image, "site/gate:1");
}

TEST(environment, values_become_one_line) {
  fake_root const root;
  EXPECT_EQ(described(root, {{"BANDGATE_NODE", " a\nb\x1b c "}}).node, "a b c");
}

}  // namespace
}  // namespace bandgate
