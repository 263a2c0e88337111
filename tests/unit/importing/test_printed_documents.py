"""PDF and Word files become pages, within limits; a hostile one is one sentence."""

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence

import pytest
from docx import Document
from pypdf import PdfReader, PdfWriter

from kbx_tui.importing import printed_documents
from kbx_tui.importing.import_formats import read_documents
from kbx_tui.importing.imported_document import Imported, ImportedDocument, SourceFile

BODY = "word/document.xml"
PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> "


def stream(data: bytes, entries: str = "") -> bytes:
    return f"<< /Length {len(data)} {entries}>>\nstream\n".encode() + data + b"\nendstream"


def content(lines: Sequence[str]) -> bytes:
    shown = " ".join(f"({line}) Tj T*" for line in lines)
    return stream(f"BT /F 12 Tf 14 TL 72 770 Td {shown} ET".encode("latin-1"))


def pdf(*contents: bytes, about: str = "") -> bytes:
    """Return a PDF with a page for each stream of content."""
    pages = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{pages}] /Count {len(contents)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< {about} >>".encode(),
    ]
    for number, each in enumerate(contents):
        objects += [f"{PAGE} /Contents {6 + 2 * number} 0 R >>".encode(), each]
    data, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + each + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    end = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer << /Size {count} /Root 1 0 R "
    return data + f"{end}/Info 4 0 R >>\nstartxref\n{len(data)}\n%%EOF\n".encode()


def encrypted() -> bytes:
    data = io.BytesIO()
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(content(["a secret"])))))
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(data)
    return data.getvalue()


def word() -> bytes:
    made, data = Document(), io.BytesIO()
    made.core_properties.title = "Ferry plan"
    made.add_heading("Timetable", 1)
    made.add_paragraph("The ferry leaves at nine.")
    made.add_paragraph("oars", style="List Bullet")
    table = made.add_table(2, 2)
    table.cell(0, 0).text, table.cell(1, 1).text = "pier|quay", "two\nlines"
    within = table.cell(1, 0).add_table(1, 2)
    within.cell(0, 0).text, within.cell(0, 1).text = "oar", "buoy"
    made.sections[0].header.paragraphs[0].text = "Confidential"
    made.save(data)
    return data.getvalue()


def altered(change: Callable[[str], str], **added: bytes) -> bytes:
    """Return the Word file with its body changed, and files added to it."""
    data = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word())) as old,
        zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            each = old.read(name)
            new.writestr(name, change(each.decode()).encode() if name == BODY else each)
        for name, each in added.items():
            new.writestr(name, each)
    return data.getvalue()


def declared(entities: str) -> bytes:
    def change(body: str) -> str:
        body = body.replace("?>", f"?><!DOCTYPE w:document [{entities}]>", 1)
        return body.replace("The ferry", "&x; The ferry")

    return altered(change)


def read(name: str, data: bytes) -> tuple[Sequence[ImportedDocument], Sequence[str]]:
    imported: Imported = read_documents([SourceFile(name, data)])
    documents = [each for each in imported.documents if isinstance(each, ImportedDocument)]
    return documents, [problem.reason for problem in imported.problems]


def test_a_pdf_becomes_a_page_with_a_heading_for_each_of_its_pages() -> None:
    about = "/Title (Harbour works) /CreationDate (D:20260317)"
    lines = ["# of boats: 17", "# berths", "<!-- no comment", "---", "~~~", "<glob>"]
    data = pdf(content(["The crane was mended."]), content([]), content(lines), about=about)
    (page,), left_out = read("papers/Harbour report.pdf", data)
    assert (page.title, page.date) == ("Harbour works", "2026-03-17")
    assert (page.folder, page.stem) == ("papers", "harbour-report")
    assert page.body == (
        "## p. 1\n\nThe crane was mended.\n\n"
        "## p. 3\n\n\\# of boats: 17\n\\# berths\n\\<!-- no comment\n\\---\n\\~~~\n<glob>\n"
    )
    assert left_out == ["no text on p. 2"]


@pytest.mark.parametrize(
    ("about", "title"),
    [
        ("/Title (Harbour works) /CreationDate (D:2026-99-99)", "Harbour works"),
        ("/Title (Harbour works) /CreationDate (yesterday)", "Harbour works"),
        ("/Title (Harbour works) /CreationDate 17", "Harbour works"),
        ("/Title << /A 1 >> /CreationDate [1 2]", "report"),
    ],
)
def test_malformed_properties_of_a_pdf_cost_only_themselves(about: str, title: str) -> None:
    (page,), left_out = read("report.pdf", pdf(content(["The crane."]), about=about))
    assert (page.title, page.date, page.body) == (title, "", "## p. 1\n\nThe crane.\n")
    assert left_out == []


def test_a_day_in_the_name_of_a_file_counts_before_that_in_its_properties() -> None:
    data = pdf(content(["x"]), about="/CreationDate (D:20260401)")
    (page,), _ = read("2026-03-17 minutes.pdf", data)
    assert (page.title, page.date) == ("2026-03-17 minutes", "2026-03-17")


def test_a_word_file_keeps_headings_items_and_tables_and_names_what_is_left_out() -> None:
    (page,), left_out = read("plan.docx", word())
    assert page.title == "Ferry plan"
    assert page.body == (
        "## Timetable\n\nThe ferry leaves at nine.\n\n- oars\n\n"
        "| pier\\|quay |  |\n| --- | --- |\n| oar buoy | two lines |\n"
    )
    assert left_out == ["left out: header"]


def test_text_of_a_word_file_is_read_as_it_stands_after_its_changes() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    box = f"<w:r><w:txbxContent><w:p>{run.format('boxed')}</w:p></w:txbxContent></w:r>"
    more = (
        f"<w:p><w:ins>{run.format('inserted')}</w:ins>{box}"
        "<w:del><w:r><w:br/><w:delText>deleted</w:delText></w:r></w:del>"
        f"<w:moveFrom>{run.format('moved')}</w:moveFrom></w:p>"
        f"<w:p><w:moveTo>{run.format('moved')}</w:moveTo></w:p>"
        f"<w:sdt><w:sdtContent><w:p>{run.format('controlled')}</w:p></w:sdtContent></w:sdt>"
    )
    data = altered(lambda body: body.replace("<w:body>", f"<w:body>{more}"))
    (page,), _ = read("plan.docx", data)
    assert page.body.startswith("inserted\nboxed\n\nmoved\n\ncontrolled\n\n## Timetable")


@pytest.mark.slow  # it reads 2,000 of them
def test_a_pdf_of_ten_thousand_pages_is_read_in_part() -> None:
    data = pdf(*[content(["x"])] * 10_000)
    (page,), left_out = read("long.pdf", data)
    assert page.body.count("## p. ") == 2_000
    assert left_out == ["only its first 2,000 of 10,000 pages are read"]


PDF_BOMB = zlib.compress(zlib.compress(b"q " * 150_000_000))
HOSTILE = {
    "encrypted.pdf": (encrypted(), "encrypted"),
    "cut.pdf": (pdf(content(["x"]))[:300], "damaged"),
    "empty.pdf": (b"", "it is empty"),
    "scanned.pdf": (pdf(content([]), content([])), "no page has text"),
    "bomb.pdf": (pdf(stream(PDF_BOMB, "/Filter [/FlateDecode /FlateDecode] ")), "p. 1 cannot"),
    "word.pdf": (word(), "damaged"),
    "empty.docx": (b"", "it is empty"),
    "encrypted.docx": (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(4_096), "encrypted"),
    "archive.docx": (altered(lambda body: ""), "damaged"),
    "bomb.docx": (altered(lambda body: body, bomb=bytes(300 * 1024**2)), "expands to"),
    "deep.docx": (
        altered(lambda body: body.replace("<w:body>", "<w:body>" + "<w:sdt>" * 100_000)),
        "damaged",
    ),
    "entities.docx": (
        declared(
            f'<!ENTITY a "ha"><!ENTITY b "{"&a;" * 999}"><!ENTITY c "{"&b;" * 999}">'
            f'<!ENTITY x "{"&c;" * 999}">'
        ),
        "damaged",
    ),
}


@pytest.mark.slow  # a process for each
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_sentence(name: str) -> None:
    data, reason = HOSTILE[name]
    documents, (problem, *more) = read(name, data)
    assert (documents, more) == ([], [])
    assert reason in problem
    assert "\n" not in problem


def test_an_entity_of_a_word_file_opens_no_other_file() -> None:
    (page,), _ = read("plan.docx", declared('<!ENTITY x SYSTEM "file:///etc/passwd">'))
    assert "&x; The ferry leaves at nine." in page.body


def test_a_file_that_takes_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_documents, "SECONDS", 0.001)
    assert read("slow.pdf", pdf(content(["x"]))) == (
        [],
        ["reading it takes more than 0.001 seconds"],
    )


def test_without_the_extra_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_documents, "LIBRARIES", {".pdf": "no_such_library"})
    documents, (reason,) = read("plan.pdf", pdf(content(["x"])))
    assert (documents, "kbx-tui[documents]" in reason) == ([], True)
