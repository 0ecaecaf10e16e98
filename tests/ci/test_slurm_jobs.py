# SPDX-License-Identifier: Apache-2.0
"""ci/slurm/prolog and epilog: what drains by exit code, and that a job waits for nobody."""

from __future__ import annotations

import json
import time
import unittest
from pathlib import Path

from slurm_fakes import DRILLS, Ended, Slurm

HARM = "bandgate: gpu0: hw-thermal: 412 s of hardware thermal slowdown"
SLOW = "bandgate: gpu0 read: regression: 4087.0 GiB/s, below 4260.0 GiB/s"
WELL = "bandgate: 5 of 5 passed"


class Job(Slurm):
    def job(self, program: str, gpus: str = "0", **environment: str) -> Ended:
        return self.call(program, SLURM_JOB_ID="42", SLURM_JOB_GPUS=gpus, **environment)

    def tearDown(self) -> None:
        # Of all of them: no command of Slurm.
        self.assertEqual(self.read("calls"), "")


class Around(Job):
    def test_harm_during_the_job_drains(self) -> None:
        before, after = self.real("job-before"), self.real("job-after")
        self.assertEqual(self.job("prolog", **before).code, 0)
        self.assertTrue(self.state("marks/42"))
        ended = self.job("epilog", **after)
        self.assertEqual(ended.code, 1, ended)
        self.assertRegex(self.state("pending"), r"^bandgate: job 42: .*412 s of hardware thermal")
        self.assertFalse((self.folder / "state/n1/marks/42").exists())

    def test_a_job_in_which_nothing_happened(self) -> None:
        before = self.real("job-before")
        self.assertEqual(self.job("prolog", **before).code, 0)
        ended = self.job("epilog", BANDGATE_SLURM_EPILOG="since", **before)
        self.assertEqual((ended.code, ended.err, self.state("pending")), (0, "", ""))

    def test_without_a_job_nothing_drains(self) -> None:
        for program in ("prolog", "epilog"):
            for job in ({}, {"SLURM_JOB_ID": ""}, {"SLURM_JOB_ID": "../../42"}):
                ended = self.call(program, **job, SLURM_JOB_GPUS="0")
                self.assertEqual(ended.code, 0, ended)
                self.assertIn("is no job; nothing is looked at", ended.err)
        self.assertEqual(self.read("measured"), "")

    def test_only_1_and_3_drain(self) -> None:
        for code in (1, 3, 0, 2, 4, 77, 126, 127, 137):
            self.says(HARM if code in (0, 1, 3) else "", code, "doctor")
            self.says(WELL)
            (self.folder / "state/n1/marks").mkdir(parents=True, exist_ok=True)
            (self.folder / "state/n1/marks/42").touch()
            bad = code in (1, 3)
            self.assertEqual(self.job("epilog").code, int(bad), code)
            self.assertEqual("ended with" in self.read("log"), code not in (0, 1, 3), code)
            self.assertEqual(f"job 42: {HARM[10:]}" in self.state("pending"), bad, code)
            for name in ("log", "state/n1/pending"):
                (self.folder / name).unlink(missing_ok=True)
        for code in (1, 3, 2, 4, 77, 137):
            self.says(SLOW if code in (1, 3) else "", code)
            bad = code in (1, 3)
            always = {"BANDGATE_SLURM_EVERY": "0s"}
            self.assertEqual(self.job("epilog", **always).code, int(bad), code)
            self.assertEqual(self.job("prolog", **always).code, 0)
            check = {"BANDGATE_SLURM_PROLOG": "check"} | always
            self.assertEqual(self.job("prolog", **check).code, int(bad), code)
            if bad:
                self.assertEqual(self.state("pending"), f"{SLOW}\n")

    def test_the_measurement_after_a_job_drains(self) -> None:
        self.says(SLOW, 1)
        self.assertEqual(self.job("epilog", BANDGATE_SLURM_EPILOG="since").code, 0)
        self.assertEqual(self.job("epilog").code, 1)
        self.assertEqual(self.state("pending"), f"{SLOW}\n")

    def test_what_was_found_well_lately_is_not_measured_again(self) -> None:
        self.says(WELL)
        self.job("epilog", "0,1")
        self.job("epilog", "1")
        self.assertEqual(self.read("measured").count("check"), 1)
        self.job("epilog", "1,2")
        self.assertEqual(self.read("measured").count("check"), 2)
        self.call("healthcheck")
        self.assertEqual(self.read("measured").count("check"), 3)
        self.job("epilog", "7")  # all were well
        self.assertEqual(self.read("measured").count("check"), 3)
        (self.folder / "calls").unlink()

    def test_off_and_words_that_are_none(self) -> None:
        self.says(SLOW, 1)
        self.assertEqual(self.job("epilog", BANDGATE_SLURM_EPILOG="off").code, 0)
        self.assertEqual(self.job("prolog", BANDGATE_SLURM_PROLOG="off").code, 0)
        self.assertEqual(self.read("measured"), "")
        self.assertIn("since it is", self.job("epilog", BANDGATE_SLURM_EPILOG="yes").err)
        self.assertIn("mark it is", self.job("prolog", BANDGATE_SLURM_PROLOG="yes").err)
        self.assertNotIn("check", self.read("measured"))


class Devices(Job):
    def asked(self, **environment: str) -> str:
        self.call("prolog", SLURM_JOB_ID="42", **environment)
        measured = self.read("measured").splitlines()
        return measured[-1].split("--device ")[1].split()[0] if measured else ""

    def test_those_of_the_job(self) -> None:
        self.assertEqual(self.asked(), "")
        self.assertEqual(self.asked(CUDA_VISIBLE_DEVICES="NoDevFiles"), "")
        self.assertEqual(self.asked(SLURM_JOB_GPUS="0,3"), "0,3")
        self.assertEqual(self.asked(CUDA_VISIBLE_DEVICES="2"), "2")
        self.assertEqual(self.asked(GPU_DEVICE_ORDINAL="5"), "5")
        # A number of Slurm's is not one among the visible.
        self.assertEqual(self.asked(SLURM_JOB_GPUS="3", CUDA_VISIBLE_DEVICES="0"), "3")
        slices = {"SLURM_JOB_GPUS": "0", "CUDA_VISIBLE_DEVICES": "MIG-1,MIG-2"}
        self.assertEqual(self.asked(**slices), "MIG-1,MIG-2")

    def test_what_hides_devices_is_not_passed_on(self) -> None:
        self.executable(self.bin / "bandgate", '#!/bin/bash\nenv >"$FAKE/env"\n')
        self.asked(SLURM_JOB_GPUS="1", CUDA_VISIBLE_DEVICES="1", GPU_DEVICE_ORDINAL="1")
        self.assertNotRegex(self.read("env"), "VISIBLE_DEVICES|ORDINAL")

    def test_a_bad_card_of_another_job_is_not_this_ones(self) -> None:
        script = json.loads((DRILLS / "two-gpus.json").read_text())
        script["pace"] = "instant"
        for probe in script["devices"][1]["probes"].values():
            for attempt in probe["attempts"]:
                if "samples" in attempt:
                    attempt["samples"] = [value / 2 for value in attempt["samples"]]
        path = self.folder / "second is slow.json"
        path.write_text(json.dumps(script))
        real = self.real("two-gpus") | {"BANDGATE_BACKEND": f"scripted:{path}"}
        real["BANDGATE_SLURM_LIMIT"] = "30s"
        self.assertEqual(self.job("epilog", "0", **real).code, 0)
        ended = self.job("epilog", "1", **real)
        self.assertEqual(ended.code, 1, ended)
        self.assertRegex(self.state("pending"), "^bandgate: gpu1 .*regression")


class Hangs(Job):
    def test_a_device_that_hangs_does_not_block_the_job(self) -> None:
        began = time.monotonic()
        real = self.real("hang-at-inspection") | {"BANDGATE_SLURM_LIMIT": "1s"}
        ended = self.job("prolog", "0,1", **real)
        self.assertEqual(ended.code, 0)
        self.assertIn("job 42: no mark: the doctor ended with 3", ended.err)
        self.assertLess(time.monotonic() - began, 30)

    def test_nor_a_program_that_hears_no_signal(self) -> None:
        deaf = "[ $1 = check ] || exit 0\ntrap '' TERM\nsleep 300 & wait\n"
        self.executable(self.bin / "bandgate", f"#!/bin/bash\n{deaf}")
        short = {"BANDGATE_SLURM_LIMIT": "1s", "BANDGATE_SLURM_PROLOG": "check"}
        ended = self.job("prolog", **short)
        self.assertEqual(ended.code, 0)
        self.assertIn("bandgate: not judged: check did not end in time", ended.err)
        self.assertFalse((self.folder / "state/n1/stuck").exists())

    def test_a_measuring_health_check_stops_for_a_job(self) -> None:
        self.says(SLOW, 1)
        (self.folder / "sleep").write_text("60")
        looking = self.start("healthcheck", BANDGATE_SLURM_LIMIT="40s")
        while "check" not in self.read("measured"):
            time.sleep(0.05)
        (self.folder / "sleep").unlink()
        ended = self.job("prolog")
        self.assertEqual(ended.code, 0)
        self.assertIn("stopping the health check", ended.err)
        _, said = looking.communicate(timeout=10)
        self.assertEqual(looking.returncode, 0)
        self.assertIn("stopped: a job begins", said)
        self.assertEqual((self.node(), self.updates()), ("idle|none", []))
        (self.folder / "calls").unlink()


class Adopted(Slurm):
    """What the health check makes of a node that an exit code drained."""

    def pending(self, text: str) -> Path:
        path = self.folder / "state/n1/pending"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
        return path

    def test_the_verdict_becomes_the_reason(self) -> None:
        for why in ("Epilog error", "Prolog error", "Epilog error: rc 1"):
            path = self.pending(f"bandgate: job 42: {HARM}")
            self.nodes(f"n1|main*|drained|{why}")
            self.says(WELL)
            self.call("healthcheck")
            # A card that is well at rest says nothing against what the job's counters saw.
            self.assertEqual(self.node(), f"drained|bandgate: job 42: {HARM}")
            self.assertFalse(path.exists())
            self.call("healthcheck")
            self.assertEqual(self.node(), f"drained|bandgate: job 42: {HARM}")

    def test_a_measured_one_is_resumed_when_it_is_well(self) -> None:
        self.pending(SLOW)
        self.nodes("n1|main*|drained|Epilog error")
        self.says(SLOW, 1)
        self.call("healthcheck")
        self.assertEqual(self.node(), f"drained|{SLOW}")
        self.says(WELL)
        self.call("healthcheck")
        self.assertEqual(self.node(), "idle|none")

    def test_above_the_cap_it_is_put_back_loudly(self) -> None:
        path = self.pending(SLOW)
        self.nodes("n1|main*|drained|Epilog error", "n2|main*|drained|bandgate: x")
        ended = self.call("healthcheck")
        self.assertEqual((ended.code, self.node()), (1, "idle|none"))
        self.assertIn("MASS DRAIN STOPPED", ended.err)
        self.assertFalse(path.exists())

    def test_between_the_exit_code_and_the_drain(self) -> None:
        path = self.pending(SLOW)
        self.says(SLOW, 1)
        self.call("healthcheck")
        self.assertEqual((self.node(), self.read("measured")), ("idle|none", ""))
        self.assertTrue(path.exists())

    def test_another_reason_stays(self) -> None:
        self.pending(SLOW)
        self.nodes("n1|main*|drained|fan is broken")
        self.call("healthcheck")
        self.assertEqual(self.node(), "drained|fan is broken")


if __name__ == "__main__":
    unittest.main()
