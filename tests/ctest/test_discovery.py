#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The discovery module with a scripted command line behind it."""

from __future__ import annotations

import json
import re
import unittest

from site_project import HERE, Run, Site, case, listing, overlapping


class Listing(Site):
    def test_each_device_and_probe_is_a_case(self) -> None:
        self.lists(
            listing(
                [
                    case("gpu0", "read", resources=["gpu0"]),
                    case("gpu0", "h2d", resources=["gpu0", "hostlink"], timeout_s=33, processors=2),
                ]
            )
        )
        cases = self.cases()
        self.assertEqual(
            sorted(cases),
            ["bandgate.gpu0.h2d", "bandgate.gpu0.read", "bandgate.judged", "bandgate.report"],
        )
        read, h2d = cases["bandgate.gpu0.read"], cases["bandgate.gpu0.h2d"]
        self.assertEqual(
            read["command"],
            [
                str(HERE / "fake_bandgate.sh"),
                "check",
                "read",
                "--device",
                "GPU-gpu0",
                "--ctest",
                "--results",
                str(self.folder / "results"),
            ],
        )
        self.assertEqual(sorted(read["LABELS"]), ["bandgate", "dram", "full", "gpu", "quick"])
        self.assertEqual(read["SKIP_RETURN_CODE"], 77)
        self.assertEqual(read["TIMEOUT"], 150)
        self.assertEqual(read["FIXTURES_REQUIRED"], ["bandgate"])
        self.assertNotIn("PROCESSORS", {k: v for k, v in read.items() if v != 1})
        self.assertEqual((h2d["TIMEOUT"], h2d["PROCESSORS"]), (33, 2))
        self.assertEqual(h2d["RESOURCE_LOCK"], ["gpu0", "hostlink"])
        self.assertEqual(
            [r[".type"] for r in h2d["RESOURCE_GROUPS"][0]["requirements"]], ["gpu0", "hostlink"]
        )
        for name in ("bandgate.judged", "bandgate.report"):
            self.assertEqual(cases[name]["FIXTURES_CLEANUP"], ["bandgate"])
        spec = json.loads((self.build / "bandgate-resources.json").read_text(encoding="utf-8"))
        slot = [{"id": "0", "slots": 1}]
        self.assertEqual(
            spec, {"version": {"major": 1, "minor": 0}, "local": [{"gpu0": slot, "hostlink": slot}]}
        )

    def test_odd_characters_survive(self) -> None:
        odd = ["a b", "x;y", "[z", "]=]", "$ENV{HOME} ${a}", 'q"\\', "\nline", "", "<é>"]
        self.lists(listing([case("gpu0", "read", resources=["gpu0"], arguments=["check", *odd])]))
        self.assertEqual(self.cases()["bandgate.gpu0.read"]["command"][1:-2], ["check", *odd])

    def test_devices_are_those_of_the_moment(self) -> None:
        self.lists(listing([case("gpu0", "read", resources=["gpu0"])]))
        self.assertIn("bandgate.gpu0.read", self.cases())
        self.lists(listing([case("gpu7", "read", resources=["gpu7"])]))
        cases = self.cases()
        self.assertIn("bandgate.gpu7.read", cases)
        self.assertNotIn("bandgate.gpu0.read", cases)

    def test_results_folder_of_the_environment_or_the_user(self) -> None:
        self.lists(listing([case("host", "read", resources=["hostlink"])]))
        cases = self.cases(BANDGATE_RESULTS="", XDG_DATA_HOME="/data")
        self.assertEqual(cases["bandgate.host.read"]["command"][-1], "/data/bandgate/results")
        cases = self.cases(BANDGATE_RESULTS="", XDG_DATA_HOME="", HOME="/h")
        expected = "/h/.local/share/bandgate/results"
        self.assertEqual(cases["bandgate.host.read"]["command"][-1], expected)
        self.assertEqual(
            cases["bandgate.judged"]["command"][1:4], ["judged", "--results", expected]
        )


class Options(Site):
    body = (
        "bandgate_discover_probes(bandgate STRICT RESULTS r BASELINES b1 [[b 2]] LABELS nightly)\n"
        "file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/other)\n"
        "file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/other/CMakeLists.txt [[\n"
        "  add_executable(mine IMPORTED)\n"
        "  get_target_property(at bandgate IMPORTED_LOCATION)\n"
        "  set_target_properties(mine PROPERTIES IMPORTED_LOCATION ${at})\n"
        "  bandgate_discover_probes(mine)]])\n"
        "add_subdirectory(${CMAKE_CURRENT_BINARY_DIR}/other ${CMAKE_CURRENT_BINARY_DIR}/other/b)\n"
    )

    def test_options_reach_the_cases_and_clean_up_is_declared_once(self) -> None:
        self.lists(listing([case("gpu0", "read", resources=["gpu0"])]))
        tests = self.show(BANDGATE_RESULTS="")
        names = [test["name"] for test in tests]
        self.assertEqual(names.count("bandgate.gpu0.read"), 2)
        self.assertEqual(names.count("bandgate.judged"), 1)
        own = [t for t in tests if "--baselines" in t["command"]]
        self.assertEqual(len(own), 1)
        self.assertEqual(
            own[0]["command"][-6:],
            [
                "--baselines",
                str(self.folder / "b1"),
                "--baselines",
                str(self.folder / "b 2"),
                "--results",
                str(self.folder / "r"),
            ],
        )
        properties = {p["name"]: p["value"] for p in own[0]["properties"]}
        self.assertIn("nightly", properties["LABELS"])
        self.assertEqual(properties["ENVIRONMENT"], ["BANDGATE_STRICT=1"])


class Excluded(Site):
    body = "bandgate_discover_probes(bandgate EXCLUDE copy write)"

    def test_probes_that_only_others_are_relative_to_are_no_cases(self) -> None:
        probes = ("copy", "mine", "write")
        self.lists(listing([case("gpu0", probe, resources=[probe]) for probe in probes]))
        names = [name for name in self.cases() if name.startswith("bandgate.gpu0")]
        self.assertEqual(names, ["bandgate.gpu0.mine"])
        spec = json.loads((self.build / "bandgate-resources.json").read_text(encoding="utf-8"))
        self.assertEqual(list(spec["local"][0]), ["mine"])

    def test_nothing_but_excluded_probes_is_a_failure(self) -> None:
        self.lists(listing([case("gpu0", "copy", resources=["gpu0"])]))
        done = self.ctest("-V")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"none but the excluded copy;write has a case here")


class Failing(Site):
    def failing_case(self, name: str, *patterns: str, **environment: str) -> None:
        self.assertIn(name, self.cases(**environment))
        done = self.ctest("-V", **environment)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, re.escape(name) + r" \.+\*\*\*Failed")
        for pattern in patterns:
            self.assertRegex(done.stdout, pattern)

    def test_exit_code(self) -> None:
        self.failing_case(
            "bandgate.DISCOVERY_FAILED", "result: 3", "driver: version 570.1", FAKE_LIST="fail"
        )

    def test_time_out(self) -> None:
        self.configure("bandgate_discover_probes(DISCOVERY_TIMEOUT 1)")
        self.failing_case("bandgate.DISCOVERY_FAILED", "nothing within 1 s", FAKE_LIST="hang")

    def test_documents_that_are_none(self) -> None:
        good = listing([case("gpu0", "read", resources=["gpu0"])])
        for content, reason in (
            ("", "no bandgate.devices/1 document"),
            ("Segmentation fault; [", "no bandgate.devices/1 document"),
            (json.dumps(good)[:-20], "no bandgate.devices/1 document"),
            (good | {"schema": "bandgate.devices/2"}, "no bandgate.devices/1 document"),
            (good | {"cases": [], "devices": [{"id": "gpu0"}]}, "it listed no case"),
            ({k: v for k, v in good.items() if k != "problems"}, "no list of problems"),
            (
                listing([case("gpu0", "read", resources=["gpu0"], timeout_s="soon")]),
                "of their type",
            ),
            (listing([case("gpu0", "read", resources=["gpu0"], arguments="x")]), "of their type"),
            (listing([case("gpu0", "read", resources=["GPU;0"])]), "GPU;0"),
            (listing([{"name": "x"}]), "lacks timeout_s"),
        ):
            with self.subTest(reason=reason, content=str(content)[:60]):
                self.lists(content)
                self.failing_case("bandgate.DISCOVERY_FAILED", reason)

    def test_not_built(self) -> None:
        self.configure("bandgate_discover_probes()", program=self.folder / "none")
        self.failing_case("bandgate.DISCOVERY_FAILED", "has not been built")

    def test_missing_devices_fail_beside_those_that_are_there(self) -> None:
        self.lists(
            listing(
                [case("gpu0", "read", resources=["gpu0"])],
                ["0000:3b:00.0 is in sysfs; the driver 580.1 does not list it", "7 of 8"],
            )
        )
        self.failing_case(
            "bandgate.DEVICES_MISSING",
            "0000:3b:00.0 is in sysfs; the driver",
            "7 of 8",
            r"bandgate\.gpu0\.read \.+ +Passed",
        )

    def test_a_backend_without_a_device_is_skipped_or_red_under_strict(self) -> None:
        self.lists(listing([]))
        self.assertEqual(
            self.cases()["bandgate.NO_DEVICE"]["command"][1:],
            ["check", "--backend", "cuda", "--results", "none"],
        )
        done = self.ctest(FAKE_EXIT="77")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"bandgate\.NO_DEVICE \.+\*\*\*Skipped")
        done = self.ctest(FAKE_EXIT="4", BANDGATE_STRICT="1")
        self.assertNotEqual(done.returncode, 0, done.stdout)

    def test_no_device_at_all_is_missing_not_failed_discovery(self) -> None:
        self.lists(listing([], ["driver library without a device"]))
        self.failing_case("bandgate.DEVICES_MISSING", "driver library without a device")
        self.assertNotIn("bandgate.DISCOVERY_FAILED", self.cases())


class Running(Site):
    def runs(self) -> list[Run]:
        """Each check that the fake logged, in nanoseconds."""
        found = []
        for line in self.log.read_text(encoding="utf-8").splitlines():
            start, end, arguments = line.split(" ", 2)
            device = re.search(r"\[GPU-(\w+)\]", arguments)
            assert device
            found.append((float(start), float(end), device[1]))
        return found

    def two_gpus(self) -> None:
        self.lists(
            listing(
                [
                    case(gpu, probe, resources=[gpu])
                    for gpu in ("gpu0", "gpu1")
                    for probe in ("read", "write", "copy")
                ]
            )
        )

    def test_gpus_overlap_and_probes_of_one_gpu_do_not(self) -> None:
        self.two_gpus()
        done = self.ctest("-j8", FAKE_SECONDS="0.3")
        self.assertEqual(done.returncode, 0, done.stdout)
        runs = self.runs()
        self.assertEqual(len(runs), 6)
        pairs = overlapping(runs)
        self.assertEqual([(a, b) for a, b in pairs if a[2] == b[2]], [])
        self.assertTrue(pairs, "the two GPUs never worked at once")

    def test_specification_alone_holds_probes_of_one_gpu_apart(self) -> None:
        # Called in a subdirectory, as consumers may; locks are taken out, so that only the resource
        # specification is left to do it.
        self.configure(
            "file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sub/CMakeLists.txt "
            "[[bandgate_discover_probes()]])\n"
            "add_subdirectory(${CMAKE_CURRENT_BINARY_DIR}/sub ${CMAKE_CURRENT_BINARY_DIR}/sub/b)"
        )
        script = self.build / "sub/b/bandgate_discover_bandgate.cmake"
        text = script.read_text(encoding="utf-8")
        self.assertIn("RESOURCE_LOCK [=[${locks}]=]", text)
        script.write_text(text.replace("RESOURCE_LOCK [=[${locks}]=]", ""), encoding="utf-8")
        self.two_gpus()
        done = self.ctest("-j8", FAKE_SECONDS="0.3")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual([(a, b) for a, b in overlapping(self.runs()) if a[2] == b[2]], [])

    def test_clean_up_runs_last_and_after_failures(self) -> None:
        self.two_gpus()
        done = self.ctest("-V", FAKE_EXIT="1")
        self.assertNotEqual(done.returncode, 0)
        order = re.findall(r"^ *\d+/8 Test +#\d+: (\S+)", done.stdout, re.MULTILINE)
        self.assertEqual(set(order[-2:]), {"bandgate.judged", "bandgate.report"})
        self.assertIn("/nonexistent/bandgate-report not found", done.stdout)
        self.assertRegex(done.stdout, r"bandgate\.report \.+\*\*\*Skipped")
        self.assertRegex(done.stdout, r"arguments: judged --results .*results --since 20\d\d-")

    def test_a_label_brings_the_clean_up_along(self) -> None:
        self.two_gpus()
        done = self.ctest("-L", "^quick$")
        self.assertIn("bandgate.judged", done.stdout)
        done = self.ctest("-LE", "^bandgate$")
        self.assertNotEqual(done.returncode, 0, "--no-tests=error")

    def test_report(self) -> None:
        report = self.folder / "bandgate-report"
        report.write_text('#!/bin/sh\necho "page of $*"\n', encoding="utf-8")
        report.chmod(0o755)
        (self.folder / "results").mkdir()
        self.two_gpus()
        done = self.ctest("-V", BANDGATE_REPORT_COMMAND=str(report), BANDGATE_REPORT_DIR="/out dir")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "page of trend .*/results --out /out dir --exit-zero\n")
        self.assertRegex(done.stdout, "Bandgate: results in .*, report .* in /out dir/index.html")
        drill = listing([case("gpu0", "read", resources=["gpu0"])]) | {"backend": "scripted:x"}
        self.lists(drill)
        done = self.ctest("-V", BANDGATE_REPORT_COMMAND=str(report))
        self.assertRegex(done.stdout, "page of trend .*--exit-zero --include-scripted\n")

    def test_skipped_cases_are_green_and_red_under_strict(self) -> None:
        self.two_gpus()
        done = self.ctest(FAKE_EXIT="77")
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.ctest(FAKE_EXIT="77", BANDGATE_STRICT="1")
        self.assertNotEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
