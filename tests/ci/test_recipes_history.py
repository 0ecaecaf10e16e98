# SPDX-License-Identifier: Apache-2.0
"""ci/nightly_history.py: nights that end at the same time are all kept, and nothing is forced."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci"))

import nightly_history  # noqa: E402
from nightly_history import History, HistoryError  # noqa: E402


@dataclass(frozen=True)
class Slow(History):
    """Another runner is faster, once."""

    faster: list[tuple[History, Path]]

    def git(self, *arguments: str) -> str:
        if arguments[0] == "push" and self.faster:
            other, results = self.faster.pop()
            other.save(results, "the faster one")
        return super().git(*arguments)


class Races(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bandgate history ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.origin = self.folder / "origin.git"
        self.git("init", "--quiet", "--bare", str(self.origin))
        pause = mock.patch.object(nightly_history, "PAUSE_S", 0.05)
        pause.start()
        self.addCleanup(pause.stop)

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    def runner(self, name: str) -> tuple[str, str, str, str, Path]:
        (self.folder / name).mkdir()
        return str(self.origin), "nights", "user", "a secret", self.folder / name

    def results(self, name: str) -> Path:
        day = self.folder / f"{name} results/2026/11/30"
        day.mkdir(parents=True)
        (day / f"{name}.json").write_text(name)
        return day.parents[2]

    def stored(self) -> dict[str, str]:
        listed = self.git("-C", str(self.origin), "ls-tree", "-r", "--name-only", "nights")
        return {
            path: self.git("-C", str(self.origin), "show", f"nights:{path}")
            for path in listed.split()
        }

    def test_whoever_is_slower_keeps_both(self) -> None:
        for first in (True, False):  # of all nights: there is no branch yet
            a, b = f"a{first}", f"b{first}"
            fast = History(*self.runner(a))
            slow = Slow(*self.runner(b), faster=[(fast, self.results(a))])
            fast.restore()
            slow.restore()
            slow.save(self.results(b), "the slower one")
            self.assertEqual(slow.faster, [])
        self.assertEqual(
            self.stored(),
            {
                f"results/2026/11/30/{name}.json": name
                for name in ("aTrue", "bTrue", "aFalse", "bFalse")
            },
        )

    def test_four_at_once(self) -> None:
        names = ["w", "x", "y", "z"]
        runners = [(History(*self.runner(name)), self.results(name)) for name in names]

        def night(runner: tuple[History, Path]) -> None:
            runner[0].restore()
            runner[0].save(runner[1], "at once")

        with ThreadPoolExecutor() as pool:
            list(pool.map(night, runners))
        self.assertEqual(sorted(self.stored().values()), names)
        # Restored is what all of them saved.
        restored = History(*self.runner("next")).restore()
        self.assertEqual(sorted(p.stem for p in restored.rglob("*.json")), names)

    def test_a_push_that_is_refused(self) -> None:
        hook = self.origin / "hooks/pre-receive"
        hook.write_text("#!/bin/sh\necho the token may not write\nexit 1\n")
        hook.chmod(0o755)
        history = History(*self.runner("a"))
        history.restore()
        with self.assertRaisesRegex(HistoryError, "git push ended with 1: .*token may not write"):
            history.save(self.results("a"), "never")

    def test_the_token_is_no_argument(self) -> None:
        history = History(*self.runner("a"))
        with mock.patch("subprocess.run", wraps=subprocess.run) as run:
            history.restore()
        for call in run.call_args_list:
            self.assertNotIn("secret", str(call.args))
            # user:a secret
            header = call.kwargs["env"]["GIT_CONFIG_VALUE_0"]
            self.assertEqual(header, "Authorization: Basic dXNlcjphIHNlY3JldA==")


if __name__ == "__main__":
    unittest.main()
