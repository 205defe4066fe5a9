"""In which encoding an XML file is read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

#: Encodings that the parser knows by itself; all others are turned into the first of them.
KNOWN = frozenset({"utf-8", "utf-16", "ascii", "iso8859-1"})
#: Codecs of Python that are no encodings of documents.
NO_ENCODINGS = frozenset({"unicode-escape", "raw-unicode-escape", "idna", "punycode", "utf-7"})
DECLARED = re.compile(rb"^<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:-]{1,40})[\"']")


def parser_for(start: bytes) -> tuple[Any, Callable[..., bytes] | None]:
    """Return a parser for the encoding that a file begins in, and what turns another one into UTF-8."""
    found = DECLARED.match(start.removeprefix(codecs.BOM_UTF8))
    if found is None:
        return expat.ParserCreate(), None
    name = found[1].decode("ascii")
    "".encode(name)  # refuses what is unknown, and codecs that are no encoding of text
    known = codecs.lookup(name).name
    if known in KNOWN:
        return expat.ParserCreate(), None
    if known.replace("_", "-") in NO_ENCODINGS:
        raise LookupError(f"the encoding {name!r} is refused")
    decoder = codecs.getincrementaldecoder(name)()
    return expat.ParserCreate("utf-8"), lambda chunk, final: decoder.decode(chunk, final).encode("utf-8")
