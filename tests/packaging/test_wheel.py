"""The wheel, built and installed in a clean environment outside the tree, works by itself."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from scripts.build_release import bundled_files
from tests.command_line import CHECKOUT

pytestmark = pytest.mark.packaging

UV = os.environ.get("UV", "uv")
"""The program that runs the tests."""


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
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release; its wheel is built from the sdist, where nothing may be missing."""
    folder = tmp_path_factory.mktemp("dist") / "release"
    run(sys.executable, "-m", "scripts.build_release", folder, cwd=CHECKOUT)
    return folder


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    (built,) = release.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and its locked requirements; returns its programs' folder."""
    folder = tmp_path_factory.mktemp("installed")
    venv = folder / "venv"
    bin_folder = venv / ("Scripts" if sys.platform == "win32" else "bin")
    locked = wheel.with_name("requirements.txt")
    run(UV, "venv", "--python", sys.executable, venv, cwd=folder)
    install = (UV, "pip", "install", "--python", bin_folder / "python")
    run(*install, "--require-hashes", "-r", locked, cwd=folder)
    run(*install, f"{wheel}[web]", cwd=folder)
    run(UV, "pip", "check", "--python", bin_folder / "python", cwd=folder)
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
    assert "kbx-tui = kbx_tui.__main__:main" in programs
    assert "kbx = kbx_tui.__main__:main" in programs


def test_an_installed_wheel_serves_people_agents_and_browsers(
    installed: Path, tmp_path: Path
) -> None:
    package = installed.parent
    before = {file for file in package.rglob("*") if "__pycache__" not in file.parts}
    said = run(
        installed / "python", CHECKOUT / "scripts/try_wheel.py", tmp_path / "new", cwd=tmp_path
    )
    uses = [line.partition(" ")[0] for line in said.splitlines()]
    assert uses == ["demo", "version", "search", "dedup", "agent", "browser"]
    after = {file for file in package.rglob("*") if "__pycache__" not in file.parts}
    assert after == before, "something was written into the installation"


def test_a_release_says_what_is_in_it_and_where_nothing_is_loaded_from(release: Path) -> None:
    sums = {
        name: digest
        for digest, name in map(str.split, (release / "SHA256SUMS").read_text().splitlines())
    }
    assert sums == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in release.iterdir()
        if file.name != "SHA256SUMS"
    }
    parts = json.loads((release / "sbom.cdx.json").read_text())["components"]
    assert {part["name"] for part in parts if part["type"] == "file"} == bundled_files().keys()
    known = {(part["name"], part["version"]) for part in parts if part["type"] == "library"}
    for name in ("requirements.txt", "requirements-all.txt"):
        text = (release / name).read_text()
        pins = re.findall(r"^([a-z0-9._-]+)==(\S+)", text, re.MULTILINE)
        assert {"lancedb", "textual", "onnxruntime"} <= dict(pins).keys()
        assert known.issuperset(pins)
        assert text.count("--hash=sha256:") > len(pins)
        assert "://" not in text
    assert {"obstore", "aiohttp"} <= dict(pins).keys()
    assert "://" not in (release / "sbom.cdx.json").read_text().replace("https://cyclonedx.org", "")


def test_the_wheel_is_the_same_when_it_is_built_again(wheel: Path, tmp_path: Path) -> None:
    run(UV, "build", "--wheel", "--out-dir", tmp_path, CHECKOUT, cwd=tmp_path)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
    (needed,) = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["build-system"]["requires"]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
        assert f"Generator: {needed.replace('==', ' ')}\n".encode() in archive.read(name)
