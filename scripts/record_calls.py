"""Record the answers of 300 calls on the demo, to compare two states of the code.

    python -m scripts.record_calls before.json      # in the one checkout
    python -m scripts.record_calls after.json       # in the other, on the same day
    python -m scripts.record_calls --compare before.json after.json

Commands, tools and methods of Python are called on fresh copies of the demo. What differs from
call to call (durations, paths of the copies) is replaced, so that equal code gives equal files.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from tests.trusting import copy_base

QUERIES = [
    "What did the platform team discuss?",
    "who leads Gangway 4",
    "rollback plan alice",
    "what has Alice been working on?",
    "migration decision platform",
    "what did the Director of Engineering say",
    "infrastructure issues",
    "what did alice do in march 2026",
    "meetings last week",
    "rollback type:meeting from:2026-03 @alice",
    "sam",
    "fares",
    "INC-0117",
    "PostgreSQL",
    "how do I roll back a deployment",
    "what did Karin want?",
    "Thomas Hale boarding",
    "alcie chen migration",
    "error code 5032",
    "zzzz nothing at all",
    "who worked on the on-call reset with Grace Tully in February",
    "everything about Bob Okafor",
    'rollback tag:"ops" to:2026-06 in:memory @bob "type:note"',
    "on-call",
    "reading list",
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"fast": True},
    {"hierarchy": False},
    {"explain": True, "limit": 5},
    {"preset": "seed", "gate": "hard", "parent": "max"},
    {"path": "memory/meetings", "sort": "date"},
    {"hierarchy_alpha": 0.2, "hierarchy_threshold": 0.4, "max_entities": 2},
]
FACTS = [
    "prefers async communication",
    "Prefers async Slack over email",
    "runs the migration",
    "Leads the Platform team",
    "moved to the Data team in April",
]
ENTITIES = ["person:alice-chen", "team:platform", "project:migration", "person:sam-adeyemi"]
DOCUMENTS = [
    "memory/people/alice-chen.md",
    "memory/notes/2026-01-30-rollback-plan.md",
    "memory/projects/migration.md",
]


def tool_calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the arguments of calls that only read."""
    for query in QUERIES:
        yield "kb.search", {"query": query}
        for options in OPTIONS:
            if not options or len(query) % 2:
                yield "kbx.search", {"query": query, **options}
    for entity in ENTITIES:
        yield "kb.get", {"id": entity}
        yield "kb.get", {"id": entity, "max_chars": 80}
    for document in DOCUMENTS:
        yield "kb.get", {"id": document}
        yield "kbx.links", {"id": document}
    for topic in ("migration", "rollback", "ferry fares", "on-call"):
        for weight in ("count", "recency", "citation", "relevance"):
            yield "kb.experts", {"topic": topic, "weight": weight, "limit": 5}
    for text in FACTS:
        yield "kbx.memory_similar", {"text": text, "threshold": 0.6}
        yield "kbx.memory_similar", {"text": text, "entity": "Alice Chen", "chunks": True}
        yield "kbx.entity_similar_field", {"entity": "Alice Chen", "field": "role", "value": text}
    yield "kb.capabilities", {}
    yield "kb.search", {"query": "ab"}
    yield "kb.get", {"id": "person:nobody"}
    yield "kbx.search", {"query": "x", "path": "../outside"}


COMMANDS = [
    *(["search", query] for query in QUERIES[:12]),
    *(["search", query, "--json", "--explain"] for query in QUERIES[:6]),
    ["search", "migration", "--pin", "Grace Tully", "--mute", "platform", "--sort", "date"],
    ["search", "rollback", "--html", "-"],
    ["search", "alice migration", "--hierarchy-alpha", "0.7", "--explain"],
    ["search", "rollback", "--fast", "--json"],
    ["search", "rollback", "--hierarchy-alpha", "7"],
    ["search"],
    ["entity", "list"],
    ["entity", "list", "--type", "person", "--json"],
    ["entity", "show", "Alice Chen"],
    ["entity", "show", "team:platform", "--json"],
    ["entity", "show", "Nobody Here"],
    ["experts", "migration"],
    ["experts", "database rollback", "--weight", "recency", "--json"],
    ["experts", "ferry timetable", "--people"],
    ["links"],
    ["links", "show", "memory/projects/migration.md", "--json"],
    ["links", "check"],
    ["memory", "list", "--entity", "Alice Chen"],
    ["memory", "list", "--json"],
    ["memory", "similar", "prefers async communication", "--entity", "Alice Chen"],
    ["memory", "similar", "runs the migration", "--json"],
    ["dedup", "--scan"],
    ["dedup", "--scan", "--entity", "Alice Chen", "--json"],
    ["dedup", "{demo}/drafts.md"],
    ["dedup", "{demo}/drafts.md", "--json"],
    ["judgments", "list"],
    ["judgments", "list", "rollback plan", "--json"],
    ["eval"],
    ["eval", "--json"],
    ["eval", "--sweep", "alpha", "--json"],
    ["tune", "--dry-run"],
    ["tune", "--json"],
    ["history", "list"],
    ["history", "saved"],
    ["status"],
    ["status", "--json"],
    ["check"],
    ["check", "--json"],
    ["config"],
    ["config", "--json"],
    ["config", "set", "search.hierarchy_alpha", "0.6"],
    ["config", "set", "search.nonsense", "0.6"],
    ["config", "unset", "search.hierarchy_alpha"],
    ["index"],
    ["index", "--json"],
    ["trust"],
    ["keys"],
    ["keys", "--json"],
    ["tool"],
    ["tool", "kb_experts", "--schema"],
    ["completion", "bash"],
    ["store", "--help"],
    ["undo", "--list"],
]
WRITES = [
    ["memory", "add", "Collects antique barometers", "--entity", "Alice Chen", "--dry-run"],
    ["memory", "add", "Collects antique barometers", "--entity", "Alice Chen", "--json"],
    ["memory", "add", "Prefers async Slack over email", "--entity", "Alice Chen"],
    ["memory", "list", "--entity", "Alice Chen", "--json"],
    ["person", "create", "Ann Lee", "--role", "Site reliability engineer", "--team", "Platform"],
    ["person", "edit", "Ann Lee", "--role", "Staff engineer"],
    ["project", "create", "Ferry Wi-Fi"],
    ["dedup", "{demo}/drafts.md", "--apply", "--json"],
    ["dedup", "{demo}/drafts.md"],
    ["judgments", "add", "rollback plan", "memory/notes/2026-01-30-rollback-plan.md", "3"],
    ["judgments", "undo"],
    ["judgments", "export", "{base}/judgments.qrels"],
    ["undo", "--list", "--json"],
    ["undo"],
    ["undo", "--json"],
    ["search", "antique barometers", "--json"],
    ["search", "Ann Lee"],
    ["export", "--okf", "{base}/../okf", "--json"],
    ["status", "--json"],
]

METHODS = [
    ("status", "kb.status()"),
    ("overview", "kb.overview()"),
    ("contents", "kb.documents.contents()"),
    *((f"entity {name}", f"kb.entities.card({name!r})") for name in ENTITIES),
    *((f"document {name}", f"kb.documents.view({name!r})") for name in DOCUMENTS),
    ("find entities", "kb.entities.find('al')"),
    ("find documents", "kb.documents.find('roll')"),
    *((f"search {query}", f"kb.search({query!r}, explain=True)") for query in QUERIES[:10]),
    *(
        (f"rank {alpha}", f"kb.rank(kb.retrieve({query!r}), kb.tuning(alpha={alpha}))")
        for query, alpha in zip(QUERIES, (0.0, 0.25, 0.5, 0.75, 1.0), strict=False)
    ),
    ("experts", "kb.experts('migration', limit=3)"),
    *((f"similar {text}", f"kb.memory_similar({text!r})") for text in FACTS),
    *((f"has similar {text}", f"kb.has_similar({text!r})") for text in FACTS),
    ("facts", "kb.entities.facts(entity='person:alice-chen')"),
]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; arrays as lists, objects by their fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if hasattr(value, "__struct_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(str(item) for item in value)
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def record() -> dict[str, Any]:
    """Return the answer of every call by its words."""
    from kbx_tui import KnowledgeBase
    from kbx_tui.cli.main import main as command_line

    try:
        from kbx_tui.tools.dispatch import call
    except ImportError:
        from kbx_tui.tools.dispatch import call

    folder = Path(tempfile.mkdtemp(prefix="kbx-calls-"))
    os.environ.update(
        KBX_DEMO_DIR=str(folder / "demo"),
        XDG_STATE_HOME=str(folder / "state"),
        XDG_DATA_HOME=str(folder / "data"),
        XDG_CONFIG_HOME=str(folder / "config"),
        COLUMNS="100",
        NO_COLOR="1",
    )

    def run(arguments: list[str], base: Path) -> dict[str, Any]:
        out, err = io.StringIO(), io.StringIO()
        words = [
            word.replace("{demo}", str(folder / "source")).replace("{base}", str(base))
            for word in arguments
        ]
        with redirect_stdout(out), redirect_stderr(err):
            code = command_line(["--kb", str(base), *words])
        return {"code": code, "out": text_of(out.getvalue()), "err": text_of(err.getvalue())}

    def text_of(text: str) -> Any:
        text = text.replace(str(folder), "FOLDER")
        try:
            return settled(json.loads(text))
        except ValueError:
            return re.sub(VARYING_TEXT, "N", text, flags=re.MULTILINE)

    def settled(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: "VARIES" if re.search(VARYING, key) else settled(item)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [settled(item) for item in value]
        return text_of(value) if isinstance(value, str) and "/" in value else value

    answers: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        command_line(["demo", "--reset"])
    demo = folder / "demo"
    demo = next(demo.rglob("kbx.toml")).parent
    copy_base(demo, folder / "read")
    copy_base(demo, folder / "written")
    (folder / "source").mkdir()
    import kbx_tui.demo

    package = Path(kbx_tui.demo.__file__ or "").parent
    shutil.copy(package / "drafts.md", folder / "source" / "drafts.md")
    for name in ("read", "written"):
        run(["index"], folder / name)
    for name, arguments in tool_calls():
        words = f"{name} {json.dumps(arguments)}"
        with KnowledgeBase(folder / "read") as kb:
            try:
                answer = call(kb, name, arguments)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            answers[words] = settled(plain(answer))
    with KnowledgeBase(folder / "read") as kb:
        for name, expression in METHODS:
            try:
                answer = eval(expression, {"kb": kb})
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            answers[f"python {name}"] = settled(plain(answer))
    for name, commands in (("read", COMMANDS), ("written", WRITES)):
        for number, arguments in enumerate(commands):
            answers[f"{name} {number} kbx {' '.join(arguments)}"] = run(
                list(arguments), folder / name
            )
    answers["files"] = {
        path.relative_to(folder / "written").as_posix(): text_of(path.read_text())
        for path in sorted((folder / "written").rglob("*.md"))
    }
    shutil.rmtree(folder)
    return answers


VARYING = (
    r"timing|_ms$|seconds|duration|elapsed|bytes|sizes|modified|^at$|^when$|indexed_at|generation"
    r"|version|^hash|frecency"
)
VARYING_TEXT = (
    r"\b\d+(\.\d+)?\s?(ms|s|seconds|MB|kB)\b|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\(reading .*?\)"
    r"| +ms$(?=\n)| *\b\d+\.\d$(?=\n)"
)


def differences(before: Any, after: Any, where: str) -> Iterator[str]:
    """Yield a line for every value that differs, with its place."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(before.get(key), after.get(key), f"{where} > {key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{where} > {number}")
    elif before != after:
        yield f"{where}\n  - {str(before)[:2000]}\n  + {str(after)[:2000]}"


def main() -> None:
    """Record to a file, or compare two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    if options.compare:
        before, after = (json.loads(file.read_text()) for file in options.files)
        lines = list(differences(before, after, ""))
        print("\n".join(lines), f"{len(before)} calls, {len(lines)} differences", sep="\n")
        sys.exit(bool(lines))
    answers = record()
    options.files[0].write_text(json.dumps(answers, indent=1, ensure_ascii=False))
    print(f"{len(answers)} answers")


if __name__ == "__main__":
    main()
