# SPDX-License-Identifier: Apache-2.0
"""Prints "passed failed skipped" of a JUnit file and its runner's exit code. A runner that failed
without a failed case, or that ran no case at all, has failed once."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def count(junit: str, exit_code: int) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    for case in ET.fromstring(junit).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in {"notrun", "disabled"}:
            skipped += 1
        else:
            passed += 1
    if failed == 0 and (exit_code != 0 or passed == 0):
        failed = 1
    return passed, failed, skipped


if __name__ == "__main__":
    print(*count(Path(sys.argv[1]).read_text(encoding="utf-8"), int(sys.argv[2])))
