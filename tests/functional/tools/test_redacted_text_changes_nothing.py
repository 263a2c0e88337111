"""Bases that differ only in redacted text give agents the same answers, byte for byte."""

import json
import os
import re
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.request import SearchRequest
from kbx_tui.tools.dispatch import Answer, answer_call
from kbx_tui.tools.mcp_server import list_page, read_resource
from kbx_tui.tools.methods import METHODS
from tests.functional.tools.planted import PAGES, SECRETS, text_of
from tests.functional.tools.test_planted_secrets import calls, share_page
from tests.functional.vaults import index_vault

SECRET = re.compile(r"zq\w+", re.IGNORECASE)
TIME = re.compile(r"\w+_ms'?[=:] ?[\d.]+|\w+=datetime[^)]+\)| at 0x\w+")
PROPOSAL = re.compile(r"proposal:\w{12}")  # a random number
PUBLIC_WORDS = ("lighthouse", "ledger", "keeper", "lamp", "oil", "rope", "vera", "kane", "boat")
"""Words of the public text, some of which stand in the redacted text of the second base."""
GUESSES = (*SECRETS, *PUBLIC_WORDS, *(f"fjord{number}" for number in range(len(SECRETS))))
"""A dictionary that holds every redacted word of both bases."""


def other_text(text: str, *, is_name: bool = False) -> str:
    """Return text with each secret replaced: by words of other lengths, of the public text too."""

    def other(match: re.Match[str]) -> str:
        number = SECRETS.index(match[0].lower())
        if is_name or number % 3 == 0:
            return f"Fjord{number}"
        return PUBLIC_WORDS[number % len(PUBLIC_WORDS)] * (number % 2 + 1)

    return SECRET.sub(other, text)


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KnowledgeBase, ...]]:
    roots = tmp_path_factory.mktemp("one") / "base", tmp_path_factory.mktemp("other") / "base"
    for name, template in PAGES.items():
        text = text_of(template, marked=True).decode()
        for root, path, shown in (
            (roots[0], name, text),
            (roots[1], other_text(name, is_name=True), other_text(text)),
        ):
            file = root / "memory" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(shown.encode())
    opened = tuple(map(KnowledgeBase, roots))
    for kb in opened:
        kb.index()
    yield opened
    for kb in opened:
        kb.close()


def answers_differ(
    bases: tuple[KnowledgeBase, ...],
    asked: Iterator[tuple[str, dict[str, Any]]],
    proposer: str | None = None,
) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that the bases answer differently; each answer has its declared form."""
    method_of = {method.tool: method for method in METHODS.values()}
    different = []
    for tool, arguments in asked:
        one, other = (
            answer_call(
                lambda kb=kb: kb,  # type: ignore[misc]
                tool,
                arguments,
                allow_writes=True,
                proposer=proposer,
            )
            for kb in bases
        )
        if one.failure is None:
            method_of[tool].answer.model_validate_json(json.dumps(one.json))
        if said(one) != said(other):
            different.append((tool, arguments))
    return different


def said(answer: Answer) -> str:
    return PROPOSAL.sub("", json.dumps(untimed(answer.json)))


def untimed(value: Any) -> Any:
    if isinstance(value, dict):
        timed = ("duration_ms", "timings")
        return {key: untimed(each) for key, each in value.items() if key not in timed}
    return [untimed(each) for each in value] if isinstance(value, list) else value


def dictionary_attacks() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls that would tell a guessed word by a score, count, name, id, place or refusal."""
    beside = ("lighthouse", "Vera Sand", "ledger", "what did Kane mend in", "oil of")
    for word, known in product(GUESSES, beside):
        query = f"{known} {word}"
        yield "kbx_search", {"query": query, "fast": True, "explain": True, "limit": 50}
        yield "kbx_search", {"query": query, "explain": True, "hierarchy": False}
        yield "kbx_search", {"query": query, "preset": "seed", "limit": 3}
        yield "kb_search", {"query": query, "top_k": 10}
        yield "kb_experts", {"topic": query}
        yield "kbx_memory_similar", {"text": query, "threshold": 0.0, "chunks": True}
    for key in ("role", "codename", "team", "email", "manager", "plan", "tasks", "open items"):
        for query in (f"Vera Sand's {key}", f"what is the {key} of Vera Kane", f"{key} for Vera"):
            yield "kb_search", {"query": query, "top_k": 10}
            yield "kbx_search", {"query": query, "explain": True}
    for word in GUESSES:
        yield "kbx_search", {"query": word, "explain": True, "sort": "date", "parent": "max"}
        yield "kbx_search", {"query": f"key lies in {word}", "feedback": 1.0}
        for filters in (f"@{word}", f"tag:{word}", f"tag:none -{word}", f"said:@{word}"):
            yield "kbx_search", {"query": f"{filters} lighthouse", "fast": True}
        for filters in (f"codename:{word}", f"-place:{word}", "place>a", f"title:{word}"):
            yield "kbx_search", {"query": f"{filters} lighthouse", "fast": True}
        yield "kbx_search", {"query": f'"lighthouse of {word}"', "fast": True, "as_typed": True}
        yield "kbx_search", {"query": f"lighthouse {word[:-2]}{word[:-3:-1]}", "fast": True}
        yield "kbx_search", {"query": "lighthouse", "path": f"memory/**/*{word}*", "fast": True}
        yield "kbx_search", {"query": "lighthouse", "pin": [f"{word} Sand"]}
        yield "kbx_search", {"query": "lighthouse", "said": [f"{word} Kane"], "mute": [word]}
        for query in (f"Vera Sand's {word}", f"who reports to {word} Kane", f"members of {word}"):
            yield "kbx_search", {"query": query, "explain": True, "fast": True, "limit": 4}
        yield "kb_experts", {"topic": f"lighthouse {word}", "weight": "relevance"}
        yield "kbx_list", {"text": word}
        yield "kbx_list", {"text": "lighthouse", "path": f"memory/**/*{word}*"}
        yield "kb_get", {"id": f"memory/notes/{word}.md"}
        yield "kb_get", {"id": f"memory/notes/{word}.md", "lines": "3-6"}
        yield "kb_get", {"ids": [f"memory/notes/{word}.md", f"team:{word}"], "max_chars": 60}
        yield "kb_get", {"id": f"team:{word}"}
        yield "kbx_related", {"id": f"memory/notes/{word}.md"}
        yield "kbx_links", {"id": f"{word} Sand"}
        yield "kbx_memory_add", {"text": "Likes tea", "entity": f"{word} Kane", "dry_run": True}
        for field in ("role", "codename", "team", "aliases", "plan", "facts"):
            value = {"entity": "Vera Sand", "field": field, "value": f"keeper of {word}"}
            yield "kbx_entity_similar_field", value
        fact = f"Lighthouse key lies in {word}"
        yield "kbx_memory_add", {"text": fact, "entity": "Vera Sand", "dry_run": True}
        yield "kbx_memory_similar", {"text": fact, "entity": "Vera Sand", "threshold": 0.0}


def test_a_few_calls_of_every_tool_tell_nothing(bases: tuple[KnowledgeBase, ...]) -> None:
    some = chain([*calls()][::6], [*dictionary_attacks()][::101])
    assert answers_differ(bases, some) == []


def test_the_state_of_the_index_names_no_hidden_page(bases: tuple[KnowledgeBase, ...]) -> None:
    for public in (kb.public for kb in bases):
        assert public.status().stale == public.overview().stale == ()


def test_what_the_app_completes_and_explains_tells_nothing(
    bases: tuple[KnowledgeBase, ...],
) -> None:
    """As `KnowledgeBase.public` would to whoever makes a tool of it."""

    def answers(kb: KnowledgeBase) -> Iterator[object]:
        yield kb.contents(), kb.documents.facets(""), kb.entities.facts()
        for tokens in range(100, 1500, 200):
            yield kb.context(tokens)
        for name in ("Vera Sand", "Vera Kane"):
            yield kb.entities.timeline(name), kb.entities.timeline(name, as_of="2026-01-04")
        yield from map(kb.entities.stale, (0, 1, 10_000))
        for word in GUESSES:
            yield kb.documents.complete_query(f"lighthouse {word[:4]}")
            yield kb.documents.complete_path(word[:4]), kb.documents.find(word[:4])
            yield kb.entities.find(word[:4])
        for word in GUESSES[::20]:
            yield share_page(SearchRequest(f"lighthouse {word}", limit=50), kb)
        for page in ("memory/people/vera-kane.md", "memory/notes/tags.md"):
            yield kb.related(page), kb.why_not("zqfact of the lighthouse", page, 1)

    one, other = (map(repr, answers(kb.public)) for kb in bases)
    for said, said_by_other in zip(one, other, strict=True):
        assert TIME.sub("", said) == TIME.sub("", said_by_other)


def test_resources_tell_nothing(bases: tuple[KnowledgeBase, ...]) -> None:
    one, other = (list_page(kb, 0) for kb in bases)
    assert one == other
    for uri in (resource["uri"] for resource in one[0]):
        assert read_resource(bases[0], uri) == read_resource(bases[1], uri)


def test_exports_tell_nothing(bases: tuple[KnowledgeBase, ...], tmp_path: Path) -> None:
    exported = list[dict[str, bytes]]()
    for number, kb in enumerate(bases):
        folder = kb.imports.export_okf(tmp_path / str(number)).folder
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        exported.append({file.relative_to(folder).as_posix(): file.read_bytes() for file in files})
    assert exported[0] == exported[1]
    assert "people/vera-sand.md" in str(exported[0].keys())


def test_what_is_proposed_and_its_answers_tell_nothing(bases: tuple[KnowledgeBase, ...]) -> None:
    fact_ids = [fact.fact_id for fact in bases[0].public.entities.facts()]

    def proposals() -> Iterator[tuple[str, dict[str, Any]]]:
        for word in GUESSES[::5]:
            text = f"Lighthouse key lies in {word}"
            yield "kbx_memory_add", {"text": text, "entity": "Vera Sand"}
            yield "kbx_memory_add", {"text": text, "entity": f"{word} Kane"}
        for number, fact_id in enumerate(fact_ids):
            changed = {"fact_id": fact_id, "text": f"Lighthouse oil of {GUESSES[number]}"}
            yield "kbx_memory_supersede", changed
            yield "kbx_memory_edit_fact", changed
            yield "kbx_memory_delete_fact", {"fact_id": fact_id}

    assert answers_differ(bases, proposals(), "agent") == []
    waiting, others = ([each.draft for each in kb.drafts.proposals()] for kb in bases)
    assert len(waiting) == len(others) > len(fact_ids)
    for drafts in zip(waiting, others, strict=True):
        one, other = (
            answer_call(lambda kb=kb: kb, "kb_get", {"id": f"proposal:{draft.id}"})  # type: ignore[misc]
            for kb, draft in zip(bases, drafts, strict=True)
        )
        assert said(one) == said(other)


def test_how_near_pages_are_is_measured_by_public_pages(tmp_path: Path) -> None:
    """Where there are many, they are compared with the usual page, which must be public too."""
    found, scores = list[list[str]](), list[dict[str, float]]()
    for name, hidden in (("one", "tide tables of the harbour"), ("other", "a recipe for soup")):
        files = {
            f"memory/notes/n{number}.md": f"# Note {number}\n\nThe harbour, {topic}.\n"
            for number, topic in enumerate(("tide", "rope", "net", "quay", "gull", "fog") * 3)
        } | {
            f"memory/notes/h{number}.md": f"# {hidden} {number}\n#redacted\n\n{hidden}\n"
            for number in range(30)
        }
        files["memory/notes/part.md"] = f"# Part\n\nThe harbour.\n\n{hidden} #redacted\n"
        with KnowledgeBase(index_vault(tmp_path / name, files)) as kb:
            ids = ("memory/notes/n1.md", "memory/notes/part.md")
            asked = [{"id": each, "limit": 50} for each in ids]
            found.append([said(answer_call(lambda: kb, "kbx_related", each)) for each in asked])
            related = kb.related(ids[0], limit=50).related
            scores.append({each.path: each.score for each in related if "/n" in each.path})
    assert found[0] == found[1]
    assert scores[0] != scores[1], "what is usual differs for the owner"


def test_the_day_on_which_redacted_text_changed_tells_nothing(tmp_path: Path) -> None:
    """Facts without a date have that of their file, unless part of it is redacted."""
    files = {
        "memory/people/vera-sand.md": "# Vera Sand\n\n## Facts\n- Owns a kiln\n- x #redacted\n",
        "memory/people/vera-kane.md": "# Vera Kane\n\n## Facts\n- Sold a kiln\n",
    }
    answers = list[list[str]]()
    for day, date in ((100, "1970-04-11"), (200, "1970-07-20")):
        with KnowledgeBase(index_vault(tmp_path / str(day), files)) as kb:
            os.utime(kb.root / "memory/people/vera-sand.md", (day * 86_400, day * 86_400))
            asked = [{"topic": "kiln", "weight": weight} for weight in ("count", "recency")]
            answers.append([said(answer_call(lambda: kb, "kb_experts", each)) for each in asked])
            own, public = (
                {known.name: known.receipts[0] for known in each.experts("kiln").experts}
                for each in (kb, kb.public)
            )
            assert own["Vera Sand"].date == date
            assert (public["Vera Sand"].date, public["Vera Sand"].has_file_date) == ("", False)
            assert public["Vera Kane"].has_file_date
    assert answers[0] == answers[1]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_five_thousand_calls_tell_nothing(bases: tuple[KnowledgeBase, ...], part: int) -> None:
    asked = [*calls(), *dictionary_attacks()]
    assert len(asked) > 5000
    assert answers_differ(bases, iter(asked[part::5])) == []
