# SPDX-License-Identifier: Apache-2.0
"""ci/slurm/resume and fleet against a Slurm of files."""

from __future__ import annotations

import unittest

from slurm_fakes import Slurm

# Runs every task at once, as its node.
SBATCH = r"""#!/bin/bash
echo "sbatch $*" >>"$FAKE/calls"
while (($#)) && [[ $1 != */fleet.sbatch ]]; do shift; done
i=0
while read -r node; do
  SLURM_ARRAY_TASK_ID=$i SLURMD_NODENAME=$node "$@" >/dev/null
  ((++i))
done <"$2/nodes"
echo "7;cluster"
"""
SQUEUE = "#!/bin/bash\n"
# Ends with the code that is the number of its node.
TASK = r"""#!/bin/bash
echo "$SLURMD_NODENAME: $*" >>"$FAKE/tasks"
echo "PASS         gpu0 read"
[ "$SLURMD_NODENAME" = n0 ] || echo "VERDICT of $SLURMD_NODENAME"
echo "judged 2 of 2"
exit "${SLURMD_NODENAME#n}"
"""


class Resume(Slurm):
    def setUp(self) -> None:
        super().setUp()
        self.nodes(
            "n1|main*|drained|bandgate: gpu0 read: regression",
            "n1|other|drained|bandgate: gpu0 read: regression",
            "n2|main*|drained|fan is broken",
            "n3|main*|idle|bandgate: old",
            "n10|main*|draining|bandgate: job 42: hot",
        )

    def test_lists(self) -> None:
        listed = (
            "n1  bandgate: gpu0 read: regression\n"
            "n10  bandgate: job 42: hot\n"
            "2 drained by bandgate\n"
        )
        for options in ((), ("--list",)):
            self.assertEqual(self.call("resume", *options).out, listed)
        self.nodes("n1|main*|idle|none")
        self.assertEqual(self.call("resume").out, "0 drained by bandgate\n")

    def test_resumes_those_alone(self) -> None:
        ended = self.call("resume", "n1", "n2", "n3", "nowhere")
        self.assertEqual(ended.code, 1)
        for name in ("n2", "n3", "nowhere"):
            self.assertIn(f"{name}: not drained by bandgate: left alone", ended.err)
        self.assertIn("n1: resumed; it was drained for: bandgate: gpu0 read", ended.out)
        self.assertEqual(self.updates(), ["scontrol update NodeName=n1 State=RESUME"])
        self.assertEqual(self.call("resume", "--all").code, 0)
        self.assertEqual(self.node("n10"), "idle|none")
        self.assertEqual(self.node("n2"), "drained|fan is broken")

    def test_a_dry_run(self) -> None:
        self.assertIn("n1: would be resumed", self.call("resume", "--dry-run", "--all").out)
        self.assertEqual(self.updates(), [])

    def test_usage(self) -> None:
        for options in (("--nonsense",), ("--all", "n1"), ("",)):
            self.assertEqual(self.call("resume", *options).code, 2)
        (self.folder / "broken").touch()
        self.assertEqual(self.call("resume").code, 2)


class Fleet(Slurm):
    def setUp(self) -> None:
        super().setUp()
        self.executable(self.bin / "sbatch", SBATCH)
        self.executable(self.bin / "squeue", SQUEUE)
        self.executable(self.bin / "scancel", '#!/bin/bash\necho "scancel $*" >>"$FAKE/calls"\n')
        self.executable(self.bin / "bandgate", TASK)

    def fleet(self, code: int, *nodes: str, options: tuple[str, ...] = ()) -> str:
        self.nodes(*nodes)
        out = str(self.folder / "the fleet")
        ended = self.call("fleet", "--partition", "main", "--wait", "--out", out, *options)
        self.assertEqual(ended.code, code, ended)
        return ended.out

    def test_the_worst_decides(self) -> None:
        def of(*codes: int) -> tuple[str, ...]:
            return tuple(f"n{code}|main*|idle|none" for code in codes)

        for code, nodes in (
            (0, of(0)),
            (77, of(77)),
            (0, of(0, 77)),
            (4, of(0, 4, 77)),
            (2, of(0, 2, 4)),
            (1, of(0, 1, 2, 4)),
            (3, of(0, 1, 2, 3, 4)),
            (4, of(0, 137)),
            (4, (*of(0), "n9|main*|drained|fan")),
            (4, ("n9|main*|drained|fan",)),
        ):
            self.fleet(code, *nodes)

    def test_the_table_and_what_the_tasks_were_told(self) -> None:
        nodes = ("n0|main*|mixed|none", "n1|main*|idle|none", "n9|main*|down*|Not responding")
        out = self.fleet(1, *nodes, options=("--suite", "quick", "--", "--gres=gpu:8"))
        self.assertRegex(out, r"n0 +pass +judged 2 of 2\n")
        self.assertRegex(out, r"n1 +regression +VERDICT of n1\n")
        self.assertRegex(out, r"n9 +not measured +down\*: Not responding\n")
        self.assertRegex(
            self.read("tasks"),
            r"^n0: check --suite quick --results .*/the fleet/results --label fleet=2\d+T",
        )
        calls = self.read("calls")
        self.assertIn("--hold --job-name=bandgate-fleet --array=0-1 --partition=main", calls)
        self.assertIn("--deadline=now+12hours", calls)
        self.assertIn("--gres=gpu:8", calls)
        self.assertIn("scontrol update JobId=7_0 ReqNodeList=n0\n", calls)
        self.assertIn("scontrol update JobId=7_1 ReqNodeList=n1\nscontrol release 7\n", calls)
        round_of_it = next((self.folder / "the fleet/rounds").iterdir())
        again = self.call("fleet", "--collect", str(round_of_it))
        self.assertEqual((again.code, again.out), (1, out.split("\n", 1)[1]))
        (round_of_it / "n1.code").unlink()
        missing = self.call("fleet", "--collect", str(round_of_it))
        self.assertEqual(missing.code, 4)
        self.assertRegex(missing.out, r"n1 +not measured +no task ended there")

    def test_a_code_that_is_none_is_no_pass(self) -> None:
        self.fleet(0, "n0|main*|idle|none", "n00|main*|idle|none")
        round_of_it = next((self.folder / "the fleet/rounds").iterdir())
        calls = self.read("calls")
        for text in ("", "\n", "0 0", "0\n0", "-1"):
            (round_of_it / "n00.code").write_text(text)
            ended = self.call("fleet", "--collect", str(round_of_it))
            self.assertEqual((ended.code, ended.err), (4, ""), text)
            self.assertRegex(ended.out, r"n00 +not measured +/.*/n00.code is broken\n")
        self.assertEqual(self.read("calls"), calls)  # nothing is submitted

    def test_a_task_that_cannot_be_pinned_cancels_all(self) -> None:
        self.executable(self.bin / "scontrol", "#!/bin/bash\nexit 1\n")
        self.fleet(2, "n0|main*|idle|none")
        self.assertIn("scancel 7", self.read("calls"))

    def test_usage(self) -> None:
        for options in (
            ("--nonsense",),
            ("--suite", "all"),
            ("--within", "soon"),
            ("--collect", "/nowhere"),
            ("--nodes",),
        ):
            self.assertEqual(self.call("fleet", *options).code, 2, options)
        self.nodes("n1|main|idle|none")
        self.assertIn("no default partition", self.call("fleet").err)
        (self.folder / "broken").touch()
        self.assertEqual(self.call("fleet").code, 2)


if __name__ == "__main__":
    unittest.main()
