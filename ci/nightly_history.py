# SPDX-License-Identifier: Apache-2.0
"""The results of all nights, on a branch of a git repository.

A result is a file that nobody changes and whose name is its own, so two runners never write the
same one: who loses the race for the push takes the winner's branch, adds its own files again and
pushes anew. Nothing is ever forced."""

from __future__ import annotations

import base64
import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

ATTEMPTS = 3  # where nobody else was faster, so that something else is wrong
PAUSE_S = 5.0
TIME_LIMIT_S = 600  # of one command of git: a network that hangs must not hold the job
RESULTS = "results"  # the folder on the branch
# What the machine's configuration may ask for and a checkout of results must not do. The rest of it
# holds: proxies, certificates, credentials.
SETTINGS = {
    "commit.gpgSign": "false",
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.symlinks": "false",  # nothing on the branch leads out of its folder
    "gc.auto": "0",  # a process that would outlive the job
    "push.gpgSign": "false",
}
# Of another repository, where this is called within one (a hook, a job's own checkout).
FOREIGN = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
}


class HistoryError(Exception):
    """Git's own words, and what was tried."""


@dataclass(frozen=True)
class History:
    url: str  # or the path of a repository
    branch: str
    user: str
    token: str
    folder: Path  # a checkout of the branch, made by restore()

    def login(self) -> str:
        return base64.b64encode(f"{self.user}:{self.token}".encode(errors="replace")).decode()

    def environment(self) -> dict[str, str]:
        environment = {name: os.environ[name] for name in os.environ if name not in FOREIGN}
        environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        for role in ("AUTHOR", "COMMITTER"):
            environment[f"GIT_{role}_NAME"] = "bandgate"
            environment[f"GIT_{role}_EMAIL"] = "bandgate@localhost"
        settings = dict(SETTINGS)
        if self.token:
            # By the environment, which no other user of the machine can read, unlike arguments.
            settings[f"http.{self.url}.extraHeader"] = f"Authorization: Basic {self.login()}"
        count = os.environ.get("GIT_CONFIG_COUNT", "")
        first = int(count) if count.isdecimal() else 0
        for i, (key, value) in enumerate(settings.items(), first):
            environment |= {f"GIT_CONFIG_KEY_{i}": key, f"GIT_CONFIG_VALUE_{i}": value}
        return environment | {"GIT_CONFIG_COUNT": str(first + len(settings))}

    def git(self, *arguments: str) -> str:
        try:
            process = subprocess.Popen(
                ["git", "-C", str(self.folder), *arguments],
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise HistoryError(f"git {arguments[0]}: {error}") from error
        with process:
            try:
                out, err = process.communicate(timeout=TIME_LIMIT_S)
            except BaseException as error:
                # With its helpers: one that goes on holds the pipes, and who reads them.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    ended = f"did not end within {TIME_LIMIT_S} s"
                    raise HistoryError(f"git {arguments[0]} {ended}") from error
                raise
        if process.returncode != 0:
            said = self.without_secrets(" ".join((err or out).split()))
            raise HistoryError(f"git {arguments[0]} ended with {process.returncode}: {said}")
        return out

    def without_secrets(self, text: str) -> str:
        for secret in filter(None, (self.token, self.token and self.login())):
            text = text.replace(secret, "***")
        return text

    def head(self) -> str:
        """The newest commit of the branch, empty where there is none yet."""
        return self.git("ls-remote", "--", self.url, f"refs/heads/{self.branch}")

    def newest(self) -> str:
        """Checks out the branch as it is now; an empty one where there is none (any more)."""
        head = self.head()
        if head:
            self.git("fetch", "--quiet", "--depth=1", "--", self.url, f"refs/heads/{self.branch}")
            self.git("reset", "--quiet", "--hard", "FETCH_HEAD")
        else:
            self.git("update-ref", "-d", "HEAD")
            self.git("read-tree", "--empty")
            shutil.rmtree(self.folder / RESULTS, ignore_errors=True)
        return head

    def restore(self) -> Path:
        """The folder of the results of earlier nights."""
        self.git("init", "--quiet", "--template=", "--object-format=sha1")
        results = self.folder / RESULTS
        try:
            # Bytes are kept as they are, whatever the machine or the branch says of line ends.
            (self.folder / ".git/info").mkdir(exist_ok=True)
            (self.folder / ".git/info/attributes").write_text(
                "* -text -eol -ident -filter -working-tree-encoding\n"
            )
            self.newest()
            results.mkdir(exist_ok=True)
        except OSError as error:
            raise self.unusable(error) from error
        return results

    def unusable(self, error: OSError) -> HistoryError:
        return HistoryError(
            f"the files of the branch {self.branch} could not be written: {error}; where they are"
            " no history of results, rename the branch, and a new one begins"
        )

    def save(self, results: Path, message: str) -> None:
        """Adds a night's results to the branch."""
        failures = 0
        while True:
            before = self.newest()
            try:
                shutil.copytree(results, self.folder / RESULTS, dirs_exist_ok=True)
            except OSError as error:
                raise self.unusable(error) from error
            self.git("add", "--force", RESULTS)
            if self.git("status", "--porcelain"):
                self.git("commit", "--quiet", "--no-verify", "-m", message)
            try:
                self.git("push", "--quiet", "--", self.url, f"HEAD:refs/heads/{self.branch}")
                return
            except HistoryError:
                if self.head() == before:
                    failures += 1
                if failures == ATTEMPTS:
                    raise
            time.sleep(random.uniform(0, PAUSE_S))


def history_at(url: str, branch: str, user: str, token: str, folder: Path) -> History:
    """Takes the login out of a URL that holds one: arguments and messages of git name the URL."""
    if os.path.exists(url):
        return History(os.path.abspath(url), branch, user, token, folder)
    parts = urlsplit(url)
    if parts.scheme in {"http", "https"} and "@" in parts.netloc:
        login, _, host = parts.netloc.rpartition("@")
        name, _, password = login.partition(":")
        if not token:
            # A token alone, as in https://TOKEN@host/, is a password of any name.
            user, token = (unquote(name), unquote(password)) if password else (user, unquote(name))
        url = parts._replace(netloc=host).geturl()
    return History(url, branch, user, token.strip(), folder)
