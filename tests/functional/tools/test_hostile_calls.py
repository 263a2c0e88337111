"""Any arguments get an answer that matches a schema: no traceback, no text from other folders."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.methods import METHODS, failure_schema, input_schema, output_schema
from tests.functional.tools.conftest import SECRET
from tests.trusting import copy_base

OUTSIDE = "outside.md"
READING = [name for name, method in METHODS.items() if not method.writes]

ODD_TEXTS = st.sampled_from([
    "", " ", "\x00", "\ud800", "'", "''; DROP TABLE facts; --", "' OR 1=1 --", '"', "\\", "%", "_",
    "*", "**", "[", "[!", "{a,", "{" * 200, "?", "(", "~" * 50, "\n", "\u202e", "𝔘𝔫𝔦", "会議",
    "..", "../..", "../outside.md", "/etc/passwd", "memory/../../outside.md", "%2e%2e/",
    "memory/people/link.md", "file:///etc/passwd", "C:\\Windows", "~/secret", "memory//",
    "person:alice-chen", "Alice Chen", "migration", "team:platform", "2026-13-45", "0000",
    "path = 'x'", "role", "facts", "NaN", "null", "count", "a" * 501, "word " * 3000,
])  # fmt: skip
NUMBERS = st.sampled_from([0, -1, 1, 3, 10, 11, 10**6, 2**63, -(2**70), 0.5, 1.0, 1e308, -0.0])
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats() | ODD_TEXTS | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=6,
)


def arguments(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments of a method, most of the right type and few of them valid."""
    schema = input_schema(METHODS[name])
    required = schema.get("required", [])
    known = {key: likely(value) for key, value in schema.get("properties", {}).items()}
    fitting = st.fixed_dictionaries(
        {key: known[key] for key in required},
        optional={key: value for key, value in known.items() if key not in required},
    )
    return fitting | st.dictionaries(st.sampled_from([*known, "x"]), ANYTHING, max_size=4)


def likely(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "string": ODD_TEXTS | st.text(max_size=40),
        "integer": st.integers(-2, 12) | NUMBERS,
        "number": st.floats(0, 1) | NUMBERS,
        "boolean": st.booleans(),
        "array": st.lists(ODD_TEXTS, max_size=3),
    }
    if "properties" in schema:
        inner = {key: likely(value) for key, value in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=inner)
    if "anyOf" in schema:
        return st.one_of(*map(likely, schema["anyOf"]))
    fitting = st.sampled_from(schema["enum"]) if "enum" in schema else kinds[schema["type"]]
    return st.one_of(fitting, fitting, fitting, ANYTHING)


@pytest.fixture(scope="module")
def base(demo_kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo with a symbolic link to a file outside."""
    above = tmp_path_factory.mktemp("hostile")
    root = copy_base(demo_kb_path, above / "base")
    (above / OUTSIDE).write_text(f"# Outside\n\n{SECRET}\n", encoding="utf-8")
    (root / "memory" / "people" / "link.md").symlink_to(above / OUTSIDE)
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


@pytest.fixture(scope="module")
def worker(base: Path) -> Iterator[EngineWorker]:
    engine = EngineWorker(lambda: KnowledgeBase(base))
    before = everything(base.parent)
    yield engine
    engine.close()
    assert everything(base.parent) == before


@pytest.mark.parametrize("name", READING)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_any_arguments_get_an_answer_that_matches_a_schema(
    worker: EngineWorker, name: str, data: st.DataObject
) -> None:
    params = data.draw(arguments(name))
    answer = worker.answer(name, params)
    text = json.dumps(answer.json, allow_nan=False)
    if answer.failure is None:
        assert not list(Draft202012Validator(output_schema(METHODS[name])).iter_errors(answer.json))
    else:
        assert not list(Draft202012Validator(failure_schema()).iter_errors(answer.json))
        assert answer.failure.type == "VALIDATION", answer.failure
        assert "\n" not in answer.failure.message
        assert "Traceback" not in text
    assert SECRET not in text


@settings(max_examples=40, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_memory_add_writes_only_inside_the_base(
    writer: EngineWorker, writable: Path, data: st.DataObject
) -> None:
    outside = {k: v for k, v in everything(writable.parent).items() if str(writable) not in k}
    params = data.draw(arguments("kbx.memory_add"))
    answer = writer.answer("kbx.memory_add", params)
    schema = failure_schema() if answer.failure else output_schema(METHODS["kbx.memory_add"])
    assert not list(Draft202012Validator(schema).iter_errors(answer.json))
    assert answer.failure is None or answer.failure.type == "VALIDATION", answer.failure
    after = {k: v for k, v in everything(writable.parent).items() if str(writable) not in k}
    assert after == outside


@pytest.fixture(scope="module")
def writable(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another copy to write to, with the same file outside."""
    above = tmp_path_factory.mktemp("writable")
    root = copy_base(base, above / "base", symlinks=True)
    (above / OUTSIDE).write_text("# Outside\n", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def writer(writable: Path) -> Iterator[EngineWorker]:
    engine = EngineWorker(lambda: KnowledgeBase(writable), allow_writes=True)
    yield engine
    engine.close()


def everything(folder: Path) -> dict[str, bytes]:
    """Return the content of all files except the record of openings and what reading caches."""
    cached = {"usage.jsonl", "usage.lock", "VERIFIED", "file-hashes.json"}
    files = (file for file in folder.rglob("*") if file.is_file() and file.name not in cached)
    return {str(file): file.read_bytes() for file in files}
