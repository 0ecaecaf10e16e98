# SPDX-License-Identifier: Apache-2.0
"""ci/nightly_history.py: nights that end at the same time are all kept, and nothing is forced."""

from __future__ import annotations

import os
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
from nightly_history import History, HistoryError, history_at  # noqa: E402


@dataclass(frozen=True)
class Slow(History):
    """Another runner is faster, once."""

    faster: list[tuple[History, Path]]

    def git(self, *arguments: str) -> str:
        if arguments[0] == "push" and self.faster:
            other, results = self.faster.pop()
            other.save(results, "the faster one")
        return super().git(*arguments)


class Remote(unittest.TestCase):
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


class Races(Remote):
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
        with mock.patch("subprocess.Popen", wraps=subprocess.Popen) as run:
            history.restore()
        self.assertTrue(run.call_args_list)
        for call in run.call_args_list:
            self.assertNotIn("secret", str(call.args))
            # user:a secret
            values = set(call.kwargs["env"].values())
            self.assertIn("Authorization: Basic dXNlcjphIHNlY3JldA==", values)

    def test_a_login_in_the_url_is_taken_out_of_it(self) -> None:
        for url, user, token in (
            ("https://user:s%40cret@host:1/a.git", "user", "s@cret"),
            ("https://s%40cret@host:1/a.git", "login", "s@cret"),
        ):
            history = history_at(url, "nights", "login", "", self.folder)
            self.assertEqual(history.url, "https://host:1/a.git")
            self.assertEqual((history.user, history.token), (user, token))
        ssh = history_at("ssh://git@host/a.git", "nights", "login", "", self.folder)
        self.assertEqual((ssh.url, ssh.token), ("ssh://git@host/a.git", ""))
        with mock.patch("os.path.exists", return_value=True):
            path = history_at("../a b.git", "nights", "login", "", self.folder)
        self.assertEqual(path.url, os.path.abspath("../a b.git"))

    def test_what_git_says_holds_no_secret(self) -> None:
        (self.folder / "bin").mkdir()
        git = self.folder / "bin/git"
        git.write_text(
            '#!/bin/sh\nenv | grep "^GIT_CONFIG_VALUE" >&2\necho "a secret" >&2\nexit 1\n'
        )
        git.chmod(0o755)
        history = History(*self.runner("a"))
        with (
            mock.patch.dict(os.environ, PATH=f"{git.parent}:{os.environ['PATH']}"),
            self.assertRaisesRegex(HistoryError, r"Basic \*\*\* \*\*\*$"),
        ):
            history.restore()


class Surroundings(Remote):
    """What a machine, a user or a branch may hold."""

    def kept(self, **environment: str) -> None:
        history = History(*self.runner("a"))
        results = self.results("a")
        file = results / "2026/11/30/a.json"
        file.write_bytes(b"{}\r\n")
        with mock.patch.dict(os.environ, HOME=str(self.folder), **environment):
            history.restore()
            history.save(results, "a")
        blob = ["git", "-C", str(self.origin), "show", "nights:results/2026/11/30/a.json"]
        self.assertEqual(subprocess.run(blob, capture_output=True, check=True).stdout, b"{}\r\n")

    def test_a_configuration_for_people(self) -> None:
        hook = self.folder / "hooks/pre-push"
        hook.parent.mkdir()
        for name in ("pre-push", "post-checkout", "prepare-commit-msg"):
            (hook.parent / name).write_text("#!/bin/sh\nexit 1\n")
            (hook.parent / name).chmod(0o755)
        (self.folder / "attributes").write_text("* text filter=none\n")
        (self.folder / ".gitconfig").write_text(
            "[commit]\ngpgSign = true\n[push]\ngpgSign = true\n[init]\ntemplateDir = /no\n"
            "[core]\nautocrlf = true\nsafecrlf = true\n"
            f'hooksPath = {hook.parent}\nattributesFile = "{self.folder}/attributes"\n'
            '[filter "none"]\nclean = false\nrequired = true\n'
        )
        self.kept(GIT_DEFAULT_HASH="sha256")

    def test_within_a_hook_of_another_repository(self) -> None:
        other = str(self.folder / "other")
        self.kept(GIT_DIR=other, GIT_WORK_TREE="/tmp", GIT_INDEX_FILE=other)
        self.assertFalse(Path(other).exists())

    def test_settings_of_the_environment_still_hold(self) -> None:
        given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}
        history = History(*self.runner("a"))
        with mock.patch.dict(os.environ, given):
            history.restore()
            self.assertEqual(history.git("config", "a.b"), "c\n")
            self.assertEqual(history.git("config", "commit.gpgSign"), "false\n")

    def branch(self, **files: str) -> None:
        """A branch of somebody else's: NAME=TARGET is a link, or a file where that is empty."""
        folder = self.folder / "somebody"
        self.git("init", "--quiet", str(folder))
        for name, target in files.items():
            path = folder / name.replace("_", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            if target:
                path.symlink_to(target)
            else:
                path.touch()
        self.git("-C", str(folder), "add", ".")
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        self.git("-C", str(folder), *identity, "commit", "--quiet", "-m", "a")
        self.git("-C", str(folder), "push", "--quiet", str(self.origin), "HEAD:refs/heads/nights")

    def test_a_branch_that_is_no_history(self) -> None:
        victim = self.folder / "victim"
        victim.mkdir()
        for i, files in enumerate(
            ({"results": ""}, {"results": str(victim)}, {"results_2026_11": str(victim)})
        ):
            with self.subTest(files):
                self.origin = self.folder / f"origin{i}.git"
                self.git("init", "--quiet", "--bare", str(self.origin))
                self.branch(**files)
                history = History(*self.runner(f"a{i}"))
                with self.assertRaisesRegex(HistoryError, "nights could not be .* rename the bra"):
                    history.restore()
                    history.save(self.results(f"a{i}"), "never")
                self.assertEqual(list(victim.iterdir()), [])
                (self.folder / "somebody").rename(self.folder / f"somebody{i}")

    def test_a_branch_that_is_deleted_meanwhile_begins_anew(self) -> None:
        self.branch(results_old="")
        history = History(*self.runner("a"))
        history.restore()
        self.git("-C", str(self.origin), "update-ref", "-d", "refs/heads/nights")
        history.save(self.results("a"), "a")
        self.assertEqual(self.stored(), {"results/2026/11/30/a.json": "a"})

    def test_a_network_that_hangs_with_the_helper_of_git(self) -> None:
        (self.folder / "bin").mkdir()
        git = self.folder / "bin/git"
        late = self.folder / "late"  # the helper came to its end, and was waited for
        git.write_text(f"#!/bin/sh\n(sleep 5; touch '{late}') &\nwait\n")
        git.chmod(0o755)
        history = History(*self.runner("a"))
        with (
            mock.patch.object(nightly_history, "TIME_LIMIT_S", 0.2),
            mock.patch.dict(os.environ, PATH=f"{git.parent}:{os.environ['PATH']}"),
            self.assertRaisesRegex(HistoryError, "git init did not end within 0.2 s"),
        ):
            history.restore()
        self.assertFalse(late.exists())

    def test_a_job_that_is_stopped_is_stopped(self) -> None:
        """Also where git has ended by then."""

        def stopped(process: subprocess.Popen[str], timeout: float) -> None:
            process.wait(timeout)
            raise KeyboardInterrupt

        history = History(*self.runner("a"))
        with (
            mock.patch.object(subprocess.Popen, "communicate", stopped),
            self.assertRaises(KeyboardInterrupt),
        ):
            history.restore()


if __name__ == "__main__":
    unittest.main()
