"""The structure of the package: no import cycles, and a documented interface."""

from __future__ import annotations

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
    """Imports for type checking only do not run, and so cannot form a cycle."""
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
    """Yield the modules of the package that a file imports at run time, late imports included."""
    for node in run_time_nodes(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                package = f"{node.module}.__init__"
                yield from (name for name in (submodule,) if name in MODULES)
                if submodule not in MODULES:
                    yield from (name for name in (node.module, package) if name in MODULES)


def run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes except those below `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from run_time_nodes(child)
