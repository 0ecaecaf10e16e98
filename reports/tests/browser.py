# SPDX-License-Identifier: Apache-2.0
"""A real browser for tests, kept off every network."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable() -> str:
    """Of an installed Chromium. Where there is none the tests are skipped, unless
    BANDGATE_REQUIRE_BROWSER says that there has to be one."""
    found = next((path for name in NAMES if (path := shutil.which(name))), "")
    if not found and os.environ.get("BANDGATE_REQUIRE_BROWSER"):
        pytest.fail(f"BANDGATE_REQUIRE_BROWSER is set, and there is none of {', '.join(NAMES)}")
    if not found:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    return found


@contextmanager
def started() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(),
            # No sandbox: containers of CI systems run as root. Names resolve to nothing.
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"],
        )
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page, with everything that it complained of or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Browser, file: Path, address: str = "", **context: Any) -> Iterator[Opened]:
    """Fails where the page complains, or asks for anything but itself."""
    with browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | context) as own:
        found = Opened(own.new_page())

        def heard(message: ConsoleMessage) -> None:
            found.complaints.append(f"{message.type}: {message.text}")

        def asked(route: Route) -> None:
            found.requests.append(route.request.url)
            if route.request.url.split("#")[0] == file.as_uri():
                route.continue_()
            else:
                route.abort()

        found.page.on("console", heard)
        found.page.on("pageerror", lambda error: found.complaints.append(f"thrown: {error}"))
        own.route("**/*", asked)
        found.page.goto(file.as_uri() + address)
        yield found
    assert not found.complaints, found.complaints
    others = {url.split("#")[0] for url in found.requests} - {file.as_uri()}
    assert not others, others
