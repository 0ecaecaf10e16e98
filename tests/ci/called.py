# SPDX-License-Identifier: Apache-2.0
"""A program called as CI calls it: nobody to ask, and all that it says in one stream."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def called(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Its exit code, and what it said."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
