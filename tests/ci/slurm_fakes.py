# SPDX-License-Identifier: Apache-2.0
"""A Slurm of files, and a bandgate that says what a test wants: what ci/slurm's programs see."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "ci/slurm"
DRILLS = ROOT / "docs/examples/fire-drill"

SINFO = r"""#!/bin/bash
# Lines node|partition|state|reason of $FAKE/nodes, in the form that is asked for.
if [ -e "$FAKE/broken" ]; then
  echo "slurm_load_node error: Unable to contact slurm controller" >&2
  exit 1
fi
echo "sinfo $*" >>"$FAKE/calls"
only='' form=''
while (($#)); do
  case $1 in
    -n) only=$2; shift ;;
    -o) form=$2; shift ;;
  esac
  shift
done
while IFS='|' read -r name partition state reason; do
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  line=${form//%N/$name}
  line=${line//%P/$partition}
  line=${line//%T/$state}
  printf '%s\n' "${line//%E/$reason}"
done <"$FAKE/nodes"
"""

SCONTROL = r"""#!/bin/bash
echo "scontrol $*" >>"$FAKE/calls"
if [ "$1" = show ]; then echo "${@: -1}"; exit; fi
for word in "$@"; do
  case $word in
    NodeName=*) name=${word#*=} ;;
    State=DRAIN) state=drained ;;
    State=RESUME) state=idle reason=none ;;
    Reason=*) reason=${word#*=} ;;
  esac
done
awk -F '|' -v OFS='|' -v name="$name" -v state="$state" -v reason="$reason" '
  $1 == name { if (state) $3 = state; $4 = reason } { print }' "$FAKE/nodes" >"$FAKE/nodes.new"
mv "$FAKE/nodes.new" "$FAKE/nodes"
# Another node that is drained in the same moment.
if [ -n "$FAKE_RACE" ] && [ "$state" = drained ]; then
  sed -i "s/^$FAKE_RACE|\(.*\)|idle|none/$FAKE_RACE|\1|drained|bandgate: too/" "$FAKE/nodes"
fi
"""

LOGGER = r"""#!/bin/bash
echo "$*" >>"$FAKE/log"
"""

# Says what $FAKE/says.COMMAND holds and ends with the code in $FAKE/code.COMMAND.
BANDGATE = r"""#!/bin/bash
echo "bandgate $*" >>"$FAKE/measured"
[ ! -e "$FAKE/sleep" ] || [ "$1" != check ] || sleep "$(cat "$FAKE/sleep")"
cat "$FAKE/says.$1" 2>/dev/null
exit "$(cat "$FAKE/code.$1" 2>/dev/null || echo 0)"
"""


@dataclass(frozen=True)
class Ended:
    code: int
    err: str
    out: str


class Slurm(unittest.TestCase):
    """Four nodes of two partitions; the programs run as on n1."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bandgate slurm ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name, text in (
            ("sinfo", SINFO),
            ("scontrol", SCONTROL),
            ("logger", LOGGER),
            ("bandgate", BANDGATE),
        ):
            self.executable(self.bin / name, text)
        self.nodes("n1|main*|idle|none", "n2|main*|idle|none", "n3|main*|idle|none")
        self.environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "FAKE": str(self.folder),
            "SLURMD_NODENAME": "n1",
            "BANDGATE_SLURM_CONF": str(self.folder / "slurm.conf"),
            "BANDGATE_SLURM_STATE": str(self.folder / "state"),
            "BANDGATE_SLURM_LIMIT": "4s",
            "BANDGATE_RESULTS": str(self.folder / "results"),
        }

    def executable(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def nodes(self, *lines: str) -> None:
        (self.folder / "nodes").write_text("".join(f"{line}\n" for line in lines))

    def node(self, name: str = "n1") -> str:
        """state|reason"""
        for line in (self.folder / "nodes").read_text().splitlines():
            if line.startswith(f"{name}|"):
                return line.split("|", 2)[2]
        raise AssertionError(name)

    def says(self, text: str, code: int = 0, command: str = "check") -> None:
        (self.folder / f"says.{command}").write_text(f"{text}\n" if text else "")
        (self.folder / f"code.{command}").write_text(str(code))

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def state(self, name: str) -> str:
        return self.read(f"state/n1/{name}")

    def start(self, program: str, *options: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(PROGRAMS / program), *options],
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, program: str, *options: str, **environment: str) -> Ended:
        started = self.start(program, *options, **environment)
        out, err = started.communicate(timeout=60)
        return Ended(started.returncode, err, out)

    def updates(self) -> list[str]:
        return [line for line in self.read("calls").splitlines() if "update" in line]

    def real(self, script: str) -> dict[str, str]:
        """The program under test on scripted devices, in place of the fake."""
        program = os.environ.get("BANDGATE")
        if not program:
            self.skipTest("set BANDGATE to the program")
        return {"BANDGATE": program, "BANDGATE_BACKEND": f"scripted:{DRILLS / script}.json"}
