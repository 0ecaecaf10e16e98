# SPDX-License-Identifier: Apache-2.0
"""The schema of a result: the same file that the C++ side validates against."""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

from bandgate_reports.text import shorten

NAME = "result.schema.json"
RESULT = "bandgate.result/1"


def schema_text() -> str:
    """The copy in the installed package, else (a source tree) the repository's file."""
    packaged = files("bandgate_reports") / "data" / NAME
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    here = Path(__file__).resolve()
    return (here.parents[4] / "baselines" / "schema" / NAME).read_text(encoding="utf-8")


@cache
def _schema() -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(schema_text()))


@cache
def _compiled() -> jsonschema_rs.Draft7Validator:
    # A hundred times faster than jsonschema, which explains better: that is asked only about what
    # is wrong.
    return jsonschema_rs.Draft7Validator(_schema())


def complaint(document: object) -> str:
    """Why a document is not a result, with its JSON pointer; "" when it is one."""
    if not isinstance(document, dict):
        kind = {list: "a list", str: "a string", type(None): "null"}.get(type(document), "a number")
        return f"the top level is {kind}, not an object"
    if document.get("schema") != RESULT:
        found = document.get("schema")
        named = (
            f"its schema is {json.dumps(found)[:60]}" if found is not None else "no schema named"
        )
        newer = isinstance(found, str) and found.startswith(RESULT.partition("/")[0] + "/")
        remedy = "; use the bandgate-report of the version that wrote it" if newer else ""
        return f"not a result of Bandgate ({named}, this tool reads {RESULT}){remedy}"
    return _of_parameters(document) if _compiled().is_valid(document) else _explained(document)


def _of_parameters(document: dict[str, Any]) -> str:
    """What the schema does not say, since the validator of the program, which reads the same one,
    takes numbers above 2^63 for negative ones."""
    for value in document["probe"]["parameters"].values():
        if isinstance(value, int) and not 0 <= value < 1 << 64:
            return f"/probe/parameters: {shorten(str(value), 40)} is not from 0 to 2^64 - 1"
    return ""


def _explained(document: object) -> str:
    errors = list(Draft7Validator(_schema()).iter_errors(document))
    # The schema has one "oneOf", and what it says of a document that is broken besides misleads.
    error = best_match(e for e in errors if e.validator != "oneOf")
    if error is None:
        only_one = "/: needs exactly one of a measurement, a failure and a skip_reason"
        return only_one if errors else "/: does not hold to the schema"
    pointer = "/" + "/".join(str(p) for p in error.absolute_path)
    return f"{pointer}: {shorten(error.message, 160)}"
