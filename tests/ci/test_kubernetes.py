# SPDX-License-Identifier: Apache-2.0
"""ci/kubernetes: entry point and plugin on scripted devices, manifests by the API's schemas."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import tempfile
import unittest
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "ci/kubernetes"
DRILLS = ROOT / "docs/examples/fire-drill"
MANIFESTS = ("namespace.yaml", "job.yaml", "daemonset.yaml")
VERSIONS = ("1.27", "1.37")  # of the API: the oldest and the newest that are tried


def documents(name: str) -> list[dict[str, Any]]:
    yaml: Any = importlib.import_module("yaml")
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


class Container(unittest.TestCase):
    """What runs in it, without it."""

    def setUp(self) -> None:
        program = os.environ.get("BANDGATE")
        if not program:
            self.skipTest("set BANDGATE to the program")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/bandgate").symlink_to(Path(program).resolve())
        self.message = self.folder / "message"
        self.message.touch()
        self.environment = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "BANDGATE_RESULTS": f"{self.folder}/results",
            "NODE_NAME": "gpu-07",
            "TERMINATION_LOG": str(self.message),
        }

    def run_script(self, name: str, drill: str, *options: str, **env: str) -> tuple[int, str, str]:
        backend = {"BANDGATE_BACKEND": f"scripted:{DRILLS / drill}.json"}
        done = subprocess.run(
            [str(FOLDER / name), *options],
            env=self.environment | backend | env,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_every_verdict_of_the_entry_point(self) -> None:
        for drill, code, message in (
            ("healthy-h200", 0, ""),
            ("slow-5-percent", 1, "regression"),
            ("lost-at-sample-3", 3, "error"),
            ("contended", 4, "inconclusive"),
            ("no-device", 4, "no result of node gpu-07"),  # a GPU was asked for
        ):
            self.message.write_text("")
            results = {"BANDGATE_RESULTS": f"{self.folder}/{drill}"}
            found, out, err = self.run_script("measure", drill, **results)
            self.assertEqual(found, code, (drill, out, err))
            self.assertIn(message, self.message.read_text())
            self.assertLessEqual(len(self.message.read_text()), 81)

    def test_the_message_is_of_this_measurement(self) -> None:
        self.run_script("measure", "slow-5-percent")
        for path in (self.folder / "results").rglob("*.json"):
            text = path.read_text()
            started = json.loads(text)["run"]["started"]
            earlier = datetime.fromisoformat(started) - timedelta(minutes=5)
            path.write_text(text.replace(started, earlier.strftime("%Y-%m-%dT%H:%M:%S.%fZ")))
        for drill, options, code, message in (
            ("no-device", (), 4, "bandgate check ended with 4; the log of the pod says why"),
            ("healthy-h200", ("--nonsense",), 2, "bandgate check ended with 2; the log of the pod"),
        ):
            found, out, err = self.run_script("measure", drill, *options)
            self.assertEqual(found, code, (out, err))
            self.assertIn(message, self.message.read_text())
        # A failure of which the results know nothing, and no program at all.
        (self.folder / "bin/bandgate").unlink()
        fake = self.folder / "bin/bandgate"
        fake.write_text(
            '#!/bin/bash\n[ "$1" = status ] && { echo 5 of 6 passed; exit 0; }\nexit 3\n'
        )
        fake.chmod(0o755)
        self.assertEqual(self.run_script("measure", "no-device")[0], 3)
        self.assertIn("bandgate check ended with 3;", self.message.read_text())
        fake.unlink()
        self.assertEqual(self.run_script("measure", "no-device")[0], 127)
        self.assertIn("bandgate check ended with 127;", self.message.read_text())

    def test_results_name_the_node(self) -> None:
        self.run_script("measure", "healthy-h200")
        stored = list((self.folder / "results").rglob("*.json"))
        self.assertEqual({json.loads(p.read_text())["run"]["node"] for p in stored}, {"gpu-07"})
        self.assertEqual(len(stored), 6)

    def test_options_go_to_check(self) -> None:
        code, out, _ = self.run_script("measure", "no-device", "read", "--format", "nagios")
        self.assertEqual(code, 3)
        self.assertIn("BANDGATE UNKNOWN", out)

    def test_a_folder_that_cannot_be_written(self) -> None:
        broken = self.folder / "a file"
        broken.touch()
        code, _, err = self.run_script("measure", "healthy-h200", BANDGATE_RESULTS=str(broken))
        self.assertEqual(code, 2)
        self.assertIn("mount a volume there and set fsGroup", err)

    def test_the_plugin_speaks_the_detectors_protocol(self) -> None:
        def said(drill: str) -> tuple[int, str]:
            results = {"BANDGATE_RESULTS": f"{self.folder}/{drill}"}
            if drill != "nothing":
                self.run_script("measure", drill, **results)
            code, out, _ = self.run_script("bandgate-npd", "healthy-h200", **results)
            self.assertRegex(out, r"^[^\n]{1,80}\n$")
            return code, out

        self.assertEqual(said("healthy-h200")[0], 0)
        self.assertEqual(said("slow-5-percent")[0], 1)
        self.assertEqual(said("wrong-checksum")[0], 1)
        self.assertEqual(said("contended")[0], 2)
        code, out = said("nothing")
        self.assertEqual(code, 2)
        self.assertIn("no result of node gpu-07", out)

    def test_the_plugin_without_the_program(self) -> None:
        for code in (3, 4, 77, 127, 137):
            fake = self.folder / "fake"
            fake.write_text(f"#!/bin/bash\nexit {code}\n")
            fake.chmod(0o755)
            found = self.run_script("bandgate-npd", "healthy-h200", BANDGATE=str(fake))
            self.assertEqual(found[:2], (2, f"not judged: bandgate ended with {code}\n"))
        for code in (0, 1):
            fake.write_text(f"#!/bin/bash\necho\nexit {code}\n")
            found = self.run_script("bandgate-npd", "healthy-h200", BANDGATE=str(fake))
            self.assertEqual(
                found[:2], (2, f"not judged: bandgate ended with {code} and said nothing\n")
            )


@unittest.skipUnless(importlib.util.find_spec("yaml"), "no PyYAML")
class Manifests(unittest.TestCase):
    @unittest.skipUnless(
        importlib.util.find_spec("kubernetes_validate"), "pip install kubernetes-validate"
    )
    def test_they_hold_to_the_schemas_of_the_api(self) -> None:
        schemas: Any = importlib.import_module("kubernetes_validate")
        for name in MANIFESTS:
            for document in documents(name):
                for version in VERSIONS:
                    schemas.validate(document, version, strict=True)
                    document["spec" if "spec" in document else "metadata"]["sepc"] = 1
                    with self.assertRaises(schemas.ValidationError):  # it can fail
                        schemas.validate(document, version, strict=True)
                    del document["spec" if "spec" in document else "metadata"]["sepc"]

    def containers(self) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        found = []
        for name in ("job.yaml", "daemonset.yaml"):
            for document in documents(name):
                pod = document["spec"]["template"]["spec"]
                for container in [*pod.get("initContainers", ()), *pod["containers"]]:
                    found.append((name, pod, container))
        return found

    def test_nothing_runs_as_root_or_writes_to_its_image(self) -> None:
        self.assertEqual(len(self.containers()), 3)
        for name, pod, container in self.containers():
            context = container["securityContext"]
            self.assertIs(context["readOnlyRootFilesystem"], True, name)
            self.assertIs(context["allowPrivilegeEscalation"], False, name)
            self.assertEqual(context["capabilities"]["drop"], ["ALL"], name)
            self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
            self.assertIs(pod["automountServiceAccountToken"], False)
            if container["name"] != "folder":  # gives the host's folder to the user
                self.assertNotIn("runAsUser", context)

    def test_only_the_job_has_gpus_and_knows_its_node(self) -> None:
        for name, _, container in self.containers():
            gpus = container["resources"].get("limits", {}).get("nvidia.com/gpu")
            self.assertEqual(gpus is not None, container["name"] == "measure")
            names = {e["name"]: e for e in container.get("env", ())}
            if container["name"] != "folder":
                where = names["NODE_NAME"]["valueFrom"]["fieldRef"]["fieldPath"]
                self.assertEqual(where, "spec.nodeName")
            if name == "daemonset.yaml":
                self.assertNotIn("check", json.dumps(container["command"]))
                self.assertTrue(container["volumeMounts"][0]["readOnly"])

    def test_what_the_kustomization_names_is_there(self) -> None:
        (kustomization,) = documents("kustomization.yaml")
        generated = kustomization["configMapGenerator"][0]["files"]
        for name in (*kustomization["resources"], *generated):
            self.assertTrue((FOLDER / name).is_file(), name)

    def test_the_plugins_configuration(self) -> None:
        plugin = json.loads((FOLDER / "npd-bandgate.json").read_text())
        (rule,) = plugin["rules"]
        self.assertEqual((plugin["plugin"], rule["type"]), ("custom", "permanent"))
        self.assertEqual(rule["condition"], plugin["conditions"][0]["type"])
        self.assertEqual(Path(rule["path"]).name, "bandgate-npd")


class Image(unittest.TestCase):
    def test_it_copies_what_is_there_and_is_no_root(self) -> None:
        lines = (FOLDER / "Containerfile").read_text().splitlines()
        sources = [w for line in lines if line.startswith("COPY") for w in line.split()[2:-1]]
        self.assertEqual(sources[1:], ["ci/kubernetes/measure", "ci/kubernetes/bandgate-npd"])
        for source in sources[1:]:
            self.assertTrue(os.access(ROOT / source, os.X_OK))
        self.assertIn("USER 65532:65532", lines)


if __name__ == "__main__":
    unittest.main()
