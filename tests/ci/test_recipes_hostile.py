# SPDX-License-Identifier: Apache-2.0
"""ci/nightly in a world that is against it: never the exit code of a regression where none was
measured, a cause of every other one, and a summary wherever one can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

from recipes import DRILLS, ROOT, Recipe

sys.path.insert(0, str(ROOT / "ci"))

import nightly
import nightly_summary as summary

HEALTHY = f"scripted:{DRILLS}/healthy-h200.json"


class Hostile(Recipe):
    def night(self, *options: str, **environment: str | bytes) -> tuple[int, str]:
        self.jobs += 1
        self.out = self.folder / f"night {self.jobs}"
        done = subprocess.run(
            [str(ROOT / "ci/nightly"), "--out", str(self.out), *options],
            cwd=self.folder,
            env={**self.environment, "BANDGATE_BACKEND": HEALTHY, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        said = done.stdout.decode()
        return done.returncode, said

    def summary(self) -> str:
        return (self.out / "summary.md").read_text(encoding="utf-8")

    def test_names_of_runners(self) -> None:
        long = "x" * 300
        for name, shown in (
            ('a b/c "q"\n::error::x', 'a b/c "q" ::error::x'),
            (b"\xff\xfegpu\x01\x1b[31m", "gpu [31m"),
            (long, long[:100]),
            ("\u00fc", "\u00fc"),
        ):
            # Python's encoding of a terminal that knows ASCII alone.
            code, said = self.night(RUNNER_NAME=name, LC_ALL="C", PYTHONIOENCODING="ascii")
            self.assertEqual(code, 0, said)
            self.assertEqual(said.splitlines()[-1], f"Bandgate on {shown}: green, judged 5 of 6")
            self.assertIn(f"# Bandgate on {shown}: green", self.summary())
            case = ElementTree.parse(self.out / "junit/job.xml").find("testsuite/testcase")
            assert case is not None
            self.assertEqual(case.get("classname"), f"bandgate.{shown}")

    def test_a_page_of_the_step_that_cannot_be_written(self) -> None:
        code, said = self.night(GITHUB_STEP_SUMMARY="/no/such/page", GITHUB_ACTIONS="true")
        self.assertEqual(code, 2, said)
        self.assertIn("::error title=bandgate nightly::/no/such/page could not be written", said)
        self.assertIn("red, exit code 2, judged 5 of 6", self.summary())

    def test_a_folder_that_cannot_be_made(self) -> None:
        (self.folder / "file").touch()
        command = f"'{ROOT}/ci/nightly' --out file/night"
        code, said = self.shell(command, self.folder, {})
        self.assertEqual(code, 2)
        self.assertIn("file/night: cannot be written: Not a directory; name another", said)

    def test_what_nobody_thought_of(self) -> None:
        """A folder of this name, and the report that is to be read cannot be."""
        self.program(
            "bandgate-report", '#!/bin/bash\nwhile [ "$1" != --out ]; do shift; done\nmkdir "$2"\n'
        )
        code, said = self.night()
        self.assertEqual(code, 2, said)
        self.assertIn("- the night broke off: IsADirectoryError: ", self.summary())

    def test_reports_that_do_not_end(self) -> None:
        deaf = "#!/bin/bash\ntrap '' TERM\nsleep 30 &\nwait\n"
        for text in ("#!/bin/bash\nsleep 30\n", deaf):
            self.program("bandgate-report", text)
            night = nightly.Night(self.folder, [])
            with (
                mock.patch.object(nightly, "REPORT_LIMIT_S", 0.2),
                mock.patch.object(nightly, "STOP_S", 0.1),
            ):
                nightly.write_reports(night, str(self.bin / "bandgate-report"), [])
            self.assertEqual(night.code, 2)
            names = ("markdown", "junit", "prometheus", "trend")
            causes = [f"bandgate-report {name} did not end within 0.2 s" for name in names]
            self.assertEqual(night.causes, causes)

    def test_a_report_that_is_killed_did_not_take_too_long(self) -> None:
        self.program("bandgate-report", "#!/bin/bash\nkill -KILL $$\n")
        code, said = self.night()
        self.assertEqual(code, 2, said)
        self.assertIn("bandgate-report trend ended with 137", self.summary())
        self.assertNotIn("did not end within", self.summary())

    def test_programs_that_are_none(self) -> None:
        for name in ("BANDGATE", "BANDGATE_REPORT_COMMAND"):
            for path in ("/tmp", "/etc/passwd"):
                code, said = self.night(**{name: path})
                self.assertEqual(code, 127 if name == "BANDGATE" else 2, said)
                self.assertRegex(self.summary(), f"{path}\\S*: Permission denied")

    def test_a_program_that_says_too_much(self) -> None:
        flood = "#!/bin/bash\nhead -c 9000000 /dev/zero\nhead -c 300000 /dev/urandom\nexit 3\n"
        self.program("bandgate", flood)
        command = f"ulimit -v 200000; '{ROOT}/ci/nightly' --out flood >/dev/null"
        code, said = self.shell(command, self.folder, {})
        self.assertEqual(code, 3, said)
        self.assertLess((self.folder / "flood/summary.md").stat().st_size, 100_000)
        ElementTree.parse(self.folder / "flood/junit/job.xml")

    def test_a_log_that_takes_nothing(self) -> None:
        command = f"'{ROOT}/ci/nightly' --out n >/dev/full"
        code, said = self.shell(command, self.folder, {"BANDGATE_BACKEND": HEALTHY})
        self.assertEqual(code, 0, said)
        self.assertTrue((self.folder / "n/summary.md").exists())

    def test_a_python_that_is_too_old(self) -> None:
        self.program("python3", "#!/bin/sh\nexit 1\n")
        code, said = self.night()
        self.assertEqual(code, 2)
        self.assertIn("python3 of PATH is missing or older than 3.10", said)

    def test_a_program_that_does_not_hear_that_the_job_stops(self) -> None:
        """Interrupted twice, as runners do, with words of its own in the summary."""
        self.program(
            "bandgate",
            "#!/bin/bash\ntrap '' TERM INT\necho at it\ntouch begun\nexec sleep 30\n",
        )
        script = f"""'{ROOT}/ci/nightly' --out stopped & job=$!
        until [ -e begun ]; do sleep 0.1; done
        kill -TERM $job; sleep 0.2; kill -TERM $job; wait $job"""
        code, said = self.shell(script, self.folder, {})
        self.assertEqual(code, 143, said)
        self.assertNotIn("Traceback", said)
        text = (self.folder / "stopped/summary.md").read_text()
        self.assertIn("- the job was stopped before it was done", text)
        self.assertIn("at it", text)

    def test_a_history_without_git(self) -> None:
        for name in ("bash", "dirname", "cat", "mkdir"):
            (self.bin / name).symlink_to(str(shutil.which(name)))
        (self.bin / "python3").symlink_to(os.path.realpath("/usr/bin/python3"))
        code, said = self.night(PATH=str(self.bin), BANDGATE_HISTORY_URL=str(self.history))
        self.assertEqual(code, 2, said)
        self.assertIn("- the history could not be saved: git ls-remote: ", self.summary())
        self.assertIn("judged 5 of 6", self.summary())

    def test_a_history_at_what_is_no_address(self) -> None:
        code, said = self.night(BANDGATE_HISTORY_URL="https://me:secret@[::1")
        self.assertEqual(code, 2, said)
        self.assertIn("- no history is kept: BANDGATE_HISTORY_URL is no URL", self.summary())
        self.assertIn("judged 5 of 6", self.summary())
        self.assertNotIn("secret", said + self.summary())

    def test_programs_see_no_secret(self) -> None:
        self.program("bandgate", "#!/bin/bash\nenv\n")
        url = "https://me:secret@localhost:1/a.git"
        _, said = self.night(BANDGATE_HISTORY_URL=url, BANDGATE_HISTORY_TOKEN="secret too")
        self.assertIn("BANDGATE_NODE=", said)
        self.assertNotIn("secret", said + self.summary())


class Texts(unittest.TestCase):
    def test_an_annotation_is_one(self) -> None:
        self.assertEqual(
            summary.annotation("GPU 5 %0A::error::x\n::add-mask::y"),
            "GPU 5 %250A::error::x ::add-mask::y",
        )

    def test_a_page_is_cut_where_github_would_refuse_it(self) -> None:
        page = summary.for_github("# \u00fc" + "\u2026" * 400_000)
        self.assertLess(len(page.encode()), 2**20)
        self.assertTrue(page.startswith("# \u00fc\u2026"))
        self.assertRegex(page, r"\u2026\n\n\(Cut here, since it is too long .*`summary.md`\.\)\n$")
        self.assertEqual(summary.for_github("short"), "short")


if __name__ == "__main__":
    unittest.main()
