# SPDX-License-Identifier: Apache-2.0
"""Text from outside (names of devices, hosts, files, errors) made safe to show."""

import re

_BIDI = {
    ord(c): f"\\u{ord(c):04x}"
    for c in "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
}
_CONTROL = {c: chr(0x2400 + c) for c in range(0x20)} | {0x7F: "\u2421"}
_C1 = {c: f"\\x{c:02x}" for c in range(0x80, 0xA0)}
_SEPARATORS = {0x2028: "\u2424", 0x2029: "\u2424"}
_TABLE = _BIDI | _CONTROL | _C1 | _SEPARATORS
_SURROGATES = re.compile("[\ud800-\udfff]")

# Backslash escapes do not work for "<" and "&" in every renderer of Markdown; entities do.
_MARKDOWN = str.maketrans(
    {c: f"&#{ord(c)};" for c in "<>&|@"} | {c: "\\" + c for c in "\\`*_[]~#$"}
)


def printable(text: str) -> str:
    """One line: control characters become their pictures, what would reorder text is spelled out.

    Lone surrogates, which JSON can spell and UTF-8 cannot, become U+FFFD.
    """
    if text.isprintable():  # nearly every text: it has none of all that
        return str(text)
    return _SURROGATES.sub("\ufffd", text.translate(_TABLE))


def shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def markdown_cell(text: str, limit: int = 300) -> str:
    """Text that shows as itself in a cell of a Markdown table."""
    return shorten(printable(text), limit).translate(_MARKDOWN).replace("://", "&#58;//")


def count(number: int, singular: str, plural: str = "") -> str:
    """ "1 night", "2 nights"."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def listed(items: list[str], most: int = 3) -> str:
    """ "a, b, c and 4 more"."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
