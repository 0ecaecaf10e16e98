# SPDX-License-Identifier: Apache-2.0
"""What docs/schedulers.md shows: its outputs to the letter, and its scripts."""

import json
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest
from conftest import DRILLS, ROOT, Bandgate

PAGE = (ROOT / "docs" / "schedulers.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of the page in that language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def here(bandgate: Bandgate, text: str) -> str:
    """The page's places, in a test's folder."""
    text = text.replace("/srv/bandgate/results", str(bandgate.results))
    return text.replace("/usr/bin/bandgate", "bandgate")


def on_path(bandgate: Bandgate, tmp_path: Path) -> dict[str, str]:
    """An environment in which `bandgate` is the program under test, on a slow scripted card."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    link = folder / "bandgate"
    if not link.exists():
        link.symlink_to(bandgate.program)
    return bandgate.env() | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "BANDGATE_BACKEND": f"scripted:{DRILLS}/slow-5-percent.json",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }


def test_every_output_of_the_page_is_what_is_printed(bandgate: Bandgate, tmp_path: Path) -> None:
    shown = re.findall(r"^\$ (bandgate .*)\n((?:(?!\$|```).*\n)*)", PAGE, re.MULTILINE)
    assert len(shown) == 7
    for command, text in shown:
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=on_path(bandgate, tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.stdout == text, command


def test_the_page_shows_every_row_of_the_table() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", PAGE, re.MULTILINE)
    assert dict(rows) == {
        "pass": "OK 0 | 0 | 0 | none | 0",
        "improved": "WARNING 1 | 0 | 0 | warning | 0",
        "unstable": "WARNING 1 | 0 | 0 | warning | 0",
        "regression": "CRITICAL 2 | 1 | 1 | error | 1",
        "error": "CRITICAL 2 | 1 | 3 | error | 3",
        "inconclusive": "UNKNOWN 3 | 2 | 0, not judged | warning | 4",
        "stale": "UNKNOWN 3 | 2 | 0, not judged | warning | 4",
        "no-baseline": "UNKNOWN 3 | 2 | 0, not judged | warning | 77, strict 4",
        "skipped": "UNKNOWN 3 | 2 | 0, not judged | notice | 77, strict 4",
        "configuration": "UNKNOWN 3 | 2 | 0, not judged | error | 2",
    }


def test_the_json_of_the_page_is_a_plugin_that_npd_accepts() -> None:
    (text,) = blocks("json")
    plugin = json.loads(text)
    assert plugin["plugin"] == "custom"
    known = {condition["type"] for condition in plugin["conditions"]}
    for rule in plugin["rules"]:
        assert rule["type"] == "permanent" and rule["condition"] in known
        assert "--format" in rule["args"] and "npd" in rule["args"]


def test_the_nhc_check_of_the_page_drains_on_a_regression_only(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    (function,) = [block for block in blocks("bash") if "function check_bandgate" in block]
    # What NHC does: it sources the script, runs the line of its configuration, and dies of a code.
    nhc = tmp_path / "nhc"
    nhc.write_text(
        f'#!/bin/bash\nfunction die() {{ echo "DRAINED $*"; }}\n{function}\n'
        'check_bandgate\necho "returned $?"\n'
    )
    nhc.chmod(nhc.stat().st_mode | stat.S_IXUSR)
    env = on_path(bandgate, tmp_path)

    def run(script: str) -> str:
        stored = {"BANDGATE_BACKEND": f"scripted:{DRILLS}/{script}.json"}
        subprocess.run(
            [str(bandgate.program), "check", "read"],
            env=env | stored,
            check=False,
            stdout=subprocess.DEVNULL,
        )
        return subprocess.run(
            [str(nhc)], env=env | stored, capture_output=True, text=True, check=False
        ).stdout

    assert run("slow-5-percent").startswith("DRAINED 1 bandgate: 0000:1b:00.0 read: regression: ")
    assert run("slow-5-percent").endswith("returned 1\n")
    assert run("healthy-h200").endswith("returned 0\n")
    unclear = run("slope-within-bounds")
    assert "DRAINED" not in unclear and unclear.endswith("returned 0\n")
    assert unclear.startswith("bandgate: not judged: 0000:1b:00.0 read: inconclusive: ")

    def ended_with(code: int, said: str = "") -> str:
        fake = tmp_path / "fake" / "bandgate"
        fake.parent.mkdir(exist_ok=True)
        executable(fake, f"#!/bin/bash\necho '{said}'\nexit {code}\n")
        path = {"PATH": f"{fake.parent}:{env['PATH']}"}
        return subprocess.run(
            [str(nhc)], env=env | path, capture_output=True, text=True, check=False
        ).stdout

    for code in (2, 4, 77, 126, 127, 137):
        out = f"bandgate: not judged: the program ended with {code}\nreturned 0\n"
        assert ended_with(code) == out
    assert "with 2: usage" in ended_with(2, "usage")
    assert ended_with(3, "bandgate: gone").startswith("DRAINED 1 bandgate: gone\n")


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


class Jobs:
    """The scripts of the page around a job, on scripted devices."""

    def __init__(self, bandgate: Bandgate, folder: Path) -> None:
        scripts = [block for block in blocks("bash") if block.startswith("#!/bin/bash")]
        named = {block.splitlines()[1].split()[1].rsplit("/", 1)[-1]: block for block in scripts}
        assert set(named) == {
            "bandgate-job",
            "prolog.sh",
            "epilog.sh",
            "prologue",
            "epilogue",
        }
        self.folder = folder
        self.files = {name: executable(folder / name, text) for name, text in named.items()}
        self.env = on_path(bandgate, folder) | {
            "BANDGATE_JOB": str(self.files["bandgate-job"]),
            "BANDGATE_PROGRAM": str(bandgate.program),
            "BANDGATE_MARKS": str(folder),
            "SLURM_JOB_ID": "42",
        }
        self.log = folder / "log"
        executable(folder / "bin" / "logger", f'#!/bin/bash\necho "$@" >> {self.log}\n')

    def __call__(self, name: str, drill: str, *arguments: str, **env: str) -> tuple[int, str]:
        """Exit code and what was logged."""
        self.log.write_text("")
        backend = {"BANDGATE_BACKEND": f"scripted:{DRILLS}/{drill}.json"}
        ended = subprocess.run(
            [str(self.files[name]), *arguments],
            env=self.env | backend | env,
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.returncode, self.log.read_text() + ended.stdout

    @property
    def mark(self) -> Path:
        return self.folder / "bandgate.42.mark"


SLURM: tuple[tuple[str, ...], tuple[str, ...]] = (("prolog.sh",), ("epilog.sh",))
ANY: tuple[tuple[str, ...], tuple[str, ...]] = (("prologue", "42"), ("epilogue", "42"))


@pytest.mark.parametrize(("system", "drained"), [(SLURM, 1), (ANY, 0)])
def test_around_a_job_only_harm_drains(
    bandgate: Bandgate,
    tmp_path: Path,
    system: tuple[tuple[str, ...], tuple[str, ...]],
    drained: int,
) -> None:
    jobs = Jobs(bandgate, tmp_path)
    (before, *job), (after, *_) = system

    def drains(drill: str, **env: str) -> tuple[bool, str]:
        code, said = jobs(after, drill, *job, **env)
        assert code in (0, drained)
        return code == 1 or "drain " in said, said

    assert jobs(before, "job-before", *job) == (0, "")
    assert jobs.mark.exists()
    assert drains("job-before") == (False, "")
    assert not jobs.mark.exists()

    assert jobs(before, "job-before", *job) == (0, "")
    harm, said = drains("job-after")
    assert harm
    assert "job 42: after it the doctor ended with 1" in said
    assert "412 s of hardware thermal slowdown" in said

    assert jobs(before, "job-before", *job)[0] == 0
    assert drains("no-device")[0]  # 3: it was there at the mark

    harm, said = drains("job-after")
    assert not harm and "ended with 2" in said  # no mark
    assert jobs(before, "no-device", *job)[0] == 0
    harm, said = drains("no-device")
    assert not harm and "ended with 77" in said
    for lost in ("missing-gpu", "dead-card"):
        code, said = jobs(before, lost, *job)
        assert code == 0 and "before it the doctor ended with 3" in said
    missing = {"BANDGATE_PROGRAM": "/no/such/bandgate"}
    code, said = jobs(before, "job-before", *job, **missing)
    assert code == 0 and "ended with 127" in said
    harm, said = drains("job-after", **missing)
    assert not harm and "ended with 127" in said
    absent = {"BANDGATE_JOB": "/no/such/script"}
    assert jobs(before, "job-before", *job, **absent)[0] == 0
    assert drains("job-after", **absent) == (False, "")


def test_every_night_by_cron_and_by_systemd(bandgate: Bandgate, tmp_path: Path) -> None:
    env = on_path(bandgate, tmp_path) | {"BANDGATE_BACKEND": f"scripted:{DRILLS}/healthy-h200.json"}
    (line,) = blocks("cron")
    cron = re.fullmatch(r"\d+ \d+ \* \* \* root (.*) 2>&1 \| logger -t bandgate\n", line)
    service = re.search(r"^ExecStart=(.*)$", "\n".join(blocks("ini")), re.MULTILINE)
    assert cron and service and cron[1] == service[1]
    ended = subprocess.run(
        ["bash", "-c", here(bandgate, cron[1])], env=env, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended
    assert len(bandgate.stored()) == 30
    assert "SuccessExitStatus=77" in "".join(blocks("ini"))
