# SPDX-License-Identifier: Apache-2.0
"""ci/cdash/nightly.cmake on scripted devices: what it leaves in Test.xml, what it sends, and that
it is red wherever something failed or nothing was judged."""

from __future__ import annotations

import base64
import http.server
import os
import re
import subprocess
import tempfile
import threading
import unittest
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlparse

from recipes import ROOT
from test_recipes import BROKEN, EMPTY, HEALTHY, SCRIPTED, red_paths


class Server(http.server.BaseHTTPRequestHandler):
    """As much of CDash as a submission needs."""

    received: ClassVar[dict[str, str]] = {}
    status = 200
    protocol_version = "HTTP/1.1"  # which answers curl at once

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode(errors="replace")
        query = parse_qs(urlparse(self.path).query)
        self.received[query["FileName"][0].rsplit("___", 1)[-1]] = body
        self.send_response(self.status)
        answer = b"<cdash><status>OK</status></cdash>"
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


def output(value: ElementTree.Element | None) -> str:
    """CTest packs a long one."""
    text = (value is not None and value.text) or ""
    if value is not None and value.get("compression") == "gzip":
        text = zlib.decompress(base64.b64decode(text)).decode()
    return text


class Night(unittest.TestCase):
    def setUp(self) -> None:
        program = os.environ.get("BANDGATE")
        if not program:
            self.skipTest("set BANDGATE to the program")
        folder = tempfile.TemporaryDirectory(prefix="bandgate cdash ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = Path(program).resolve()

    def night(self, backend: str, *definitions: str) -> tuple[int, str]:
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("BANDGATE", "CTEST_"))
        } | {"BANDGATE_BACKEND": backend, "BANDGATE_REPORT_COMMAND": "/nonexistent"}
        options = [f"-DBANDGATE_PROGRAM={self.program}", *definitions]
        done = subprocess.run(
            ["ctest", *options, "-S", str(ROOT / "ci/cdash/nightly.cmake")],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def cases(self) -> dict[str, tuple[str, str]]:
        """Status and output of each case in Test.xml."""
        [file] = self.folder.glob("bandgate-nightly/Testing/2*/Test.xml")
        cases = ElementTree.parse(file).getroot().iter("Test")
        return {
            case.findtext("Name", ""): (
                case.get("Status", ""),
                output(case.find("Results/Measurement/Value")),
            )
            for case in cases
            if case.get("Status")
        }

    def test_green_has_judged(self) -> None:
        code, said = self.night(HEALTHY)
        self.assertEqual(code, 0, said)
        self.assertIn("\njudged 5 of 5\n", said)
        statuses = {status for status, _ in self.cases().values()}
        self.assertEqual(statuses, {"passed", "notrun"})  # the latter is the report
        # The second run of a day leaves nothing of the first to read or to send.
        code, said = self.night(HEALTHY, "-DBANDGATE_PROGRAM=BANDGATE_PROGRAM-NOTFOUND")
        self.assertEqual(code, 255, said)
        self.assertIn("configuring failed", said)
        self.assertEqual(list(self.folder.rglob("Test.xml")), [])

    def test_red_paths(self) -> None:
        for backend, _, cause in red_paths(self.folder):
            with self.subTest(backend):
                code, said = self.night(backend)
                self.assertEqual(code, 255, said)
                self.assertRegex(said, r"bandgate nightly: tests\s+failed: ")
                failed = [text for status, text in self.cases().values() if status == "failed"]
                self.assertIn(cause, "\n".join(failed))

    def test_regression_is_sent_with_its_measurements(self) -> None:
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_address[1]}/submit.php?project=gpus"
            server_options = (f"-DCTEST_SUBMIT_URL={url}", "-DCTEST_SUBMIT_RETRY_DELAY=0")
            code, said = self.night(SCRIPTED.format("slow-5-percent"), *server_options)
            Server.status = 500
            refused, words = self.night(HEALTHY, *server_options)
            server.shutdown()
        self.assertEqual(code, 255, said)
        failed = " ".join(said.split()).partition("tests failed: ")[2].partition(";")[0]
        self.assertEqual(
            set(failed.split()), {f"bandgate.gpu0.{probe}" for probe in ("copy", "read", "write")}
        )
        kinds = {name.split("-")[-1] for name in Server.received}
        self.assertLessEqual({"Configure.xml", "Build.xml", "Test.xml", "Notes.xml"}, kinds)
        [tests] = [text for name, text in Server.received.items() if "Test.xml" in name][:1]
        self.assertRegex(tests, r'numeric/double" name="read GiB/s">\s*<Value>4[0-9]{3}\.')
        self.assertEqual(refused, 255, words)
        self.assertIn("submitting failed", words)

    def test_a_broken_program(self) -> None:
        broken = self.folder / "broken"
        for text, cause in ((BROKEN, "symbol lookup error"), (EMPTY, "printed no")):
            broken.write_text(text)
            broken.chmod(0o755)
            code, said = self.night(HEALTHY, f"-DBANDGATE_PROGRAM={broken}")
            self.assertEqual(code, 255, said)
            status, text = self.cases()["bandgate.DISCOVERY_FAILED"]
            self.assertEqual(status, "failed")
            self.assertIn(cause, text)

    def test_a_folder_that_cmake_takes_for_two(self) -> None:
        other = self.folder / "site"
        other.mkdir()
        code, said = self.night(HEALTHY, f"-DCTEST_BINARY_DIRECTORY={other};old")
        self.assertEqual(code, 255, said)
        self.assertIn("site;old: holds a semicolon; name another", " ".join(said.split()))
        self.assertTrue(other.is_dir())

    def test_a_suite_that_is_none(self) -> None:
        code, said = self.night(HEALTHY, "-DBANDGATE_SUITE=nights")
        self.assertEqual(code, 255, said)
        said = " ".join(said.split())
        self.assertIn("tests failed: none was found for suite nights, or ctest broke off,", said)

    def test_a_project_that_does_not_build(self) -> None:
        project = self.folder / "project"
        project.mkdir()
        text = "cmake_minimum_required(VERSION 3.25)\nproject(a LANGUAGES NONE)\n"
        bad = text + "add_custom_target(bad ALL COMMAND false)\n"
        for body, cause in ((bad, "building failed"), (text, "nothing was judged")):
            (project / "CMakeLists.txt").write_text(body)
            code, said = self.night(HEALTHY, f"-DCTEST_SOURCE_DIRECTORY={project}")
            self.assertEqual(code, 255, said)
            self.assertIn(cause, " ".join(said.split()))
            self.assertTrue(re.search("CMake Error", said))


if __name__ == "__main__":
    unittest.main()
