# SPDX-License-Identifier: Apache-2.0
"""The results of all nights, on a branch of a git repository.

A result is a file that nobody changes and whose name is its own, so two runners never write the
same one: who loses the race for the push takes the winner's branch, adds its own files again and
pushes anew. Nothing is ever forced."""

from __future__ import annotations

import base64
import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ATTEMPTS = 3  # where nobody else was faster, so that something else is wrong
PAUSE_S = 5.0
TIME_LIMIT_S = 600  # of one command of git: a network that hangs must not hold the job
RESULTS = "results"  # the folder on the branch


class HistoryError(Exception):
    """Git's own words, and what was tried."""


@dataclass(frozen=True)
class History:
    url: str  # or the path of a repository
    branch: str
    user: str
    token: str
    folder: Path  # a checkout of the branch, made by restore()

    def git(self, *arguments: str) -> str:
        environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        for role in ("AUTHOR", "COMMITTER"):
            environment[f"GIT_{role}_NAME"] = "bandgate"
            environment[f"GIT_{role}_EMAIL"] = "bandgate@localhost"
        if self.token:
            # By the environment, which no other user of the machine can read, unlike arguments.
            login = base64.b64encode(f"{self.user}:{self.token}".encode()).decode()
            environment |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"http.{self.url}.extraHeader",
                "GIT_CONFIG_VALUE_0": f"Authorization: Basic {login}",
            }
        try:
            done = subprocess.run(
                ["git", "-C", str(self.folder), *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIME_LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HistoryError(f"git {arguments[0]}: {error}") from error
        if done.returncode != 0:
            said = " ".join((done.stderr or done.stdout).split())
            raise HistoryError(f"git {arguments[0]} ended with {done.returncode}: {said}")
        return done.stdout

    def head(self) -> str:
        """The newest commit of the branch, empty where there is none yet."""
        return self.git("ls-remote", self.url, f"refs/heads/{self.branch}")

    def newest(self) -> str:
        """Checks out the branch as it is now."""
        head = self.head()
        if head:
            self.git("fetch", "--quiet", "--depth=1", self.url, f"refs/heads/{self.branch}")
            self.git("reset", "--quiet", "--hard", "FETCH_HEAD")
        return head

    def restore(self) -> Path:
        """The folder of the results of earlier nights."""
        self.git("init", "--quiet")
        self.newest()
        results = self.folder / RESULTS
        results.mkdir(exist_ok=True)
        return results

    def save(self, results: Path, message: str) -> None:
        """Adds a night's results to the branch."""
        failures = 0
        while True:
            before = self.newest()
            shutil.copytree(results, self.folder / RESULTS, dirs_exist_ok=True)
            self.git("add", "--force", RESULTS)
            if self.git("status", "--porcelain"):
                self.git("commit", "--quiet", "--no-verify", "-m", message)
            try:
                self.git("push", "--quiet", self.url, f"HEAD:refs/heads/{self.branch}")
                return
            except HistoryError:
                if self.head() == before:
                    failures += 1
                if failures == ATTEMPTS:
                    raise
            time.sleep(random.uniform(0, PAUSE_S))
