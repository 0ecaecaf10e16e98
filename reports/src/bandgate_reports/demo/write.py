# SPDX-License-Identifier: Apache-2.0
"""Where the documents of the demonstration go. The one place that knows how they are kept."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bandgate_reports.store import schema


class NotAResult(Exception):
    """A document that the schema refuses: a fault of the demonstration, never of its user."""


def write(folder: Path, documents: Iterable[dict[str, Any]]) -> int:
    """As the tool stores them: by day, one file each. How many there were."""
    number = 0
    made: set[Path] = set()
    for document in checked(documents):
        day = folder / document["run"]["started"][:10].replace("-", "/")
        if day not in made:
            day.mkdir(parents=True, exist_ok=True)
            made.add(day)
        text = json.dumps(document, separators=(",", ":"), allow_nan=False)
        (day / f"{document['run']['id']}.json").write_text(text, encoding="utf-8")
        number += 1
    return number


def checked(documents: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for document in documents:
        complaint = schema.complaint(document)
        if complaint:
            raise NotAResult(f"{document['run']['id']}: {complaint}")
        yield document
