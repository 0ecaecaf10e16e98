# SPDX-License-Identifier: Apache-2.0
"""docs/slurm.md, kubernetes.md, monitoring.md: what they name exists, and the fleet's first look.

Their other commands run in tests/docs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from slurm_fakes import DRILLS, PROGRAMS, ROOT, Slurm
from test_slurm_admin import SBATCH, SQUEUE


class Pages(Slurm):
    def page(self, name: str) -> str:
        return (ROOT / "docs" / f"{name}.md").read_text()

    def run_commands(self, page: str, **places: str) -> int:
        """Each line of the page's first sh block, in one shell, by the exit code in its comment."""
        program = self.real("slow-5-percent")["BANDGATE"]
        (self.bin / "bandgate").unlink()
        (self.bin / "bandgate").symlink_to(Path(program).resolve())
        lines = []
        blocks = re.findall(r"^```sh\n(.*?)^```", self.page(page), re.MULTILINE | re.DOTALL)
        for line in blocks[0].splitlines():
            for place, here in places.items():
                line = line.replace(place, here)
            command, _, comment = line.partition("  #")
            expected = re.search(r"exit (\d+)", comment)
            code = expected[1] if expected else "0"
            if command.startswith("export "):
                lines.append(command)
                continue
            lines.append(
                f"code=0; {command} || code=$?; [ $code = {code} ] || "
                f'{{ echo "exit $code: {line}" >&2; exit 1; }}'
            )
        environment = self.environment | {
            "PATH": f"{self.bin}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "BANDGATE_BACKEND": f"scripted:{DRILLS}/slow-5-percent.json",
            "HOME": str(self.folder),
        }
        done = subprocess.run(
            ["bash", "-c", "\n".join(lines)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done)
        return len(lines)

    def test_slurm(self) -> None:
        self.executable(self.bin / "sbatch", SBATCH)
        self.executable(self.bin / "squeue", SQUEUE)
        self.nodes("n1|main*|idle|none", "n2|main*|idle|none")
        page = self.page("slurm")
        self.assertIn("fleet --suite quick --out /shared/bandgate/fleet --wait\n```", page)
        program = self.real("healthy-h200")["BANDGATE"]
        here = {
            "/shared/bandgate/ci/slurm": str(PROGRAMS),
            "/shared/bandgate/fleet --wait": f"'{self.folder}/fleet' --wait  # exit 1",
            "/shared/bandgate/bin/bandgate": program,
        }
        self.assertEqual(self.run_commands("slurm", **here), 2)

    def test_every_name_of_the_slurm_page_is_one(self) -> None:
        example = (PROGRAMS / "slurm.conf.example").read_text()
        for name in set(re.findall(r"BANDGATE_SLURM_[A-Z_]+", self.page("slurm"))):
            known = name in example or name == "BANDGATE_SLURM_CONF"
            self.assertTrue(known, name)
        for name in re.findall(r"ci/slurm/\{([^}]*)\}", self.page("slurm"))[0].split(","):
            self.assertTrue((PROGRAMS / name).is_file())

    def test_every_file_and_alert_that_is_named_exists(self) -> None:
        for page in ("slurm", "kubernetes", "monitoring"):
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", self.page(page)):
                self.assertTrue((ROOT / "docs" / target).exists(), target)
        table = re.findall(r"^\| `(\w+)`", self.page("kubernetes"), re.MULTILINE)
        for name in table[:1]:
            self.assertTrue((ROOT / "ci/kubernetes" / name).exists(), name)
        rules = (ROOT / "reports/prometheus/bandgate.rules.yml").read_text()
        alerts = re.findall(r"alert: (\w+)", rules)
        named = re.findall(r"^\| `(Bandgate\w+)`", self.page("monitoring"), re.MULTILINE)
        self.assertEqual(sorted(named), sorted(alerts))


if __name__ == "__main__":
    unittest.main()
