"""Check that the SBOM and NOTICE of a release name all that is installed or bundled.

    uv run python -m scripts.check_licences FOLDER LICENCES.json

FOLDER is what `scripts.build_release` made; LICENCES.json is what pip-licenses writes with
`--format json --with-license-file --no-license-path` of an environment with `requirements-all.txt`.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

OURS = {
    ".py", ".typed", ".md", ".jsonl", ".toml", ".css", ".tcss", ".html", ".js", ".svg", ".txt",
    ".json",
}  # fmt: skip
"""Kinds of files that we write; a file of another kind was made elsewhere."""


def main() -> None:
    folder, listed = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8"))
    sbom = json.loads((folder / "sbom.cdx.json").read_text("utf-8"))
    (wheel,) = folder.glob("*.whl")
    faults = [*faults_of_packages(listed, sbom["components"]), *faults_of_wheel(wheel)]
    if faults:
        sys.exit("\n".join(faults))
    counts = Counter(map(licence_of, listed))
    print("\n".join(f"{count:4}  {licence}" for licence, count in counts.most_common()))
    print(f"{len(listed)} packages are in the SBOM, each with a licence; NOTICE names all folders")


def licence_of(package: dict[str, str]) -> str:
    """Return the licence that a package states, else the first line of its licence file."""
    stated = package["License"] if package["License"] != "UNKNOWN" else package["LicenseText"]
    return stated.strip().splitlines()[0]


def faults_of_packages(
    listed: list[dict[str, str]], components: list[dict[str, Any]]
) -> Iterator[str]:
    known = {(part["name"], part.get("version")) for part in components}
    for package in listed:
        name = re.sub(r"[-_.]+", "-", package["Name"]).lower()
        if (name, package["Version"]) not in known:
            yield f"{name} {package['Version']} is installed and not in the SBOM"
        if licence_of(package) == "UNKNOWN":
            yield f"{name} {package['Version']} states no licence"


def faults_of_wheel(wheel: Path) -> Iterator[str]:
    """Find folders with files made elsewhere that NOTICE does not name, or names without them."""
    with zipfile.ZipFile(wheel) as archive:
        names = [PurePosixPath(name) for name in archive.namelist()]
        (notice,) = (name for name in names if name.parts[-2:] == ("licenses", "NOTICE"))
        text = archive.read(str(notice)).decode()
    packaged = [name for name in names if not name.parts[0].endswith(".dist-info")]
    named = set(re.findall(r"^(kbx_tui/\S+)$", text, re.MULTILINE))
    foreign = {str(name.parent) for name in packaged if name.suffix not in OURS}
    yield from (f"NOTICE does not name {folder}" for folder in sorted(foreign - named))
    there = {str(name) for name in packaged} | {str(name.parent) for name in packaged}
    mentioned = set(re.findall(r"kbx_tui/[\w./-]*\w", text))
    yield from (f"NOTICE names {path}, which is not there" for path in sorted(mentioned - there))


if __name__ == "__main__":
    main()
