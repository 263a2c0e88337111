"""What each command loads. Only a fresh interpreter shows whether a late import is late.

The import contracts in pyproject.toml say which package may import which; these tests show what is
loaded at run time.
"""

import subprocess
import sys
from pathlib import Path

from kbx_tui import KnowledgeBase
from tests.command_line import program_environment

HEAVY = ("fastembed", "lancedb", "numpy", "onnxruntime", "pyarrow", "rich", "textual")
ENGINE = {"fastembed", "lancedb", "numpy", "onnxruntime", "pyarrow", "textual", "tokenizers"}
SERVERS = {"mcp", "mcp_types", "starlette", "uvicorn"}
LATE = {"kbx_tui.api", "kbx_tui.tools.handlers", "kbx_tui.tools.public_answers"}
MODEL = {"fastembed", "onnxruntime", "tokenizers"}
RUN = """
import sys
{code}
print("\\nloaded", *sorted(sys.modules))
"""


def loaded_modules(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running `code`."""
    finished = subprocess.run(
        [sys.executable, "-c", RUN.format(code=code)],
        capture_output=True,
        encoding="utf-8",
        env=program_environment({}),
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return set(finished.stdout.rpartition("\nloaded ")[2].split())


def loaded_packages(code: str) -> set[str]:
    """Return the top-level packages among the loaded modules."""
    return {name.partition(".")[0] for name in loaded_modules(code)}


def run_command(*arguments: str) -> str:
    return f"from kbx_tui.cli.main import main; assert main({list(arguments)!r}) == 0"


def run_commands(*lines: str) -> str:
    """Return code that runs all of these command lines, since none may load too much."""
    return "\n".join(run_command(*line.split()) for line in lines)


def test_importing_the_package_loads_nothing() -> None:
    assert loaded_packages("import kbx_tui").isdisjoint({*HEAVY, "click", "msgspec"})


def test_entities_load_no_reader_of_pages() -> None:
    modules = loaded_modules("import kbx_tui.knowledge.entities")
    assert modules.isdisjoint({"yaml", "kbx_tui.knowledge.reading", "kbx_tui.knowledge.redaction"})


def test_help_version_and_settings_load_no_engine_and_no_server(demo_kb_path: Path) -> None:
    pages = ("search", "demo", "mcp", "jsonl", "tool", "experts")
    code = run_commands(
        "--help", "--version", "completion fish", *(f"{each} --help" for each in pages)
    )
    assert loaded_packages(code).isdisjoint({*HEAVY, "pydantic"} | ENGINE | SERVERS)
    code += "\n" + run_command("config", "--json", "--kb", str(demo_kb_path))
    assert loaded_packages(code).isdisjoint(HEAVY)


def test_status_loads_no_search(demo_kb_path: Path) -> None:
    modules = loaded_modules(run_command("status", "--kb", str(demo_kb_path)))
    assert modules.isdisjoint({"kbx_tui.search.open_index", "rapidfuzz", *MODEL})


def test_a_fast_search_loads_neither_model_nor_index_build(demo_kb_path: Path) -> None:
    line = run_command("search", "rollback", "--fast", "--kb", str(demo_kb_path))
    ours = {"kbx_tui.api.file_writer", "kbx_tui.api.judgments", "kbx_tui.api.pages"}
    ours |= {"kbx_tui.index.build.build_index", "kbx_tui.experts.expert_engine"}
    unwanted = {*ours, "markdown_it", "yaml", "textual", *MODEL}
    assert loaded_modules(line).isdisjoint(unwanted)


def test_a_search_loads_neither_lancedb_nor_screens_nor_servers(demo_kb_path: Path) -> None:
    searches = [
        run_command("search", "rollback", *options, "--kb", str(demo_kb_path))
        for options in ((), ("--fast",), ("--json",))
    ]
    modules = loaded_modules("\n".join(searches))
    contracts = {f"kbx_tui.tools.{name}" for name in ("arguments", "answers")}
    unwanted = {
        "lancedb",
        "numpy.ma",
        "pyarrow.dataset",
        "pyarrow.compute",
        "markdown_it",
        "textual",
        "obstore",
        "docx",
        "lxml",
        "pypdf",
    }
    assert modules.isdisjoint(unwanted | contracts | SERVERS | {"kbx_tui.embedding.server"})


def test_a_search_after_an_edit_loads_no_lancedb(demo_copy: Path) -> None:
    page = demo_copy / "memory" / "notes" / "barometers.md"
    page.write_text("# Barometers\n\nA zorkmid was paid.\n", encoding="utf-8")
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    modules = loaded_modules(run_command("search", "zorkmid", "--kb", str(demo_copy)))
    assert modules.isdisjoint({"lancedb", "pyarrow.dataset", "pyarrow.compute"})


def test_the_engine_loads_no_screen(demo_kb_path: Path) -> None:
    code = f"""
from kbx_tui import KnowledgeBase
with KnowledgeBase({str(demo_kb_path)!r}) as kb:
    assert kb.search("what has Grace been working on?", explain=True).results
    kb.status()
"""
    assert "textual" not in loaded_packages(code)  # rich and click come with fastembed


def test_neither_a_search_nor_the_app_nor_a_usual_index_run_loads_ray(fresh_demo: Path) -> None:
    line = run_command("index", "--fast", "--kb", str(fresh_demo))
    search = run_command("search", "rollback", "--fast", "--kb", str(fresh_demo))
    code = f"import kbx_tui.api.knowledge_base, kbx_tui.tui.app\n{line}\n{search}"
    modules = loaded_modules(code)
    assert "kbx_tui.index.build.build_index" in modules
    assert not any(name.partition(".")[0] == "ray" for name in modules)
    assert not any(name.startswith("kbx_tui.bulk") for name in modules)


def test_the_app_loads_neither_engine_nor_modes_before_the_first_paint() -> None:
    modules = loaded_modules("import kbx_tui.tui.app")
    assert "textual" in modules
    screens = {f"kbx_tui.tui.{mode}.screen" for mode in ("dedup", "experts", "indexing", "tune")}
    later = screens | {"kbx_tui.tui.comparing", "kbx_tui.tui.dedup.model"}
    assert modules.isdisjoint({*ENGINE, "kbx_tui.api", "rapidfuzz"} - {"textual"} | later)


def test_the_mcp_server_starts_without_the_engine() -> None:
    modules = loaded_modules("import kbx_tui.tools.mcp_server")
    assert "mcp" in modules
    assert modules.isdisjoint(ENGINE | LATE)


def test_the_jsonl_server_needs_neither_engine_nor_sdk() -> None:
    modules = loaded_modules("import kbx_tui.tools.jsonl_server")
    assert modules.isdisjoint(ENGINE | SERVERS | LATE)


def test_the_first_search_of_a_server_that_was_warm_loads_nothing(demo_kb_path: Path) -> None:
    code = f"""
from functools import partial
from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
worker = EngineWorker(partial(KnowledgeBase, {str(demo_kb_path)!r}), warms=True)
worker.begin()
for _ in range(2):  # the second step of loading begins when the first has ended
    worker.run(lambda kb: kb.is_indexed()).result()
before = set(sys.modules)
assert worker.answer("kb.search", {{"query": "rollback plan"}}).failure is None
late = sorted(set(sys.modules) - before)
assert not late, late
worker.close()
"""
    assert loaded_modules(code) >= LATE
