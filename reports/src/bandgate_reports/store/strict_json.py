# SPDX-License-Identifier: Apache-2.0
"""JSON as its standard has it: Python's own reader takes NaN, 1e999 and repeated keys."""

import json
import math
import re
from typing import Any, NoReturn

TOO_DEEP = "it is nested too deeply"

# What other programs leave where UTF-8 is expected: how it begins, what it is, what to do.
_OTHER = {
    b"\x1f\x8b": "it is compressed with gzip; unpack it",
    b"\xff\xfe": "it is UTF-16; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16; save it as UTF-8",
    b"\xef\xbb\xbf": "it begins with a byte order mark; save it as UTF-8 without one",
}


class NotJson(ValueError):  # noqa: N818 - a reason, read by people
    """Why a text is not JSON, in words."""


def _constant(token: str) -> NoReturn:
    raise NotJson(f"{token} is not a JSON number")


def _float(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise NotJson(f"the number {token[:40]} does not fit")
    return value


def _int(token: str) -> int:
    if len(token) > 20:  # more than any 64-bit number has
        raise NotJson(f"the number {token[:20]}… does not fit")
    return int(token)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(n for n in names if names.count(n) > 1)
        raise NotJson(f"the key {json.dumps(twice)[:60]} is there twice")
    return read


_DECODER = json.JSONDecoder(
    parse_constant=_constant, parse_float=_float, parse_int=_int, object_pairs_hook=_object
)


_SURROGATES = re.compile("[\ud800-\udfff]")


def _encodable(value: Any) -> Any:
    """Lone surrogates, which JSON can spell and no encoding can store, become U+FFFD."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_encodable(k): _encodable(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_encodable(v) for v in value]
    return value


def parse(data: bytes) -> Any:
    """The document. Raises NotJson for everything else."""
    if not data:
        raise NotJson("the file is empty")
    for begin, reason in _OTHER.items():
        if data.startswith(begin):
            raise NotJson(reason)
    if b"\0" in data:
        raise NotJson("it holds NUL bytes (a file that was never written to the end?)")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson(f"broken UTF-8 at byte {error.start}") from None
    try:
        document = _DECODER.decode(text)
        return _encodable(document) if "\\ud" in text.lower() else document
    except json.JSONDecodeError as error:
        cut = " (cut off?)" if error.pos >= len(text.rstrip()) else ""
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}{cut}") from None
    except RecursionError:
        raise NotJson(TOO_DEEP) from None
