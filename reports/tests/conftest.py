# SPDX-License-Identifier: Apache-2.0
import gc
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

NOW = datetime(2026, 11, 29, 6, 0, tzinfo=UTC)
SNAPSHOTS = Path(__file__).parent / "snapshots"
# What changes the width or the colours of what is printed. pytest-xdist's workers have the size of
# some terminal (COLUMNS) from the process that starts them.
OF_THE_TERMINAL = (
    "COLUMNS",
    "LINES",
    "TERMINAL_WIDTH",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--approve", action="store_true", help="Write the snapshots anew; read the difference."
    )


def pytest_collection_finish() -> None:
    """All that is imported stays to the end, and need not be looked through again and again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """All tests of a file in one process: what its fixtures make is made once."""
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - tests run without xdist, too

    return LoadFileScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture(autouse=True)
def surroundings() -> Iterator[None]:
    """The same for every test, wherever it runs, and left as they were found."""
    with pytest.MonkeyPatch.context() as own:
        for name in OF_THE_TERMINAL:
            own.delenv(name, raising=False)
        before = _environment(), Path.cwd()
        yield
        assert (_environment(), Path.cwd()) == before


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


@pytest.fixture
def approved(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the approved one of that name."""

    def compare(name: str, text: str) -> None:
        file = SNAPSHOTS / name
        if request.config.getoption("--approve"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")

    return compare


@dataclass(frozen=True)
class Done:
    code: int
    stdout: bytes
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """A command in this process, as bandgate-report starts it: a process of its own takes longer
    than all that it does. Further names are variables of its environment."""

    from bandgate_reports.commands import cli  # noqa: PLC0415 - not for what starts the workers

    def command(*arguments: str | Path, data: bytes = b"", **environment: str) -> Done:
        with monkeypatch.context() as own:
            for name, value in environment.items():
                own.setenv(name, value)
            own.setattr(sys, "argv", ["bandgate-report", *map(str, arguments)])
            own.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            with pytest.raises(SystemExit) as ended:
                cli.main()
        said = capfdbinary.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err.decode())

    return command


def process(
    *arguments: str | Path, environment: dict[str, str] | None = None, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """`python -m bandgate_reports`, where what is tested is the process."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "bandgate_reports", *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | (environment or {}),
        check=False,
        timeout=120,
    )
