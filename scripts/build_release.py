"""Build what a release consists of, in a new folder, with the versions of `uv.lock`.

    uv run python -m scripts.build_release FOLDER

| file | contents |
|---|---|
| `kbx_tui-*.tar.gz`, `kbx_tui-*.whl` | the sources, and the wheel built from them |
| `requirements.txt`, `requirements-all.txt` | what it needs, without and with extras, and hashes |
| `sbom.cdx.json` | the same, and the bundled models, page and font files, as CycloneDX 1.5 |
| `SHA256SUMS` | digests of all these files |

The same tree, lock and uv give the same bytes; neither file holds the address of a package index.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CARDS = ("ORIGIN.md", "MODEL_CARD.md")
"""Names of the files that say where the others of their folder come from, with digests."""
LISTED = re.compile(r"^\| (\S+) \|(?: \d+ \|)? ([0-9a-f]{64}) \|$", re.MULTILINE)


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True)  # fails if it exists
    uv("build", "--no-create-gitignore", "--out-dir", folder)
    for name, extras in (("requirements.txt", ()), ("requirements-all.txt", ("--all-extras",))):
        uv(*EXPORT, *extras, "--no-header", "--no-annotate", "--output-file", folder / name)
    sbom = folder / "sbom.cdx.json"
    uv(*EXPORT, "--all-extras", "--format", "cyclonedx1.5", "--output-file", sbom)
    components = described(json.loads(sbom.read_text(encoding="utf-8")))
    sbom.write_text(json.dumps(components, indent=2) + "\n", encoding="utf-8")
    sums = [f"{sha256(file)}  {file.name}\n" for file in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


EXPORT = ("export", "--quiet", "--no-dev", "--no-emit-project")


def uv(*arguments: str | Path) -> None:
    subprocess.run([os.environ.get("UV", "uv"), *arguments], cwd=ROOT, check=True)


def described(sbom: dict[str, Any]) -> dict[str, Any]:
    """Return a bill of materials with the bundled files, without times and addresses."""
    del sbom["serialNumber"], sbom["metadata"]["timestamp"]
    for component in sbom["components"]:
        component.pop("externalReferences", None)
    sbom["components"] += [
        {"type": "file", "name": path, "hashes": [{"alg": "SHA-256", "content": digest}]}
        for path, digest in bundled_files().items()
    ]
    return sbom


def bundled_files() -> dict[str, str]:
    """Return the digest of every model and file made elsewhere, by its path, as its card says."""
    return {
        (card.parent / name).relative_to(ROOT).as_posix(): digest
        for card in sorted((ROOT / "kbx_tui").rglob("*.md"))
        if card.name in CARDS
        for name, digest in LISTED.findall(card.read_text("utf-8"))
    }


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
