# SPDX-License-Identifier: Apache-2.0
"""ci/slurm/healthcheck against a Slurm of files: whom it drains, resumes, and leaves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import unittest

from slurm_fakes import PROGRAMS, Slurm

SLOW = "bandgate: gpu0 read: regression: 4087.0 GiB/s, below 4260.0 GiB/s"
GONE = "bandgate: gpu0 read: error: GPU lost"
WELL = "bandgate: 5 of 5 passed"


class Drains(Slurm):
    def test_a_bad_card_drains_with_its_verdict_as_the_reason(self) -> None:
        for said, code in ((SLOW, 1), (GONE, 3)):
            self.nodes("n1|main*|idle|none", "n2|main*|idle|none")
            self.says(said, code)
            ended = self.call("healthcheck")
            self.assertEqual(ended.code, 0, ended)
            self.assertEqual(self.node(), f"drained|{said}")
            self.assertIn(f"verdict={code}\nsaid={said}\n", self.state("verdict"))

    def test_nothing_else_drains(self) -> None:
        for said, code in (
            (WELL, 0),
            ("bandgate: not judged: inconclusive: contended", 0),
            ("bandgate: not judged: skipped: no device", 0),
            ("bandgate: not judged: configuration: broken.json", 0),
            ("", 0),
            ("usage", 2),
            ("", 4),
            ("", 77),
            ("", 126),
            ("", 127),
            ("", 137),
        ):
            self.says(said, code)
            ended = self.call("healthcheck", "--now")
            self.assertEqual((ended.code, self.updates(), self.node()), (0, [], "idle|none"))
            self.assertIn(f"said={said}" if said == WELL else "not judged", self.state("verdict"))
            if said != WELL:
                self.assertIn("not judged", self.read("log"))

    def test_with_the_real_program(self) -> None:
        self.call("healthcheck", **self.real("slow-5-percent"))
        self.assertRegex(self.node(), r"^drained\|bandgate: gpu0 copy: regression: 3797\.0 ")
        self.call("healthcheck", **self.real("healthy-h200"))
        self.assertEqual(self.node(), "idle|none")

    def test_a_long_reason_is_cut_and_a_hostile_one_stays_one_word(self) -> None:
        self.says('bandgate: "$(touch hacked)" `x`; ' + "yy " * 500, 1)
        self.call("healthcheck")
        self.assertLessEqual(len(self.node()), len("drained|") + 200)
        self.assertTrue(self.node().endswith(" yy..."))
        self.assertIn('"$(touch hacked)" `x`; yy', self.node())

    def test_a_dry_run_changes_nothing(self) -> None:
        self.says(SLOW, 1)
        ended = self.call("healthcheck", "--dry-run")
        self.assertEqual((ended.code, self.updates()), (0, []))
        self.assertIn(f"dry run: drained n1: {SLOW}", ended.err)

    def test_what_does_not_end_is_stopped_and_an_error_among_its_results_counts(self) -> None:
        (self.folder / "sleep").write_text("60")
        self.says(GONE, 3, "status")
        self.call("healthcheck", BANDGATE_SLURM_LIMIT="1s")
        self.assertEqual(self.node(), f"drained|{GONE}")
        # A loss that no second process confirmed is none.
        self.nodes("n1|main*|idle|none")
        self.says(SLOW, 1, "status")
        self.call("healthcheck", BANDGATE_SLURM_LIMIT="1s")
        self.assertEqual(self.node(), "idle|none")
        self.assertIn("check did not end in time", self.state("verdict"))

    def test_a_process_that_cannot_be_killed_gets_no_second_one(self) -> None:
        # The test itself stands for it.
        with open(f"/proc/{os.getpid()}/stat") as stat:
            since = stat.read().rsplit(")", 1)[1].split()[19]
        stuck = self.folder / "state/n1/stuck"
        stuck.parent.mkdir(parents=True)
        stuck.write_text(f"{os.getpid()} {since}\n")
        self.call("healthcheck")
        self.assertIn("drained|bandgate: a process of an earlier check hangs", self.node())
        self.assertEqual(self.read("measured"), "")
        self.nodes("n1|main*|idle|none")
        stuck.write_text(f"{os.getpid()} 1\n")  # another process has its number by now
        self.says(WELL)
        self.call("healthcheck")
        self.assertEqual(self.node(), "idle|none")
        self.assertFalse(stuck.exists())


class LeavesAlone(Slurm):
    def test_what_a_person_drained_and_what_is_not_idle(self) -> None:
        self.says(SLOW, 1)
        for line in (
            "drained|fan is broken",
            "drained|Not responding",
            "drained|Epilog error",
            "drained|see bandgate: x",
            "draining|bandgate: gpu0",
            "drained*|bandgate: gpu0",
            "drained|bandgate: job 7: 412 s of hardware thermal slowdown",
            "allocated|none",
            "mixed|none",
            "completing|none",
            "planned|none",
            "down*|none",
            "maint|none",
            "reserved|none",
            "idle*|none",
        ):
            self.nodes(f"n1|main*|{line}")
            ended = self.call("healthcheck")
            self.assertEqual((ended.code, self.node(), self.read("measured")), (0, line, ""))
        self.assertEqual(self.updates(), [])

    def test_a_slurm_that_does_not_answer(self) -> None:
        self.says(SLOW, 1)
        (self.folder / "broken").touch()
        self.assertEqual(self.call("healthcheck").code, 0)
        self.nodes("n2|main*|idle|none")
        (self.folder / "broken").unlink()
        self.assertEqual(self.call("healthcheck").code, 0)
        self.assertEqual((self.read("measured"), self.updates()), ("", []))

    def test_a_node_that_was_found_well_lately(self) -> None:
        self.says(WELL)
        for _ in range(3):
            self.call("healthcheck")
        self.assertEqual(self.read("measured").count("check"), 1)
        self.call("healthcheck", BANDGATE_SLURM_EVERY="0s")
        self.assertEqual(self.read("measured").count("check"), 2)

    def test_two_at_once_measure_once(self) -> None:
        self.says(WELL)
        (self.folder / "sleep").write_text("1")
        first = self.start("healthcheck")
        while not self.read("measured"):
            time.sleep(0.05)
        second = self.call("healthcheck", "--now")
        first.communicate()
        self.assertEqual((first.returncode, second.code), (0, 0))
        self.assertEqual(self.read("measured").count("check"), 1)

    def test_a_killed_one_leaves_no_measurement_behind(self) -> None:
        (self.folder / "sleep").write_text("30")
        killed = self.start("healthcheck", BANDGATE_SLURM_LIMIT="40s")
        while not self.read("measured"):
            time.sleep(0.05)
        child = subprocess.run(
            ["pgrep", "-P", str(killed.pid), "-f", "check --suite"], capture_output=True, text=True
        ).stdout.split()[0]
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        for _ in range(50):
            if not os.path.exists(f"/proc/{child}"):
                break
            time.sleep(0.1)
        self.assertFalse(os.path.exists(f"/proc/{child}"))


class Resumes(Slurm):
    def test_what_bandgate_drained_when_it_is_well(self) -> None:
        self.nodes("n1|main*|drained|bandgate: gpu0 read: regression")
        self.says(WELL)
        self.call("healthcheck")
        self.assertEqual(self.node(), "idle|none")

    def test_not_what_nobody_judged_or_is_still_bad(self) -> None:
        for said, code in (
            ("bandgate: not judged: no-baseline", 0),
            ("", 0),
            ("anything", 0),
            ("", 77),
            (SLOW, 1),
        ):
            self.nodes("n1|main*|drained|bandgate: gpu0 read: regression")
            self.says(said, code)
            self.call("healthcheck")
            self.assertEqual(self.node(), "drained|bandgate: gpu0 read: regression", said)
        self.assertEqual(self.updates(), [])

    def test_not_where_people_do_it(self) -> None:
        self.nodes("n1|main*|drained|bandgate: gpu0 read: regression")
        self.says(WELL)
        self.call("healthcheck", BANDGATE_SLURM_RESUME="no")
        self.assertEqual(self.updates(), [])


class Cap(Slurm):
    def stopped(self, *options: str, **environment: str) -> str:
        (self.folder / "calls").unlink(missing_ok=True)
        ended = self.call("healthcheck", *options, **environment)
        self.assertEqual((ended.code, self.node()), (1, "idle|none"), ended)
        self.assertIn("MASS DRAIN STOPPED: n1 stays in service although it is bad", ended.err)
        self.assertIn("-p daemon.crit", self.read("log"))
        self.assertEqual(self.state("capped"), f"{SLOW}\n")
        if "FAKE_RACE" not in environment:
            self.assertEqual(self.updates(), [])  # not even for a moment
        return ended.err

    def test_a_share_of_the_cluster(self) -> None:
        self.says(SLOW, 1)
        others = [f"n{i}|main*|idle|none" for i in range(3, 41)]
        self.nodes("n1|main*|idle|none", "n2|main*|drained|bandgate: x", *others)
        self.call("healthcheck")  # 2 of 40 are 5 %
        self.assertEqual(self.node(), f"drained|{SLOW}")
        self.nodes("n1|main*|idle|none", "n2|main*|drained|bandgate: x", *others[1:])
        said = self.stopped()
        self.assertIn("of 39 nodes of the cluster 1 are drained by bandgate, and 1 may be", said)

    def test_a_number_and_none_at_all(self) -> None:
        self.says(SLOW, 1)
        self.nodes("n1|a|idle|none", "n1|b|idle|none", "n2|a|drained|bandgate: x")
        self.stopped("--max-drained", "1")
        self.call("healthcheck", "--max-drained", "2")
        self.assertEqual(self.node(), f"drained|{SLOW}")
        self.nodes("n1|a|idle|none")  # a share is one node at least, unless it is none
        for none in ("0", "0%", "00%"):
            self.stopped("--max-drained", none)

    def test_drained_by_people_does_not_count_nor_does_another_partition(self) -> None:
        self.says(SLOW, 1)
        self.nodes("n1|a|idle|none", "n2|a|drained|fan", "n3|b*|drained|bandgate: x")
        self.stopped("--max-drained", "1")
        self.call("healthcheck", "--max-drained", "1", BANDGATE_SLURM_MAX_DRAINED_OF="partition")
        self.assertEqual(self.node(), f"drained|{SLOW}")
        self.nodes("n1|a|idle|none", "n1|b*|idle|none", "n3|b*|drained|bandgate: x")
        said = self.stopped("--max-drained", "1", BANDGATE_SLURM_MAX_DRAINED_OF="partition")
        self.assertIn("nodes of the partition b 1 are", said)

    def test_two_that_drain_at_the_same_time(self) -> None:
        self.says(SLOW, 1)
        self.stopped("--max-drained", "1", FAKE_RACE="n2")
        self.assertEqual(self.node("n2"), "drained|bandgate: too")

    def test_nobody_is_drained_uncounted(self) -> None:
        self.says(SLOW, 1)
        sinfo = (self.bin / "sinfo").read_text()
        for answer in ("", "echo 'n2|main*|idle|none'", "echo 'n1 n1'"):
            text = sinfo.replace(
                "\nonly=", f"\n[[ $* == *%N* ]] && {{ {answer or ':'}; exit; }}\nonly="
            )
            self.executable(self.bin / "sinfo", text)
            self.assertIn("does not say how many nodes are drained", self.stopped())

    def test_a_cap_that_cannot_be_read_is_the_default(self) -> None:
        self.says(SLOW, 1)
        self.nodes("n1|a|idle|none", "n2|a|drained|bandgate: x")
        self.assertIn("5% it is", self.stopped("--max-drained", "many"))
        self.assertIn("5% it is", self.stopped("--max-drained", "200%"))


class Configuration(Slurm):
    def test_the_file_is_read_and_never_run(self) -> None:
        (self.folder / "slurm.conf").write_text(
            "# a comment\n\n"
            'BANDGATE_SLURM_SUITE="full"\n'
            "BANDGATE_SLURM_EVERY=0s\n"
            "BANDGATE_SLURM_LIMIT=8s\n"  # the environment says 4s
            f"touch {self.folder}/hacked\n"
            f"PATH=$(touch {self.folder}/hacked)\n"
            "BANDGATE_SLURM_RESUME=$(touch hacked)"
        )
        self.says(WELL)
        ended = self.call("healthcheck")
        self.assertIn("--suite full", self.read("measured"))
        self.assertIn("--time-limit 1s", self.read("measured"))
        self.assertIn("not understood and passed over: touch", ended.err)
        self.assertIn("not understood and passed over: PATH=", ended.err)
        self.assertFalse((self.folder / "hacked").exists())

    def test_a_file_of_an_editor_with_other_line_ends(self) -> None:
        (self.folder / "slurm.conf").write_bytes(b"\r\nBANDGATE_SLURM_SUITE=full\r\n")
        self.says("bandgate: fine")
        self.assertNotIn("not understood", self.call("healthcheck").err)
        self.assertIn("check --suite full --device all", self.read("measured"))

    def test_a_folder_in_the_place_of_the_file(self) -> None:
        (self.folder / "slurm.conf").mkdir()
        self.assertIn("slurm.conf: is a folder; nothing is conf", self.call("healthcheck").err)

    def test_the_example_names_every_variable_and_its_default(self) -> None:
        example = (PROGRAMS / "slurm.conf.example").read_text()
        programs = ("common.sh", "healthcheck", "prolog", "epilog")
        code = "".join((PROGRAMS / name).read_text() for name in programs)
        for line in example.splitlines():
            if line.startswith("#BANDGATE_SLURM"):
                name, value = line[1:].split("=")
                self.assertIn(f"${{{name}:-{value}}}", code)

    def test_a_state_that_cannot_be_written(self) -> None:
        (self.folder / "state").write_text("a file")
        self.says(SLOW, 1)
        ended = self.call("healthcheck")
        self.assertEqual((ended.code, self.updates()), (2, []))
        self.assertIn("cannot be written; nothing is looked at", ended.err)
        for program in ("prolog", "epilog"):
            self.assertEqual(self.call(program, SLURM_JOB_ID="1", SLURM_JOB_GPUS="0").code, 0)

    def test_usage(self) -> None:
        for options in (("--nonsense",), ("--max-drained",)):
            self.assertEqual(self.call("healthcheck", *options).code, 2)
        self.assertIn("usage: healthcheck", self.call("healthcheck", "--help").out)


if __name__ == "__main__":
    unittest.main()
