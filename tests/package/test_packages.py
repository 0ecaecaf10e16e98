#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ci/package made: the files, and the .deb in bare root file systems. Called by ci/package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

BASELINES = Path(__file__).resolve().parents[2] / "baselines"
PACKAGES = Path(os.environ.get("PACKAGES", ".")).resolve()
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bandgate"
UBUNTU = "http://archive.ubuntu.com/ubuntu"


def call(*command: str | Path, code: int | None = 0, **more: str) -> str:
    done = subprocess.run(
        list(map(str, command)),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"LC_ALL": "C"} | more,
        check=False,
    )
    if code is not None and done.returncode != code:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def the(pattern: str) -> Path:
    (file,) = PACKAGES.glob(pattern)
    return file


def needed_driver(version: str) -> str:
    """What the description has to say of a program with that answer to --version."""
    built = re.search(r"gpu backend (cuda (\d+)\.\d+|hip|none)", version)
    if built is None:
        raise AssertionError(version)
    if built[2]:
        driver = {"12": "525", "13": "580"}[built[2]]
        return f"{built[1].upper()}, which takes driver {driver} or newer."
    return {"hip": "measures AMD's GPUs.", "none": "measures CPUs alone."}[built[1]]


class Files(unittest.TestCase):
    """What is in them and what they ask for."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_deb(self) -> None:
        deb = the("bandgate_*.deb")
        self.assertEqual(call("dpkg-deb", "-f", deb, "Depends").strip(), "libc6 (>= 2.34)")
        self.assertEqual(call("dpkg-deb", "-f", deb, "Package").strip(), "bandgate")
        files = call("dpkg-deb", "-c", deb)
        shipped = [f.relative_to(BASELINES) for f in BASELINES.glob("*/*.json")]
        self.assertGreater(len(shipped), 5)
        for name in (
            "usr/bin/bandgate",
            *(f"usr/share/bandgate/{name}" for name in shipped),
            "usr/share/doc/bandgate/copyright",
            "usr/share/doc/bandgate/docs/kernel-authors.md",
        ):
            self.assertRegex(files, rf" \./{re.escape(name)}\n")
        self.assertNotRegex(files, r"\./(usr/(lib|include)|etc)/")

    def test_both_descriptions_name_the_driver(self) -> None:
        deb = the("bandgate_*.deb")
        call("dpkg-deb", "-x", deb, self.folder)
        needed = needed_driver(call(self.folder / "usr/bin/bandgate", "--version"))
        self.assertIn(needed, " ".join(call("dpkg-deb", "-f", deb, "Description").split()))
        if shutil.which("rpm"):
            said = call("rpm", "-qp", "--queryformat", "%{DESCRIPTION}", the("bandgate-[0-9]*.rpm"))
            self.assertIn(needed, " ".join(said.split()))

    def test_machine_code(self) -> None:
        """Of every architecture, and PTX of the newest for the cards of tomorrow."""
        compiler = Path(os.environ.get("NVCC") or "/nonexistent")
        tool = shutil.which("cuobjdump", path=f"{compiler.parent}:{os.environ['PATH']}")
        if tool is None:
            self.skipTest("no cuobjdump, beside nvcc or elsewhere")
        wanted = os.environ.get("ARCHITECTURES") or call(compiler, "--list-gpu-code")
        numbers = {int(n) for n in re.findall(r"\d+", wanted) if int(n) >= 70}
        call("dpkg-deb", "-x", the("bandgate_*.deb"), self.folder)
        program = self.folder / "usr/bin/bandgate"

        def held(kind: str) -> set[int]:
            listed = call(tool, f"--list-{kind}", program)
            return {int(n) for n in re.findall(r"\.sm_(\d+)\.", listed)}

        self.assertEqual(held("elf"), numbers)
        self.assertIn(max(numbers), held("ptx"))

    def test_development_deb(self) -> None:
        deb = the("bandgate-dev_*.deb")
        depends = call("dpkg-deb", "-f", deb, "Depends")
        self.assertRegex(depends, r"^bandgate \(= [0-9.]+\), nlohmann-json3-dev, libfmt-dev, ")
        files = call("dpkg-deb", "-c", deb)
        self.assertIn("./usr/lib/cmake/bandgate/BandgateAddProbes.cmake", files)
        self.assertIn("./usr/include/bandgate/probe.hpp", files)
        self.assertNotIn("./usr/bin/", files)

    def test_tar(self) -> None:
        name = f"bandgate-[0-9]*-{os.uname().sysname}-*.tar.gz"
        with tarfile.open(the(name)) as archive:
            program = next(m for m in archive.getmembers() if m.name.endswith("/bin/bandgate"))
            self.assertTrue(program.mode & 0o111)
            archive.extractall(self.folder / "first", filter="data")
        (self.folder / "first").rename(self.folder / "moved")
        moved = next((self.folder / "moved").glob("*/bin/bandgate"))
        self.assertRegex(call(moved, "--version"), r"^bandgate [0-9.]+ \(build ")
        shown = call(moved, "baseline", "show", HOME=str(self.folder))
        self.assertIn("built-in:nvidia-h200.json", shown)

    def test_rpm(self) -> None:
        if shutil.which("rpm") is None:
            self.skipTest("no rpm here: apt-get install rpm")
        rpm = the("bandgate-[0-9]*.rpm")
        self.assertEqual(call("rpm", "-qp", "--queryformat", "%{LICENSE}", rpm), "Apache-2.0")
        self.assertIn("digests OK", call("rpm", "-K", "--nosignature", rpm))
        libraries = set()
        for line in call("rpm", "-qp", "--requires", rpm).split():
            if match := re.match(r"([\w.+-]+\.so\.\d+)\((GLIBC_([0-9.]+))?\)", line):
                libraries.add(match[1])
                if match[3]:
                    asked = tuple(int(part) for part in match[3].split("."))
                    self.assertLessEqual(asked, (2, 34), line)
        self.assertLessEqual(
            libraries,
            {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0",
             "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"},
        )  # fmt: skip
        call("sh", "-c", 'cd "$1" && rpm2cpio "$2" | cpio -idm --quiet', "sh", self.folder, rpm)
        version = call(self.folder / "usr/bin/bandgate", "--version")
        self.assertRegex(version, r"^bandgate [0-9.]+ \(build ")


class RootFileSystem(unittest.TestCase):
    """A bare root file system; what debootstrap fetched is kept for the next time."""

    def bare(self, name: str, *mirror: str, options: tuple[str, ...] = ()) -> Path:
        """A release's; without a mirror (and its script) debootstrap takes its own."""
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            self.skipTest("needs root and debootstrap")
        archive = CACHE / f"{name}.tar"
        folder = tempfile.TemporaryDirectory(prefix="bandgate-root-")
        self.addCleanup(folder.cleanup)
        root = Path(folder.name) / "root"
        if not archive.is_file():
            CACHE.mkdir(parents=True, exist_ok=True)
            call("debootstrap", "--variant=minbase", *options, name, root, *mirror)
            call("tar", "-C", root, "-cf", f"{archive}.new", ".")
            Path(f"{archive}.new").rename(archive)
            shutil.rmtree(root)
        root.mkdir()
        call("tar", "-C", root, "-xf", archive)
        return root

    def inside(self, root: Path, command: str, code: int = 0) -> str:
        """With /proc, in a mount name space of its own, so that nothing stays mounted."""
        script = 'mount -t proc proc "$1/proc" && exec chroot "$1" /bin/sh -c "$2"'
        return call("unshare", "--mount", "sh", "-c", script, "sh", root, command, code=code,
                    HOME="/root", PATH="/usr/sbin:/usr/bin:/sbin:/bin")  # fmt: skip

    def files(self, root: Path) -> set[str]:
        changing = ("./var/lib/dpkg", "./var/log", "./proc", "./var/cache")
        found = subprocess.run(
            ["find", ".", "-xdev"], cwd=root, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.split("\n")
        return {name for name in found if not name.startswith(changing)}

    def install_measure_and_remove(self, root: Path) -> None:
        before = self.files(root)
        shutil.copy(the("bandgate_*.deb"), root / "bandgate.deb")
        self.inside(root, "dpkg -i /bandgate.deb")
        (root / "bandgate.deb").unlink()

        self.assertEqual(self.inside(root, "dpkg -V bandgate"), "")
        self.assertRegex(self.inside(root, "bandgate --version"), r"^bandgate [0-9.]+ \(build ")
        check = self.inside(root, "bandgate check --suite quick --backend host", code=77)
        self.assertRegex(check, r"NO-BASELINE  host read: [0-9.]+ GiB/s, no bound")
        self.assertIn("to record a baseline: /usr/bin/bandgate baseline record ", check)
        self.assertIn("results in /root/.local/share/bandgate/results", check)
        strict = self.inside(root, "bandgate check read --backend host --strict", code=4)
        self.assertIn("NO-BASELINE", strict)
        doctor = self.inside(root, "bandgate doctor", code=77)
        self.assertIn("skipped: a CPU has no health to examine", doctor)

        self.inside(root, "dpkg -r bandgate && rm -r /root/.local")
        self.assertEqual(self.files(root) - before, set())
        self.assertNotIn("bandgate", self.inside(root, "dpkg -l"))

    def test_debian_12(self) -> None:
        root = self.bare("bookworm")
        self.install_measure_and_remove(root)

    def test_debian_13(self) -> None:  # a newer glibc
        root = self.bare("trixie")
        self.install_measure_and_remove(root)

    def test_ubuntu_24_04(self) -> None:
        keys = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
        if not (CACHE / "noble.tar").is_file():
            if not keys.is_file():
                self.skipTest(f"no {keys}: it is in the package ubuntu-keyring of Debian 13")
            try:
                call("curl", "-sfI", "--max-time", "20", f"{UBUNTU}/dists/noble/Release")
            except (AssertionError, FileNotFoundError):
                self.skipTest(f"{UBUNTU} cannot be reached")
        # Every release of Ubuntu since then is made like that one.
        script = "/usr/share/debootstrap/scripts/gutsy"
        self.install_measure_and_remove(
            self.bare("noble", UBUNTU, script, options=(f"--keyring={keys}",))
        )


if __name__ == "__main__":
    unittest.main()
