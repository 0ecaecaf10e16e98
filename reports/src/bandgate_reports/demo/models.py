# SPDX-License-Identifier: Apache-2.0
"""Cards and probes of the demonstration, as small tables.

H200: figures and tolerances of the shipped baseline nvidia-h200.json (measured on both board parts
with driver 580.159.04). A100: references of nvidia-a100-sxm4-80gb.json (published); the levels that
its synthetic cards reach are made up, between those references and the peak of the memory. Nothing
here is read from the repository: the installed package works alone.
"""

from dataclasses import dataclass, field

GIB = 2.0**30
MICROSECOND = 1e-6

DRAM = "dram"
LINK = "link"


@dataclass(frozen=True)
class Probe:
    """A probe with one set of parameters. Spreads are relative standard deviations."""

    key: str  # name, with the parameters that are not the default
    name: str
    byte_rule: str
    ceiling: str
    parameters: dict[str, int | str] = field(default_factory=dict)
    shape: dict[str, int] = field(default_factory=dict)
    bytes_per_pass: int = 4 << 30
    lower_is_better: bool = False
    expected_spread: float = 0.02
    process: float = 0.0005  # between fresh processes on one card
    night: float = 0.0002  # between nights, common to the cards of a node
    card: float = 0.0006  # between cards of a kind
    sample: float = 0.0006  # within a process

    @property
    def unit(self) -> str:
        return "s" if self.lower_is_better else "B/s"

    @property
    def of_memory(self) -> bool:
        return self.ceiling == DRAM


_WINDOW: dict[str, int | str] = {
    "dtype": "u32", "layout": "coalesced", "vector": 4, "window": 64 << 20,
}  # fmt: skip
_READS: dict[str, int | str] = {"size": "auto", "blocks": "auto"}


def _transfer(name: str) -> Probe:
    return Probe(
        name,
        name,
        "bytes transferred",
        LINK,
        parameters={"engine": "ce", "size": 256 << 20},
        bytes_per_pass=256 << 20,
        expected_spread=0.04,
        process=0.002,
        night=0.0005,
        card=0.002,
        sample=0.001,
    )


def _random(name: str, span: int | str) -> Probe:
    return Probe(
        name if span == "all" else f"{name} span={span}",
        name,
        "elements read + elements written",
        DRAM,
        parameters={
            "dtype": "f64", "elements": "auto", "index": "32", "mode": "permutation", "span": span,
        },
        shape={"each": 1, "threads": 256},
        expected_spread=0.12,
        process=0.001,
        card=0.002,
        sample=0.0003,
    )  # fmt: skip


_ALL = (
    Probe("read", "read", "bytes read", DRAM, {"size": "auto"}, {"loads": 8, "threads": 512}),
    Probe("write", "write", "bytes written", DRAM, {"size": "auto"}, {"threads": 256}),
    Probe(
        "copy",
        "copy",
        "bytes read + bytes written",
        DRAM,
        {"size": "auto", "window": "auto"},
        {"threads": 128},
        8 << 30,
    ),
    Probe(
        "triad",
        "triad",
        "bytes read + bytes written",
        DRAM,
        {"size": "auto"},
        {"threads": 1024},
        12 << 30,
    ),
    Probe("memset", "memset", "bytes written", DRAM, {"size": "auto"}),
    _transfer("h2d"),
    _transfer("d2h"),
    Probe(
        "launch",
        "launch",
        "none: seconds a launch",
        "none",
        bytes_per_pass=1,
        lower_is_better=True,
        expected_spread=0.4,
        process=0.01,
        night=0.004,
        card=0.02,
        sample=0.004,
    ),
    Probe(
        "memcpy_d2d",
        "memcpy_d2d",
        "bytes read + bytes written",
        DRAM,
        {"size": "auto"},
        bytes_per_pass=8 << 30,
    ),
    Probe(
        "l2_read",
        "l2_read",
        "bytes read from the cache",
        "none",
        {"window": "auto"},
        {"blocks": 132, "threads": 1024},
        30 << 20,
        expected_spread=0.04,
        process=0.004,
        card=0.006,
    ),
    Probe("read_unroll", "read_unroll", "bytes read", DRAM, dict(_READS), {"threads": 512}),
    Probe("read_seq", "read_seq", "bytes read", DRAM, dict(_READS), {"threads": 512}),
    Probe(
        "read_window",
        "read_window",
        "bytes read",
        DRAM,
        _WINDOW,
        {"blocks": 528, "threads": 512},
        64 << 20,
        expected_spread=0.04,
    ),
    _random("gather", 1024),
    _random("gather", "all"),
    _random("scatter", "all"),
)
PROBES: dict[str, Probe] = {p.key: p for p in _ALL}
SUITES: dict[str, tuple[str, ...]] = {"quick": tuple(PROBES)[:8], "full": tuple(PROBES)}


@dataclass(frozen=True)
class Baseline:
    """One entry as a verdict shows it. Reference in B/s or s, tolerances relative."""

    reference: float
    tolerance: float
    entry: str
    file: str
    kind: str = "measured"
    statistic: str = "median"
    upper: bool = True

    @property
    def bounds(self) -> tuple[float, float | None]:
        high = self.reference * (1 + self.tolerance) if self.upper else None
        return self.reference * (1 - self.tolerance), high


@dataclass(frozen=True, eq=False)
class Model:
    """A model, with each board part its own levels and baselines. There is one object of each."""

    name: str
    short: str  # as the search for a baseline names it
    pci_device: str
    pci_subsystem: str
    memory_bytes: int
    bus_width_bits: int
    memory_clock_mhz: float
    processors: int
    last_level_cache_bytes: int
    compute_capability: str
    power_limit_w: float
    sm_clock_mhz: float
    vbios: str
    pcie_generation: int
    file: str
    levels: dict[str, dict[str, float]]  # board part, probe: B/s or s of an ordinary card
    baselines: dict[str, dict[str, Baseline]]

    @property
    def peak(self) -> float:
        """B/s: two transfers a clock on every wire."""
        return self.memory_clock_mhz * 1e6 * 2 * self.bus_width_bits / 8


def _based(value: float, name: str) -> float:
    return value * (MICROSECOND if name == "launch" else GIB)


# probe: GiB/s (us) and index of the entry in nvidia-h200.json for the parts -000 and -001;
# tolerance. Transfers, launch and l2_read have one entry for both.
_H200 = {
    "read": (4379.36, 26, 4303.05, 27, 0.01),
    "write": (4378.88, 44, 4378.93, 45, 0.01),
    "copy": (3990.06, 0, 4005.71, 1, 0.01),
    "triad": (4115.93, 42, 4095.95, 43, 0.01),
    "memset": (4284.74, 21, 4286.33, 22, 0.01),
    "h2d": (51.5671, 15, 51.5671, 15, 0.06),
    "d2h": (51.4672, 5, 51.4672, 5, 0.06),
    "launch": (4.52371, 18, 4.52371, 18, 0.6),
    "memcpy_d2d": (3978.54, 19, 4000.36, 20, 0.01),
    "l2_read": (8163.35, 17, 8163.35, 17, 0.128),
    "read_unroll": (4284.16, 30, 4185.78, 31, 0.015),
    "read_seq": (2386.58, 28, 2427.76, 29, 0.015),
    "read_window": (4297.99, 32, 4150.46, 33, 0.015),
    "gather span=1024": (2971.8, 6, 2989.34, 7, 0.045),
    "gather": (563.715, 10, 518.852, 11, 0.045),
    "scatter": (234.853, 38, 230.764, 39, 0.045),
}
_H200_FILE = "built-in:nvidia-h200.json"
_H200_PARTS = {"692-2G520-0282-000": 0, "692-2G520-0282-001": 2}

# probe: GiB/s (us) that the synthetic cards reach.
_A100_LEVELS = {
    "read": 1665.0,
    "write": 1718.0,
    "copy": 1602.0,
    "triad": 1612.0,
    "memset": 1722.0,
    "h2d": 24.61,
    "d2h": 24.94,
    "launch": 4.9,
    "memcpy_d2d": 1588.0,
    "l2_read": 3910.0,
    "read_unroll": 1561.0,
    "read_seq": 1184.0,
    "read_window": 1592.0,
    "gather span=1024": 1196.0,
    "gather": 208.0,
    "scatter": 86.0,
}
_A100_PART = "692-2G506-0210-003"
_A100_FILE = "built-in:nvidia-a100-sxm4-80gb.json"
# The shipped file knows no transfers: an operator has recorded them.
_SITE_FILE = "/etc/bandgate/baselines/nvidia-a100-sxm4-80gb.json"


def _h200_baselines(first: int) -> dict[str, Baseline]:
    return {
        key: Baseline(_based(row[first], key), row[4], f"/entries/{row[first + 1]}", _H200_FILE)
        for key, row in _H200.items()
    }


def _a100(reference: float, tolerance: float, entry: int, kind: str, statistic: str) -> Baseline:
    return Baseline(
        reference, tolerance, f"/entries/{entry}", _A100_FILE, kind, statistic, upper=False
    )


H200 = Model(
    name="NVIDIA H200",
    short="h200",
    pci_device="10de:2335",
    pci_subsystem="10de:18bf",
    memory_bytes=150754820096,
    bus_width_bits=6016,
    memory_clock_mhz=3201.0,
    processors=132,
    last_level_cache_bytes=60 << 20,
    compute_capability="9.0",
    power_limit_w=700.0,
    sm_clock_mhz=1980.0,
    vbios="96.00.D9.00.01",
    pcie_generation=5,
    file="nvidia-h200.json",
    levels={
        part: {k: _based(row[first], k) for k, row in _H200.items()}
        for part, first in _H200_PARTS.items()
    },
    baselines={part: _h200_baselines(first) for part, first in _H200_PARTS.items()},
)
A100 = Model(
    name="NVIDIA A100-SXM4-80GB",
    short="a100-sxm4-80gb",
    pci_device="10de:20b2",
    pci_subsystem="10de:1463",
    memory_bytes=85094825984,
    bus_width_bits=5120,
    memory_clock_mhz=1593.0,
    processors=108,
    last_level_cache_bytes=40 << 20,
    compute_capability="8.0",
    power_limit_w=400.0,
    sm_clock_mhz=1410.0,
    vbios="92.00.9E.00.01",
    pcie_generation=4,
    file="nvidia-a100-sxm4-80gb.json",
    levels={_A100_PART: {k: _based(v, k) for k, v in _A100_LEVELS.items()}},
    baselines={
        _A100_PART: {
            "read": _a100(1750e9, 0.12, 0, "published", "peak"),
            "write": _a100(0.85 * 2039.04e9, 0.15, 1, "peak-fraction", "median"),
            "copy": _a100(1577.3 * GIB, 0.12, 2, "published", "median"),
            "triad": _a100(1700e9, 0.12, 3, "published", "peak"),
            "memcpy_d2d": _a100(1371.04e9, 0.10, 4, "published", "median"),
            "memset": _a100(0.85 * 2039.04e9, 0.15, 5, "peak-fraction", "median"),
            "h2d": Baseline(24.61 * GIB, 0.06, "/entries/1", _SITE_FILE),
            "d2h": Baseline(24.94 * GIB, 0.06, "/entries/0", _SITE_FILE),
        }
    },
)
