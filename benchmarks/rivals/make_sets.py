"""Make labelled sets from documentation that Debian ships, with labels that the text gives.

    apt-get download nmap vim-runtime postgresql-doc-15 fortunes
    python -m benchmarks.rivals.make_sets --packages FOLDER --to SETS [nmap vim postgres fortunes]

FOLDER has the packages; SETS gets a folder per set with `memory/`, `queries.jsonl`, `qrels.tsv` and
`SOURCE.txt`. A set is a knowledge base: a note per entry, a page per person and per project, the
names where its source has them (`names` below). Everything is drawn with a fixed seed, so that the
same package gives the same bytes. Queries and labels come from the entries alone: no system was
asked. Nothing of a set may be put into the project; each package states its licence. `demo` is the
sample of the project with the grades that it ships.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from kbx_tui.demo import SHIPPED, SHIPPED_JUDGMENTS

ENTRIES, QUERIES = 900, 40
"""Entries drawn per set, queries per form."""
MOST_PER_NAME = 40
"""Entries of a person or project; above it, no ten results could hold those that are relevant."""

TEMPLATES = {
    "person+project": ("{person} on {project}", "what did {person} change in {project}?"),
    "misspelt+project": ("{misspelt} on {project}", "{project} changes by {misspelt}"),
    "person+topic": ("{person} on {topic}", "what did {person} say about {topic}?"),
    "surname+topic": ("{surname} on {topic}", "{topic} {surname}"),
    "person": ("everything by {person}", "what has {person} been doing?"),
    "project": ("what changed in {project}?", "latest on {project}"),
    "topic": ("{topic}", "what is said about {topic}?"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the source: what becomes a note."""

    title: str
    text: str
    people: tuple[str, ...]
    project: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a set comes from.

    `names` says whether the notes name people in their text or in frontmatter only.
    """

    package: str
    file: str
    licence: str
    names: Literal["text", "frontmatter"]
    read: Callable[[Path], Iterable[Entry]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SOURCES))
    options = parser.parse_args()
    for name in options.sets or ("demo", *SOURCES):
        if name == "demo":
            make_demo(options.to / name)
            continue
        source = SOURCES[name]
        packages = sorted(options.packages.glob(f"{source.package}_*.deb"))
        if not packages:
            print(f"{name}: no {source.package}_*.deb in {options.packages}; left out.")
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["dpkg-deb", "-x", packages[-1], folder], check=True)
            entries = [
                entry
                for file in sorted(Path(folder).glob(source.file))
                for entry in source.read(file)
            ]
        origin = f"{packages[-1].name}, {source.file}; {source.licence}\n"
        queries = make_set(options.to / name, entries, source.names, origin)
        forms = ", ".join(f"{form} {count}" for form, count in queries.items())
        print(f"{name}: {len(entries)} entries in the source; queries: {forms}")


def make_demo(folder: Path) -> None:
    shutil.copytree(SHIPPED / "memory", folder / "memory", dirs_exist_ok=True)
    lines = (SHIPPED / SHIPPED_JUDGMENTS).read_text("utf-8").splitlines()
    read = map(json.loads, lines)
    grades = {(each["query"], each["path"]): each["grade"] for each in read}  # the last one counts
    queries = [
        json.dumps({"id": text, "text": text, "form": "any"}) + "\n"
        for text in dict.fromkeys(text for text, _ in grades)
    ]
    (folder / "queries.jsonl").write_text("".join(queries))
    labels = [f"{text}\t{path}\t{grade}\n" for (text, path), grade in grades.items() if grade]
    (folder / "qrels.tsv").write_text("".join(labels))


def make_set(folder: Path, found: list[Entry], names: str, origin: str) -> Counter[str]:
    """Write a set; return the number of queries of each form."""
    chance = random.Random(45)
    named = [entry for entry in dict.fromkeys(found) if entry.people]
    entries = chance.sample(named, min(ENTRIES, len(named)))
    pages: dict[str, str] = {}
    paths = []
    for number, entry in enumerate(entries):
        path = f"memory/notes/{slug(entry.title)}-{number}.md"
        paths.append(path)
        pages[path] = note(entry, names)
    for kind, plural, known in (
        ("person", "people", {person for entry in entries for person in entry.people}),
        ("project", "projects", {entry.project for entry in entries}),
    ):
        for name in sorted(known):
            page = f"---\ntype: {kind}\n---\n\n# {name}\n"
            pages[f"memory/{plural}/{slug(name)}.md"] = page
    for path, text in pages.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    count: Counter[str] = Counter()
    with (folder / "queries.jsonl").open("w") as queries, (folder / "qrels.tsv").open("w") as qrels:
        for form, words, relevant in labelled(entries, chance):
            count[form] += 1
            identifier = f"{form}-{count[form]}"
            text = chance.choice(TEMPLATES[form]).format(**words)
            line = {"id": identifier, "text": text, "form": form}
            queries.write(json.dumps({**line, "people": words.get("people", [])}) + "\n")
            qrels.writelines(f"{identifier}\t{paths[each]}\t2\n" for each in relevant)
    (folder / "SOURCE.txt").write_text(origin)
    return count


def note(entry: Entry, names: str) -> str:
    """Return an entry as a note, with the names where the set has them."""
    lines = ["---", "type: note"]
    if entry.date:
        lines.append(f"date: {entry.date}")
    if names == "frontmatter":
        lines.append(f"attendees: {json.dumps(entry.people, ensure_ascii=False)}")
    by = f"\n\n({', '.join(entry.people)})" if names == "text" else ""
    about = f"\n\nPart: {entry.project}"
    return "\n".join([*lines, "---", "", f"# {entry.title}", "", f"{entry.text}{by}{about}", ""])


def labelled(
    entries: list[Entry], chance: random.Random
) -> Iterator[tuple[str, dict[str, object], list[int]]]:
    """Yield form, words for its template, and relevant entries; at most `QUERIES` of each form."""
    of_person, of_project, of_term = defaultdict(set), defaultdict(set), defaultdict(set)
    surnames = defaultdict(set)
    for number, entry in enumerate(entries):
        of_project[entry.project].add(number)
        for person in entry.people:
            of_person[person].add(number)
            surnames[person.split()[-1].casefold()].add(person)
        for term in terms(f"{entry.title} {entry.text}"):
            of_term[term].add(number)
    full = {name for name in of_person if " " in name and len(of_person[name]) <= MOST_PER_NAME}

    def both(person: str, others: set[int]) -> list[int]:
        return sorted(of_person[person] & others)

    found: dict[str, list[tuple[dict[str, object], list[int]]]] = {form: [] for form in TEMPLATES}
    for person in sorted(full):
        words: dict[str, object] = {"person": person, "people": [person]}
        known_by = surnames[person.split()[-1].casefold()]
        if len(of_person[person]) >= 2:
            found["person"].append((words, both(person, of_person[person])))
        for project in sorted({entries[each].project for each in of_person[person]}):
            shared = both(person, of_project[project])
            if len(shared) < len(of_person[person]):  # else the project adds nothing
                with_project = {**words, "project": project}
                found["person+project"].append((with_project, shared))
                wrong = {**with_project, "misspelt": misspelt(person, chance)}
                found["misspelt+project"].append((wrong, shared))
        for number in sorted(of_person[person]):
            topics = [
                term
                for term in terms(f"{entries[number].title} {entries[number].text}")
                if 2 <= len(of_term[term]) <= 20 and not is_in_name(term, person)
            ]
            if topics and len(of_person[person]) >= 2:
                topic = chance.choice(sorted(set(topics)))
                with_topic = {**words, "topic": topic, "surname": person.split()[-1]}
                found["person+topic"].append((with_topic, both(person, of_term[topic])))
                if len(known_by) == 1:
                    found["surname+topic"].append((with_topic, both(person, of_term[topic])))
    for project, numbers in sorted(of_project.items()):
        if 3 <= len(numbers) <= MOST_PER_NAME:
            found["project"].append(({"project": project}, sorted(numbers)))
    for term, numbers in sorted(of_term.items()):
        if " " in term and 2 <= len(numbers) <= 8:
            found["topic"].append(({"topic": term}, sorted(numbers)))
    for form, possible in found.items():
        for words, relevant in chance.sample(possible, min(QUERIES, len(possible))):
            yield form, words, relevant


def terms(text: str) -> Iterator[str]:
    """Yield the longer words of a text, and pairs of them that follow each other."""
    words = re.findall(r"[A-Za-z][\w-]+", text)
    long = [word.lower() if len(word) >= 5 and word.lower() not in COMMON else "" for word in words]
    yield from filter(None, long)
    yield from (f"{a} {b}" for a, b in pairwise(long) if a and b)


COMMON = set(
    "about after again always because before being could doesn every first great instead little"  # noqa: SIM905
    " never other people problem should since solution still their there these thing those through"
    " under using version where which while without would write wrong years".split()
)


def is_in_name(term: str, name: str) -> bool:
    return any(part in name.casefold() for part in term.split())


def misspelt(name: str, chance: random.Random) -> str:
    """Return a name with two inner letters of its longest part swapped, if any two differ."""
    part = max(name.split(), key=len)
    places = max(1, len(part) - 3)
    first = chance.randrange(places)
    swapped = (1 + (first + step) % places for step in range(places))
    at = next((at for at in swapped if part[at : at + 1] != part[at + 1 : at + 2]), 1 + first)
    return name.replace(part, part[:at] + part[at : at + 2][::-1] + part[at + 2 :])


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:60].strip("-") or "entry"


def heading(text: str) -> str:
    """Return the first words of a text as its title."""
    words = re.sub(r"\s+", " ", text).strip().split(" ")
    return " ".join(words[:9]).rstrip(".,;:")


def read_nmap(file: Path) -> Iterator[Entry]:
    """Read nmap's CHANGELOG: `o [NSE] Text. [Person, Person]` below `Nmap 7.93 [2022-09-01]`."""
    date = ""
    for block in re.split(
        r"\n\s*\n", gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
    ):
        if release := re.match(r"Nmap \S+ \[(\d{4}-\d\d-\d\d)\]", block.strip()):
            date = release[1]
        text = re.sub(r"\s+", " ", block.strip())
        parts = re.fullmatch(r"o ((?:\[[^]]+\] ?)*)(.*?)\s*\[([A-Z][^]\d]+)\]\.?", text)
        if not parts:
            continue
        tags = [tag for tag in re.findall(r"\[([^]]+)\]", parts[1]) if not tag.startswith("GH")]
        people = re.split(r",\s*(?:and )?| and ", parts[3])
        project = tags[0] if tags else "Core"
        yield Entry(heading(parts[2]), parts[2], tuple(filter(is_name, people)), project, date)


def read_vim(file: Path) -> Iterator[Entry]:
    """Read Vim's patches: `Problem: Text (Person, closes #1)`, `Solution: ...`, `Files: ...`."""
    for block in re.split(r"\n(?=Patch \d)", file.read_text("utf-8", "replace")):
        fields = re.split(r"\n(Problem|Solution|Files):\s+", block)
        by_name = dict(zip(fields[1::2], fields[2::2], strict=False))
        if not {"Problem", "Solution", "Files"} <= by_name.keys():
            continue
        problem, solution = (re.sub(r"\s+", " ", by_name[key]) for key in ("Problem", "Solution"))
        people = re.findall(r"\(([A-Z][^(),#\d]+)[,)]", f"{problem} {solution}")
        files = re.findall(r"src/(\w+)\.c\b", by_name["Files"])
        names = tuple(dict.fromkeys(filter(is_name, people)))
        text = re.sub(r"\s*\([^()]*\)", "", f"{problem}\n\n{solution}")
        if files and not any(name.split()[-1] in text for name in names):
            yield Entry(heading(text.split("\n")[0]), text, names, files[0])


def read_postgres(file: Path) -> Iterator[Entry]:
    """Read PostgreSQL's release notes: `Text (Person, Person)`, more text; by section."""
    page = file.read_text("utf-8", "replace")
    date = re.search(r"<strong>Release date: </strong>(\d{4}-\d\d-\d\d)", page)
    section = ""
    for mark, content in re.findall(r"<(h\d|li)\b[^>]*>(.*?)(?=<h\d|<li\b|</ul>)", page, re.DOTALL):
        paragraphs = [
            re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", part)))
            .replace("§", "")
            .strip()
            for part in re.split(r"</p>", content)
        ]
        if mark != "li":
            section = re.sub(r"^[\w.]*\d\.?\s+|[#\s]+$", "", paragraphs[0])
            continue
        parts = re.fullmatch(r"(.*?)\s*\(([^()]+)\)", paragraphs[0])
        people = tuple(filter(is_name, re.split(r",\s*", parts[2]))) if parts else ()
        if parts and people:
            text = "\n\n".join(filter(None, [parts[1], *paragraphs[1:]]))
            yield Entry(heading(parts[1]), text, people, section, date[1] if date else "")


def read_fortunes(file: Path) -> Iterator[Entry]:
    """Read quotations: text, then `-- Person`; the name of the file is the project."""
    if file.suffix:
        return
    for block in file.read_text("utf-8", "replace").split("\n%\n"):
        parts = re.fullmatch(
            r"(.*?)\n\s*-- ([^\n,\"]+?)[.,]?(?:[,\n].*)?", block.strip(), re.DOTALL
        )
        if parts and is_name(parts[2]) and parts[2].split()[-1] not in parts[1]:
            text = re.sub(r"\s+", " ", parts[1]).strip()
            yield Entry(heading(text), text, (parts[2],), file.name)


def is_name(text: str) -> bool:
    """Return whether a text is one to four capitalised words."""
    words = text.split()
    return 1 <= len(words) <= 4 and all(re.fullmatch(r"[A-Z][\w.'-]*", word) for word in words)


SOURCES = {
    "nmap": Source("nmap", "usr/share/doc/nmap/changelog.gz", "NPSL", "text", read_nmap),
    "vim": Source(
        package="vim-runtime",
        file="usr/share/vim/vim*/doc/version9.txt",
        licence="Vim licence",
        names="frontmatter",
        read=read_vim,
    ),
    "postgres": Source(
        package="postgresql-doc-15",
        file="usr/share/doc/postgresql-doc-15/html/release-*.html",
        licence="PostgreSQL licence",
        names="text",
        read=read_postgres,
    ),
    "fortunes": Source(
        package="fortunes",
        file="usr/share/games/fortunes/*",
        licence="as its copyright file says",
        names="frontmatter",
        read=read_fortunes,
    ),
}

if __name__ == "__main__":
    main()
