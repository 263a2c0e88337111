"""Only `kbx_tui.removal` deletes: no other module calls anything that removes files or tables."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kbx_tui
from kbx_tui import removal
from kbx_tui.index.lexical.postings import WORDS
from kbx_tui.index.snapshot import LINKS
from kbx_tui.index.stored_names import NAMES
from kbx_tui.index.stored_records import BODIES, DOCUMENTS, ENTITIES, FACTS
from kbx_tui.index.tables import COLUMNS
from kbx_tui.index.vectors.stored_vectors import vectors_file
from kbx_tui.index.vectors.vector_lists import LISTS

PACKAGE = Path(kbx_tui.__file__).parent

METHODS = {
    *("rmtree", "unlink", "rmdir", "removedirs", "drop_table", "drop_all_tables", "drop_database"),
    *("TemporaryDirectory", "SpooledTemporaryFile", "ftruncate"),
}
"""Names that delete something, whatever they are called on."""
FUNCTIONS = {("os", "remove"), ("shutil", "move"), ("os", "truncate")}
"""Names that delete only as a function of that module."""


def removals(source: str) -> Iterator[str]:
    """Yield what a module calls, imports or refers to by name that deletes something."""
    modules = {module for module, _ in FUNCTIONS}
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if (owner, name) in FUNCTIONS:
                yield f"{owner}.{name}"
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in METHODS:
                yield name
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    if alias.name in METHODS or (module, alias.name) in FUNCTIONS:
                        yield f"{module}.{alias.name}"
            case ast.Import(names=names):
                yield from (
                    f"{a.name} as {a.asname}" for a in names if a.asname and a.name in modules
                )
            case ast.Constant(value=str(text)) if text in METHODS:  # for getattr
                yield repr(text)


def test_no_other_module_deletes_anything() -> None:
    found = {
        file.relative_to(PACKAGE).as_posix(): sorted(set(removals(file.read_text("utf-8"))))
        for file in PACKAGE.rglob("*.py")
        if file != Path(removal.__file__)
    }
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "line",
    [
        "file.unlink()",
        "shutil.rmtree(folder)",
        "from shutil import rmtree as clear",
        "os.remove(file)",
        "import os as system",
        "from os import remove",
        "getattr(os, 'rmdir')(folder)",
        "database.drop_table('documents')",
        "shutil.move(a, b)",
        "with TemporaryDirectory() as folder: pass",
        "list(map(os.unlink, files))",
    ],
)
def test_the_walk_notices(line: str) -> None:
    assert list(removals(line))


def test_what_removes_no_file_is_not_noticed() -> None:
    assert list(removals("names.remove('x'); text.move(1); text.replace('a', 'b')")) == []


def test_the_guard_knows_every_table_and_derived_file() -> None:
    assert set(removal.INDEX_TABLES) == {*COLUMNS}
    of_documents = (WORDS, BODIES, DOCUMENTS, vectors_file("any", 3))
    names = {name for file in of_documents for name in (file.name, file.of_newer.name)}
    names |= {file.name for file in (ENTITIES, NAMES, FACTS, LINKS, LISTS)}
    assert names == {*removal.DERIVED_FILES}
