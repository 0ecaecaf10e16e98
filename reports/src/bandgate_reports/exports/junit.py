# SPDX-License-Identifier: Apache-2.0
"""The newest verdicts as JUnit's XML, for the test pages of CI systems.

A suite is a node, a class a device, a case a probe with its parameters.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd

from bandgate_reports.analysis import verdicts
from bandgate_reports.exports.names import distinct, named
from bandgate_reports.exports.said import judged_value, said
from bandgate_reports.store.records import each
from bandgate_reports.text import count, printable, shorten
from bandgate_reports.trend.rows import stamp_text
from bandgate_reports.units import RateUnit

_OWN = "bandgate-report"
_NOT_XML = re.compile("[\ufffe\uffff]")  # all else that XML 1.0 forbids is not printable


@dataclass(frozen=True)
class Outcome:
    """What became of a case: `element` is "failure", "error", "skipped" or "" (passed)."""

    element: str = ""
    type: str = ""
    message: str = ""


@dataclass(frozen=True)
class Case:
    suite: str
    classname: str
    name: str
    seconds: float
    started: str  # UTC
    outcome: Outcome
    details: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()


def cases(
    results: pd.DataFrame, since: datetime | None = None, rate: RateUnit = RateUnit.GIB_S
) -> list[Case]:
    """`results` as series.identify() makes them. With `since`: the verdicts of what was tested at
    that time or later. A verdict that such a result may not replace (a regression, by a run
    without a baseline) is among them, and so is one whose time is impossible."""
    newest = verdicts.newest(results)
    if since is not None:
        recent = results.loc[results["placed"] & (results["started"] >= since), "line"].unique()
        newest = newest[newest["line"].isin(recent) | ~newest["placed"]]
    if newest.empty:
        return []
    table = named(newest, results).reset_index(drop=True)
    groups = results[results["line"].isin(table["line"].unique())]
    spent = groups.groupby(["line", "group"], observed=True)["duration_s"].sum()
    table["spent"] = [float(spent[key]) for key in zip(table["line"], table["group"], strict=True)]
    # Where Jenkins takes the part behind the last dot for the class, the part before for a package.
    devices = table["named_device"].str.replace(".", "_", regex=False)
    table["classname"] = "bandgate." + table["named_node"] + "." + devices
    table["case"] = (table["named_probe"] + " " + table["named_parameters"]).str.rstrip()
    identity = list(zip(table["card"], table["probe"], table["parameters"], strict=True))
    table["case"] = distinct(table, ["named_node", "classname", "case"], "case", identity)
    table = table.sort_values(["named_node", "classname", "case"], kind="stable")
    found = [_case(row, rate) for row in each(table)]
    unplaced = verdicts.summary(newest, results).unplaced_bad
    return [*found, untimed(unplaced)] if unplaced else found


def untimed(number: int) -> Case:
    """The error that no device can be given: something failed at a time that cannot be."""
    text = count(number, "regression or error", "regressions or errors")
    message = (
        f"{text} whose time stamp is impossible. Next: set the clock of the node right, and move "
        "the files away once looked at."
    )
    return own_error("time stamps", "impossible-time", message)


def own_error(name: str, kind: str, message: str, details: tuple[str, ...] = ()) -> Case:
    """A case of the report's own, so that what is missing is red and not absent."""
    outcome = Outcome("error", kind, message)
    return Case(_OWN, "bandgate.report", name, 0.0, "", outcome, details)


def _case(row: Any, rate: RateUnit) -> Case:
    words = said(row, rate)
    details = [words.number, *words.causes, words.next_step]
    details += [f"Note: {note}" for note in words.notes]
    details += ["Unstable: it failed once and passed in a fresh process"] if row.unstable else []
    details += ["Demo data: made up"] if row.demo else []
    flag = f" ({row.stamp_flag})" if row.stamp_flag else ""
    details.append(f"{row.named_model} on {row.named_node}, {stamp_text(row.started)}{flag}")
    return Case(
        suite=row.named_node,
        classname=row.classname,
        name=row.case,
        seconds=row.spent,
        started=f"{row.started:%Y-%m-%dT%H:%M:%S}" if row.placed else "",
        outcome=_outcome(row, words.message),
        details=tuple(d for d in details if d),
        properties=tuple(_properties(row)),
    )


def _outcome(row: Any, message: str) -> Outcome:
    if row.stale:
        when = stamp_text(row.started)
        text = f"not measured since {when}, while others were; the verdict then: {row.status}"
        return Outcome("skipped", "stale", f"{text}. {message}".rstrip())
    if row.status in ("pass", "improved"):
        return Outcome()
    if row.status == "regression":
        return Outcome("failure", "regression", message or "regression")
    if row.status == "error":
        return Outcome("error", row.failure_code or "error", message or "error")
    if row.status == "inconclusive":
        # Nobody knows whether the device is well: not a pass, and not skipped by anybody's wish.
        return Outcome("error", "inconclusive", f"inconclusive: {message}".rstrip(": "))
    words = {"no-baseline": "no baseline", "measured": "measured, not judged"}.get(row.status, "")
    text = ": ".join(t for t in (words, message) if t)
    return Outcome("skipped", row.status, text or "skipped")


def _properties(row: Any) -> Iterator[tuple[str, str]]:
    numbers = {
        "value": judged_value(row),
        "reference": row.reference,
        "lower_bound": row.lower,
        "upper_bound": row.upper,
        "ratio": row.ratio,
    }
    texts = {
        "status": row.status,
        "unstable": "true" if row.unstable else "",
        "attempts": str(row.attempts),
        "unit": row.unit,
        "statistic": row.statistic,
        "lower_is_better": "true" if row.lower_is_better else "",
        "model": row.named_model,
        "uuid": row.uuid,
        "pci_address": row.pci_address,
        "host": row.host,
        "driver": row.driver,
        "vbios": row.vbios,
        "kernel": row.kernel,
        "tool_version": row.tool_version,
        "probe": row.probe,
        "probe_version": str(row.version),
        "parameters": json.dumps(json.loads(row.parameters), sort_keys=True),
        "baseline_file": row.baseline_file,
        "baseline_kind": row.baseline_kind,
        "started": f"{row.started:%Y-%m-%dT%H:%M:%SZ}",
        "stamp_flag": row.stamp_flag,
        "demo": "true" if row.demo else "",
        "result_id": row.id,
        "result_file": row.file,
    }
    yield from ((k, repr(float(v))) for k, v in numbers.items() if math.isfinite(v))
    yield from ((k, v) for k, v in texts.items() if v)


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", printable(text))


def render(found: list[Case]) -> bytes:
    """UTF-8. Suites and cases in order, so that two nights can be compared as texts."""
    suites: dict[str, list[Case]] = {}
    for case in found:
        suites.setdefault(case.suite, []).append(case)
    root = ET.Element("testsuites", {"name": "bandgate", **_totals(found)})
    for name, members in suites.items():
        suite = ET.SubElement(root, "testsuite", {"name": _xml(name), **_totals(members)})
        if any(c.started for c in members):
            suite.set("timestamp", min(c.started for c in members if c.started))
        if name != _OWN:
            suite.set("hostname", _xml(name))
        for case in members:
            suite.append(_element(case))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _totals(found: list[Case]) -> dict[str, str]:
    outcomes = [c.outcome.element for c in found]
    return {
        "tests": str(len(found)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(c.seconds for c in found):.3f}",
    }


def _element(case: Case) -> ET.Element:
    names = {"classname": _xml(case.classname), "name": _xml(case.name)}
    element = ET.Element("testcase", {**names, "time": f"{case.seconds:.3f}"})
    if case.properties:
        properties = ET.SubElement(element, "properties")
        for name, value in case.properties:
            ET.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    text = "\n".join(_xml(line) for line in case.details)
    outcome = case.outcome
    if outcome.element:
        about = {"type": _xml(outcome.type), "message": _xml(shorten(outcome.message, 2000))}
        ET.SubElement(element, outcome.element, about).text = text
    else:
        ET.SubElement(element, "system-out").text = text
    return element
