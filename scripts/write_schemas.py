"""Write docs/schemas/ from the contracts of the tools.

python -m scripts.write_schemas
"""

from __future__ import annotations

import json
from pathlib import Path

from kbx_tui.tools.methods import all_schemas

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"


def schema_texts() -> dict[str, str]:
    """Return the text of every file by its name."""
    return {name: json.dumps(schema, indent=2) + "\n" for name, schema in all_schemas().items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in schema_texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
