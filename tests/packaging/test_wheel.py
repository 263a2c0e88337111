"""The wheel, built and installed in a clean environment outside the tree, works by itself."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.command_line import CHECKOUT

pytestmark = pytest.mark.packaging

QUERY = "what did the platform team decide about migration?"


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    """Run a program and return its output; what it says on stderr is shown when it fails."""
    finished = subprocess.run(
        list(command),
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, **env},
        check=False,
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist: what is missing there would be missing here."""
    folder = tmp_path_factory.mktemp("dist")
    if shutil.which("uv"):
        run("uv", "build", "--out-dir", folder, CHECKOUT, cwd=folder)
    else:
        run(sys.executable, "-m", "build", "--outdir", folder, CHECKOUT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean environment that holds the wheel; returns the folder of its programs."""
    folder = tmp_path_factory.mktemp("installed")
    venv = folder / "venv"
    bin_folder = venv / ("Scripts" if sys.platform == "win32" else "bin")
    if shutil.which("uv"):
        run("uv", "venv", "--python", sys.executable, venv, cwd=folder)
        run("uv", "pip", "install", "--python", bin_folder / "python", wheel, cwd=folder)
    else:
        run(sys.executable, "-m", "venv", venv, cwd=folder)
        run(bin_folder / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return bin_folder


def shipped(folder: str, suffixes: set[str]) -> set[str]:
    """Return the files below `folder` of the checkout that belong into a wheel."""
    return {
        file.relative_to(CHECKOUT).as_posix()
        for file in (CHECKOUT / folder).rglob("*")
        if file.is_file() and file.suffix in suffixes
    }


def test_the_wheel_holds_everything_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    code = shipped("kbx_tui", {".py"}) | {"kbx_tui/py.typed"}
    demo = shipped("kbx_tui/demo", {".md", ".toml", ".jsonl"})
    model = {
        file.relative_to(CHECKOUT).as_posix()
        for folder in ("bundled", "bundled_pair_model")
        for file in (CHECKOUT / "kbx_tui" / "embedding" / folder).iterdir()
    }
    styles = {f"kbx_tui/{name}" for name in shipped("styles", {".tcss"})}
    tables = shipped("kbx_tui", {".json", ".txt"})
    page = shipped("kbx_tui/web/page", {".css", ".html", ".js", ".md", ".mjs", ".svg", ".woff2"})
    assert len(demo) >= 60
    assert {path.rpartition("/")[2] for path in model} >= {"model.onnx", "tokenizer.json"}
    shared = shipped("kbx_tui/sharing", {".css"})
    assert styles and tables and shared and len(page) >= 15
    assert names == code | demo | model | tables | styles | page | shared


def test_the_wheel_has_its_licence_and_both_programs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        programs = archive.read(info).decode()
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert "kbx-tui = kbx_tui.program:main" in programs
    assert "kbx = kbx_tui.program:main" in programs


def test_an_installed_wheel_indexes_searches_and_composes_the_app(
    installed: Path, tmp_path: Path
) -> None:
    demo = tmp_path / "demo"
    package = installed.parent
    before = {file for file in package.rglob("*") if "__pycache__" not in file.parts}
    said = run(installed / "kbx-tui", "demo", "--smoke", cwd=tmp_path, KBX_DEMO_DIR=str(demo))
    assert said.startswith("ok: ")
    found = run(installed / "kbx", "search", QUERY, "--json", "--kb", demo, cwd=tmp_path)
    answer = json.loads(found)
    assert answer["meta"]["search_mode"] == "two_pass"
    assert answer["results"][0]["path"].endswith("migration-go-no-go.transcript.md")
    after = {file for file in package.rglob("*") if "__pycache__" not in file.parts}
    assert after == before, "something was written into the installation"
