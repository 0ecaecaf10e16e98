# SPDX-License-Identifier: Apache-2.0
"""The commands of the pages that tests/docs does not run: why not, and which test does.

A command is meant if it begins with the text. An entry that means none fails, and so does a command
that cannot run in the sandbox and is not here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Elsewhere:
    begins: str
    why: str
    test: str  # a file of this checkout


CLUSTER, DASK = "needs a Dask cluster", "reports/tests/test_ingest.py"
REBOOT, DRIVER_GATE = "around a reboot", "tests/ci/test_driver_gate.py"
HEALTH_CHECK = "tests/ci/test_slurm_healthcheck.py"
FIGURES, DRAWN = "draws eight figures: ten seconds", "reports/tests/test_curves.py"
CONSUMER = "builds a project of its own"
ELSEWHERE = (
    Elsewhere("ci/gate ", "builds for minutes", "tests/ci/test_gate.py"),
    Elsewhere("ci/test ", "it is what runs this test", "ci/test"),
    Elsewhere("ci/setup --gate &&", "installs packages", "tests/ci/test_setup.py"),
    Elsewhere("ctest --test-dir build/gate", "of a build with tests", "tests/ctest/test_drill.py"),
    Elsewhere("BANDGATE_BACKEND=scripted:", "of a build", "tests/ctest/test_drill.py"),
    Elsewhere("cmake -S . -B build/hip", "builds for minutes", "ci/test"),
    Elsewhere("cmake --build build/hip", "builds for minutes", "ci/test"),
    Elsewhere("build/hip/probes/cli/bandgate", "of that build", "tests/hip/CMakeLists.txt"),
    Elsewhere("ci/submit-baselines ", "pushes", "tests/cli/test_submit_baselines.py"),
    Elsewhere("cmake -S . -B build  ", CONSUMER, "tests/package/test_package.py"),
    Elsewhere("cmake -S . -B build -DBANDGATE", CONSUMER, "tests/package/test_package.py"),
    Elsewhere("cmake --build build", CONSUMER, "tests/package/test_package.py"),
    Elsewhere("build/reduction_probes", CONSUMER, "tests/package/test_package.py"),
    Elsewhere("ctest --test-dir build --no-tests", CONSUMER, "tests/package/test_package.py"),
    Elsewhere("ci/package ", "builds for minutes", "tests/package/test_packages.py"),
    Elsewhere("ctest -S ci/cdash/nightly.cmake", "builds", "tests/ci/test_recipes.py"),
    Elsewhere("dpkg ", "changes the system", "ci/package"),
    Elsewhere("cmake --workflow --preset portable", "builds for minutes", "ci/test"),
    Elsewhere("cmake --install build/portable", "of a build", "tests/package/test_package.py"),
    Elsewhere("python3 -m venv /opt/", "installs packages", "tests/package/test_wheel.py"),
    Elsewhere("/opt/bandgate-report/bin/pip", "of that one", "tests/package/test_wheel.py"),
    Elsewhere("ln -s /opt/bandgate-report", "of that one", "tests/package/test_wheel.py"),
    Elsewhere("pip install", "changes the environment", "tests/package/test_wheel.py"),
    Elsewhere("my_bench ", "the reader's own program", "tests/cli/test_judge.py"),
    Elsewhere("my_nvbench ", "the reader's own program", "tests/cli/test_judge.py"),
    Elsewhere("bandgate judge r.json", "of what that wrote", "tests/cli/test_judge.py"),
    # The same steps are rehearsed, with --backend, in for-driver-owners.md.
    Elsewhere("ci/driver-gate before --dir /var/tmp/driver-5", REBOOT, DRIVER_GATE),
    Elsewhere("ci/driver-gate after --dir /var/tmp/driver-590", REBOOT, DRIVER_GATE),
    Elsewhere("ci/driver-gate verdict --dir /var/tmp/driver-590", REBOOT, DRIVER_GATE),
    Elsewhere("ci/driver-gate interleave", "two containers", DRIVER_GATE),
    Elsewhere("ci/driver-gate verdict --dir /var/tmp/runtimes", "of these", DRIVER_GATE),
    Elsewhere("bandgate-report ingest results --store history --sch", CLUSTER, DASK),
    Elsewhere("bandgate-report trend history --out report --sch", CLUSTER, DASK),
    Elsewhere("podman ", "builds an image", "tests/ci/test_kubernetes.py"),
    Elsewhere("kubectl ", "needs a cluster", "tests/ci/test_kubernetes.py"),
    Elsewhere("sed -e 's/bandgate-node/", "needs a cluster", "tests/ci/test_kubernetes.py"),
    Elsewhere("node-problem-detector ", "a program of others", "tests/ci/test_kubernetes.py"),
    Elsewhere("node_exporter ", "a program of others", "tests/cli/test_prometheus.py"),
    Elsewhere("export BANDGATE=/shared", "of the next one", "tests/ci/test_cluster_docs.py"),
    Elsewhere("/shared/bandgate/ci/slurm/fleet", "needs Slurm", "tests/ci/test_cluster_docs.py"),
    Elsewhere("install -", "changes the system", "tests/ci/test_slurm_cluster.py"),
    Elsewhere("SLURMD_NODENAME=n001 ", "needs Slurm", HEALTH_CHECK),
    Elsewhere("ci/slurm/resume", "needs Slurm", "tests/ci/test_slurm_admin.py"),
    Elsewhere("sinfo -R", "needs Slurm", "tests/ci/test_slurm_cluster.py"),
    Elsewhere("cat /var/lib/bandgate/slurm/", "needs Slurm", HEALTH_CHECK),
    Elsewhere("bandgate status --results /var/lib", "of a node", HEALTH_CHECK),
    Elsewhere("journalctl ", "needs its service", HEALTH_CHECK),
    Elsewhere("#!/bin/bash", "a file to install", "tests/cli/test_schedulers.py"),
    Elsewhere("function check_bandgate", "a file to install", "tests/cli/test_schedulers.py"),
    Elsewhere("python reports/tests/pictures.py", "a browser", "reports/tests/test_browser.py"),
    Elsewhere("python reports/tests/made_sweeps.py", FIGURES, DRAWN),
    Elsewhere("bandgate-report curves made-up", FIGURES, DRAWN),
    Elsewhere("cp figures/", FIGURES, DRAWN),
)
