"""People whose names the tests of this folder look for."""

from kbx_tui.knowledge.records import Entity


def person(name: str, *aliases: str) -> Entity:
    slug = name.lower().replace(" ", "-").replace(".", "")
    return Entity(f"person:{slug}", name, "person", f"memory/people/{slug}.md", aliases=aliases)
