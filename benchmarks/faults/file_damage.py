"""Damage to single files of the index: flipped bits, zeroed blocks, truncation, removal."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.faults.campaign import Answers, Campaign, answers_of, ask, judged
from kbx_tui import KnowledgeBase

BLOCK = 4096

Damage = Callable[[Path, random.Random], str]
"""Damages one file and returns what was done."""


def flip_bit(file: Path, chance: random.Random) -> str:
    content = bytearray(file.read_bytes())
    if content:
        at, bit = chance.randrange(len(content)), chance.randrange(8)
        content[at] ^= 1 << bit
        file.write_bytes(content)
        return f"bit {bit} of byte {at} flipped"
    return "empty"


def zero_block(file: Path, chance: random.Random) -> str:
    content = bytearray(file.read_bytes())
    at = chance.randrange(-(-len(content) // BLOCK) or 1) * BLOCK
    content[at : at + BLOCK] = bytes(len(content[at : at + BLOCK]))
    file.write_bytes(content)
    return f"block at {at} zeroed"


def truncate(file: Path, chance: random.Random) -> str:
    size = chance.randrange(file.stat().st_size or 1)
    os.truncate(file, size)
    return f"cut off at {size}"


def remove(file: Path, _: random.Random) -> str:
    file.unlink()
    return "removed"


KINDS: dict[str, Damage] = {
    "flips": flip_bit,
    "zeros": zero_block,
    "truncations": truncate,
    "removals": remove,
}


def damage_files(damage: Damage, also: str | None = None) -> Campaign:
    """Return the campaign that damages the files of the index in turn, each together with `also`.

    Afterwards the answers are right or the damage is said, and a full run ends with right answers.
    """

    def play(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
        expected, usual = _indexed(base)
        for number, (index, name) in enumerate(_intact_copies(base, chance)):
            if number == tries:
                break
            done = damage(index / name, chance)
            if also is not None and also != name.name:
                done += f"; {also}: {damage(index / also, chance)}"
            yield [f"{name}, {done}: {wrong}" for wrong in _wrong(base, expected, usual)]

    return play


def damage_open(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Damage the files of the index in turn, in every way, while a program has answered from it.

    Its next answers are right or the damage is said, and no later ones are wrong either.
    """
    expected, _ = _indexed(base)
    kinds = list(KINDS)
    for number, (index, name) in enumerate(_intact_copies(base, chance)):
        if number == tries:
            break
        said: list[str] = []
        with KnowledgeBase(base, notice=said.append) as kb:
            wrong = [] if answers_of(kb, said) == expected else ["other answers before"]
            usual = len(said)
            done = KINDS[kinds[number % len(kinds)]](index / name, chance)
            try:
                if answers_of(kb, said) != expected and len(said) <= 2 * usual:
                    wrong.append("other answers, and not a word")
                kb.index()
                if answers_of(kb, said) != expected:
                    wrong.append("other answers after a run")
            except Exception as error:  # not a KbxError: a bug, which the campaign has found
                wrong.append(f"failed with {type(error).__name__}: {error}")
        yield [f"{name}, {done}: {one}" for one in wrong]


def _indexed(base: Path) -> tuple[Answers, list[str]]:
    """Index a base in two runs, and return the answers and what is said with them."""
    with KnowledgeBase(base) as kb:
        kb.index()
    (base / "memory/notes/late.md").write_text("# Late\n\nAlice Chen came late.\n")
    with KnowledgeBase(base) as kb:
        kb.index()
    return ask(base)


def _intact_copies(base: Path, chance: random.Random) -> Iterator[tuple[Path, Path]]:
    """Yield an intact index again and again, with the name of each of its files in turn."""
    intact, index = base.with_name("intact"), base / ".kbx" / "index"
    shutil.copytree(index, intact)
    files = sorted(path.relative_to(intact) for path in intact.rglob("*") if path.is_file())
    chance.shuffle(files)
    while True:
        for name in files:
            shutil.rmtree(index)
            shutil.copytree(intact, index)
            yield index, name


def _wrong(base: Path, expected: Answers, usual: list[str]) -> list[str]:
    """Return what is wrong; `usual` is what is said about the undamaged index too."""
    wrong = []
    if failed := judged(lambda: KnowledgeBase(base).status()):
        wrong.append(f"status failed with {failed}")
    try:
        answers, said = ask(base)
        if answers != expected and said == usual:
            wrong.append("other answers, and not a word")
    except Exception as error:  # not a KbxError: a bug, which the campaign has found
        wrong.append(f"a search failed with {type(error).__name__}: {error}")
    try:
        with KnowledgeBase(base) as kb:
            kb.index(full=True)
        answers, said = ask(base)
        if answers != expected:
            wrong.append("other answers after a full run")
        if said != usual:
            wrong.append(f"after a full run it said: {said}")
    except Exception as error:  # as above
        wrong.append(f"a full run failed with {type(error).__name__}: {error}")
    return wrong
