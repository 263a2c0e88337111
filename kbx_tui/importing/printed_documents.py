"""A program that reads PDF and Word files as pages: their text, and the page or heading above it.

Such files may be hostile. The libraries that read them come with the extra `documents`, and run
in a process of their own (this module), with limits on memory and time.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from importlib.util import find_spec
from itertools import chain
from typing import Any

from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
    content_id,
    markdown_table,
)
from kbx_tui.knowledge.dates import day_in
from kbx_tui.knowledge.folding import slug
from kbx_tui.system import limit_memory

MOST_PAGES, MOST_CHARACTERS = 2_000, 5_000_000
SECONDS, MEMORY = 60, 1024**3
EXPANDED = 256 * 1024**2
"""Most bytes that a Word file, which is a zip archive, may expand to."""
READ_SHARE = 0.8
"""Of `SECONDS`, after which no further page is begun, so that those read are not lost."""
LONGEST_TITLE = 200

_BLOCK_MARK = re.compile(
    r"^(?=#{1,6}(?:[ \t]|$)|```|~~~|<(?:[!?]|pre|script|style|textarea)|=+$|-+$)",
    re.MULTILINE | re.IGNORECASE,
)
"""Before what would begin a heading, or a block that the headings of further pages were part of."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_LINE_END = re.compile("\r\n?|\x0c")


def read_printed(file: SourceFile) -> Imported:
    """Return the page of a PDF or Word file. Raises ValueError with a reason."""
    library = LIBRARIES[file.suffix]
    if find_spec(library) is None:
        raise ValueError(
            f"{file.suffix} files need the extra `documents`: install kbx-tui[documents], as in "
            "`uv tool install 'kbx-tui[documents]'`"
        )
    read = _read_apart(file)
    parts = (f"{heading}\n\n{text}" if heading else text for heading, text in read["parts"])
    *folders, _ = file.path.split("/")
    document = ImportedDocument(
        import_id=f"{file.suffix[1:]}:{content_id(file.data)}",
        kind="note",
        title=read["title"] or file.stem,
        date=day_in(file.path) or read["date"],
        fields={"file": file.path},
        folder="/".join(filter(None, map(slug, folders))),
        stem=slug(file.stem),
        body="\n\n".join(parts) + "\n",
    )
    return Imported((document,), tuple(ImportProblem(file.path, why) for why in read["left_out"]))


def _read_apart(file: SourceFile) -> dict[str, Any]:
    """Read a file in a process of its own. `-P` keeps it from importing what lies around."""
    command = [sys.executable, "-P", "-m", __name__, file.suffix]
    try:
        ran = subprocess.run(command, input=file.data, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"reading it takes more than {SECONDS} seconds") from error
    if ran.returncode:
        raise ValueError("reading it needs too much memory, or it is damaged")
    read: dict[str, Any] = json.loads(ran.stdout)
    if reason := read.get("error"):
        raise ValueError(reason)
    return read


class _Refused(Exception):
    """A file that is not read, with the reason."""


def _read_pdf(data: bytes) -> dict[str, Any]:
    from pypdf import PdfReader

    began, left_out = time.monotonic(), list[str]()
    pdf = PdfReader(io.BytesIO(data))
    if pdf.is_encrypted and not pdf.decrypt(""):
        raise _Refused("it is encrypted; save it without a password")
    parts, empty, size = list[tuple[str, str]](), list[str](), 0
    count = len(pdf.pages)
    for number in range(1, count + 1):
        is_late = time.monotonic() - began > READ_SHARE * SECONDS
        if number > MOST_PAGES or size > MOST_CHARACTERS or is_late:
            left_out.append(f"only its first {number - 1:,} of {count:,} pages are read")
            break
        try:
            text = _plain(pdf.pages[number - 1].extract_text())
        except Exception as error:  # a damaged page; the others may be whole
            left_out.append(f"p. {number} cannot be read: {type(error).__name__}")
            continue
        size += len(text)
        if text:
            parts.append((f"## p. {number}", text))
        else:
            empty.append(str(number))
    if not parts:
        nothing = "no page has text; scanned pages need text recognition first"
        raise _Refused(left_out[0] if left_out else nothing)
    if empty:
        left_out.append(f"no text on p. {', '.join(empty[:20])}{', ...' * (len(empty) > 20)}")
    return _result(_stated(pdf, "metadata"), "creation_date", parts, left_out)


def _read_docx(data: bytes) -> dict[str, Any]:
    if data.startswith(_OLE):
        raise _Refused(
            "it is encrypted or in the old .doc format; save it as .docx without a password"
        )
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        expanded = sum(entry.file_size for entry in archive.infolist())
    if expanded > EXPANDED:
        raise _Refused(f"it expands to {expanded:,} bytes, more than {EXPANDED:,}")
    from docx import Document

    word = Document(io.BytesIO(data))
    styles = {style.style_id: style.name or "" for style in word.styles}
    blocks = [block for block in _blocks(word.element.body, styles) if block.strip()]
    if not blocks:
        raise _Refused("it has no text")
    names = sorted(
        {
            beside[1]
            for part in word.part.package.iter_parts()
            if (beside := _BESIDE.search(str(part.partname))) and b"<w:t" in part.blob
        }
    )
    left_out = [f"left out: {', '.join(names)}"] if names else []
    text = "\n\n".join(blocks)
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS]
        left_out.append(f"only its first {MOST_CHARACTERS:,} characters are read")
    return _result(_stated(word, "core_properties"), "created", [("", text)], left_out)


_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
"""How a file begins that holds an encrypted Word file, or is one of Word before 2007."""
_BESIDE = re.compile(r"(header|footer|footnotes|endnotes|comments)\d*\.xml$")
_HEADING = re.compile(r"heading ([1-6])$", re.IGNORECASE)
_TEXTS = (
    ".//w:p | .//w:r/*[self::w:t or self::w:tab or self::w:br or self::w:cr or "
    "self::w:noBreakHyphen]"
    "[not(ancestor::*[local-name()='Fallback'] | ancestor::w:del | ancestor::w:moveFrom)]"
)
"""The parts of a paragraph's text, also in links, fields, text boxes and what was inserted, but not
what was deleted or moved away; a text box is a second time in its fallback."""
_ROWS, _CELLS = (f"./w:{part} | ./w:sdt/w:sdtContent/w:{part}" for part in ("tr", "tc"))


def _blocks(element: Any, styles: Mapping[str, str]) -> Iterator[str]:
    """Yield paragraphs, headings, items and tables as markdown."""
    for child in element:
        kind = str(child.tag).rpartition("}")[2]
        if kind == "p":
            yield _paragraph(child, styles)
        elif kind == "tbl":
            rows = (row.xpath(_CELLS) for row in child.xpath(_ROWS))
            cells = [[" ".join(_blocks(cell, styles)) for cell in row] for row in rows]
            is_within = bool(child.xpath("./ancestor::w:tc"))  # a cell of a table, as in a form
            yield " ".join(chain(*cells)) if is_within else markdown_table(cells)
        elif kind != "sectPr":
            yield from _blocks(child, styles)


def _paragraph(element: Any, styles: Mapping[str, str]) -> str:
    signs = {"tab": "\t", "br": "\n", "cr": "\n", "p": "\n", "noBreakHyphen": "-"}
    parts = ((str(part.tag).rpartition("}")[2], part) for part in element.xpath(_TEXTS))
    text = _plain("".join(signs.get(kind) or "".join(part.itertext()) for kind, part in parts))
    (named,) = element.xpath("./w:pPr/w:pStyle/@w:val") or [""]
    style = styles.get(named, "")
    if text and (heading := _HEADING.match(style)):
        return f"{'#' * min(int(heading[1]) + 1, 6)} {' '.join(text.split())}"
    is_item = style.startswith("List ") or element.xpath("./w:pPr/w:numPr")
    return f"- {text}" if text and is_item else text


def _plain(text: str) -> str:
    """Return text without controls and without what markdown would take for blocks of its own."""
    lines = _CONTROL.sub(" ", _LINE_END.sub("\n", text)).split("\n")
    return _BLOCK_MARK.sub(r"\\", "\n".join(map(str.strip, lines)).strip("\n"))


def _stated(about: object, name: str) -> Any:
    """Return what a file states about itself; None if it states nothing, or it is malformed."""
    try:
        return getattr(about, name, None)
    except Exception:  # whatever a library raises for it
        return None


def _result(
    about: object, date: str, parts: list[tuple[str, str]], left_out: list[str]
) -> dict[str, Any]:
    title, made = _stated(about, "title"), _stated(about, date)
    title = title if isinstance(title, str) else ""
    return {
        "title": " ".join(_CONTROL.sub(" ", title).split())[:LONGEST_TITLE],
        "date": made.date().isoformat() if isinstance(made, datetime) else "",
        "parts": parts,
        "left_out": left_out,
    }


LIBRARIES = {".pdf": "pypdf", ".docx": "docx"}
_READERS: dict[str, Callable[[bytes], dict[str, Any]]] = {".pdf": _read_pdf, ".docx": _read_docx}


def main() -> None:
    limit_memory(MEMORY)
    try:
        if not (data := sys.stdin.buffer.read()):
            raise _Refused("it is empty")
        result = _READERS[sys.argv[1]](data)
    except _Refused as error:
        result = {"error": str(error)}
    except Exception as error:  # whatever a library raises for a damaged file
        result = {"error": f"it is damaged, or no {sys.argv[1]} file ({type(error).__name__})"}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
