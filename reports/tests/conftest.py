# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

NOW = datetime(2026, 11, 29, 6, 0, tzinfo=UTC)
SNAPSHOTS = Path(__file__).parent / "snapshots"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--approve", action="store_true", help="Write the snapshots anew; read the difference."
    )


@pytest.fixture
def approved(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the approved one of that name."""

    def compare(name: str, text: str) -> None:
        file = SNAPSHOTS / name
        if request.config.getoption("--approve"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")

    return compare
