"""A base of a few pages, for campaigns of thousands of tries."""

from __future__ import annotations

from pathlib import Path

TOPICS = ("budget", "rollback", "hiring", "release", "kitchen", "network")
PEOPLE = ("Alice Chen", "Bob Okafor", "Carla Diaz")


def write_small_base(folder: Path) -> Path:
    """Write people with facts, and meetings and notes that name them; return the folder."""
    for number, name in enumerate(PEOPLE):
        topic = TOPICS[number]
        facts = f"- [2026-0{number + 1}-15] Leads the {topic}\n- Prefers mornings for the {topic}\n"
        text = f"---\nrole: Engineer {number}\nteam: Platform\n---\n# {name}\n\n## Facts\n\n{facts}"
        _write(folder / f"memory/people/{name.lower().replace(' ', '-')}.md", text)
    for number, topic in enumerate(TOPICS):
        name = PEOPLE[number % len(PEOPLE)]
        head = f"---\ndate: 2026-03-{number + 10}\nattendees: [{name}]\n---\n"
        text = f"# The {topic}\n\n{name} said that the {topic} takes {number + 3} weeks.\n"
        _write(folder / f"memory/meetings/{topic}.md", head + text)
        _write(folder / f"memory/notes/on-{topic}.md", f"# Notes on the {topic}\n\nNothing yet.\n")
    return folder


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
