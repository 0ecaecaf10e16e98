# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the trend page that the documentation shows.

bandgate-report demo --out demo --end 2026-11-29T06:00:00Z
bandgate-report trend demo --out report --now 2026-11-29T06:00:00Z
python reports/tests/pictures.py report/index.html docs/images
"""

import io
import sys
from pathlib import Path
from typing import Any

from PIL import Image

from browser import opened, started


def _kept(shot: bytes, file: Path) -> None:
    """In 128 colours: a page has no more, and the file is a third of the size."""
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image.quantize(128, dither=Image.Dither.NONE).save(file, optimize=True)


def main(page: Path, folder: Path) -> None:
    size: dict[str, Any] = {"viewport": {"width": 1240, "height": 1020}, "device_scale_factor": 1.5}
    with started() as browser:
        with opened(browser, page, **size) as found:
            _kept(found.page.screenshot(), folder / "trend.png")
        where = "#status=regression&node=demo-n04"
        with opened(browser, page, where, color_scheme="dark", **size) as found:
            found.page.locator("td button:visible").first.click()
            found.page.locator("#verdicts").evaluate("one => one.scrollIntoView()")
            found.page.locator(".plot").hover(position={"x": 700, "y": 120})
            _kept(found.page.screenshot(), folder / "trend_dark.png")
        narrow: dict[str, Any] = {
            "viewport": {"width": 390, "height": 844},
            "device_scale_factor": 1.5,
        }
        with opened(browser, page, **narrow) as found:
            _kept(found.page.screenshot(), folder / "trend_phone.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
