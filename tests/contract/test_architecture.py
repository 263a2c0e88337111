"""The structure of the package: no import cycles, and a documented interface."""

import ast
import inspect
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import kbx_tui
from kbx_tui import KnowledgeBase

PACKAGE = Path(kbx_tui.__file__).parent
MODULES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts): file
    for file in sorted(PACKAGE.rglob("*.py"))
    if "demo/memory" not in file.as_posix()
}


def test_imports_form_no_cycle() -> None:
    """Neither do late imports and those for type checking only."""
    graph = {name: set(imported_modules(file)) - {name} for name, file in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None


def test_every_public_method_of_knowledge_base_is_documented() -> None:
    methods = {
        name: member
        for name, member in vars(KnowledgeBase).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }
    assert {"search", "index", "memory_add"} <= set(methods)
    assert [name for name, method in methods.items() if not method.__doc__] == []


def imported_modules(file: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports anywhere."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                package = f"{node.module}.__init__"
                yield from (name for name in (submodule,) if name in MODULES)
                if submodule not in MODULES:
                    yield from (name for name in (node.module, package) if name in MODULES)
