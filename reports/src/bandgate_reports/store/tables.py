# SPDX-License-Identifier: Apache-2.0
"""The table of results: types of its columns, in memory and in files.

Texts that repeat (nearly all) are dictionary-encoded, so that a million results take hundreds of
megabytes and not tens of gigabytes, and grouping by them costs what grouping by integers does.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from bandgate_reports.store.records import (
    COLUMNS,
    FLAGS,
    INTEGERS,
    NUMBERS,
    OBJECTS,
    UNIQUE_TEXTS,
)

Positions = npt.NDArray[np.int64]

_ENCODED = pa.dictionary(pa.int32(), pa.large_string())


def _type(column: str) -> pa.DataType:
    if column in NUMBERS:
        return pa.float64()
    if column in INTEGERS:
        return pa.int64()
    if column in FLAGS:
        return pa.bool_()
    if column == "started":
        return pa.timestamp("us", tz="UTC")
    return pa.large_string() if column in UNIQUE_TEXTS else _ENCODED


SCHEMA = pa.schema([pa.field(c, _type(c)) for c in COLUMNS])

# How an object is written: JSON, since it has no fixed shape (names of `more` are the probes' own).
_DECODE: dict[str, Callable[[Any], Any]] = {
    "reasons": lambda found: tuple((code, sentence) for code, sentence in found or ()),
    "notes": lambda found: tuple(found or ()),
    "more": lambda found: found or {},
    "parts": lambda found: found,
}


_json = json.JSONEncoder(sort_keys=True).encode


def _values(column: str, found: list[Any]) -> list[Any]:
    if column in OBJECTS:
        said = {(): "[]", None: "null"}  # what nearly all say
        return [said[v] if v is None or v == () else _json(v) for v in found]
    if column in FLAGS:
        return [bool(v) for v in found]
    if column in INTEGERS:
        return [v or 0 for v in found]
    if column in NUMBERS:  # a whole number may be beyond 64 bits
        return [None if v is None else float(v) for v in found]
    if column == "started":
        return found
    return [v or "" for v in found]


def to_arrow(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows as records.row() makes them; what a row lacks is not known."""
    listed = list(rows)
    arrays = []
    for column, field in zip(COLUMNS, SCHEMA, strict=True):
        values = _values(column, [r.get(column) for r in listed])
        if field.type == _ENCODED:
            arrays.append(pa.array(values, type=pa.large_string()).dictionary_encode())
        else:
            arrays.append(pa.array(values, type=field.type))
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def conform(table: pa.Table) -> pa.Table:
    """A table that another version wrote, with this one's columns; what it lacks is not known."""
    arrays = []
    for field in SCHEMA:
        if field.name in table.column_names:
            arrays.append(table.column(field.name).cast(field.type))
        else:
            blank = to_arrow([{}]).column(field.name)
            index = pa.array(np.zeros(len(table), dtype=np.int64))
            arrays.append(blank.take(index))
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def to_pandas(table: pa.Table, rows: Positions | None = None) -> pd.DataFrame:
    """Every column of COLUMNS with its type, also when there is no row; `rows` in their order.

    Categories are in the order of their texts and hold "", so sorting and blanking work as with
    texts. One column at a time: whole tables that lie in memory twice are what a million results
    cannot have.
    """
    data = {f.name: _column(table.column(f.name), f, rows) for f in SCHEMA}
    return pd.DataFrame(data, copy=False)


def _column(column: pa.ChunkedArray, field: pa.Field, rows: Positions | None) -> Any:
    if field.type != _ENCODED:
        if rows is not None:
            column = column.take(pa.array(rows))
        found = column.to_pandas()
        if field.name in UNIQUE_TEXTS:
            return found.astype("str")
        return found.dt.as_unit("us") if field.name == "started" else found
    codes, texts = decoded(column)
    if rows is not None:
        codes = codes[rows]
    if field.name in OBJECTS:
        decode = _DECODE[field.name]
        values = np.empty(len(texts), dtype=object)
        values[:] = [decode(json.loads(t)) for t in texts]
        return pd.Series(values[codes], dtype="object")
    return categorical(codes, texts)


def decoded(column: pa.ChunkedArray) -> tuple[npt.NDArray[Any], list[str]]:
    """An encoded column's codes and what they stand for."""
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], type=_ENCODED)
    return whole.indices.to_numpy(zero_copy_only=False), whole.dictionary.to_pylist()


def categorical(codes: npt.NDArray[Any], texts: list[str]) -> pd.Series:
    """Codes and what they stand for as a categorical with its categories in order, "" included."""
    ordered = sorted({"", *texts})
    place = {text: i for i, text in enumerate(ordered)}
    narrow = np.min_scalar_type(-len(ordered) - 1)
    renumbered = np.array([place[t] for t in texts] or [0], dtype=narrow)
    recoded = renumbered[codes] if len(codes) else np.empty(0, dtype=narrow)
    return pd.Series(pd.Categorical.from_codes(recoded, categories=pd.Index(ordered, dtype="str")))


def from_rows(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return to_pandas(to_arrow(rows))
