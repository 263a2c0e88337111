"""The JSON of `kbx memory similar`, `kbx entity ...` and `kbx dedup`, and their exit codes."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.functional.vaults import FILES, index_vault, write_vault

SLACK = "favours asynchronous communication via Slack"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    twice = FILES["memory/people/bob-okafor.md"] + "- Leads the migration project\n"
    other = "# Alice Wong\n"
    files = FILES | {"memory/people/bob-okafor.md": twice, "memory/people/alice-wong.md": other}
    return index_vault(tmp_path_factory.mktemp("similar"), files)


def test_check_gives_the_matches_of_a_fact_or_none(kbx: CommandLine, base: Path) -> None:
    ran = kbx("memory", "similar", SLACK, "--entity", "alice chen", "--json", "--kb", base)
    assert (ran.code, ran.err) == (0, "")
    (match,) = ran.json["matches"]
    assert ran.json["scope"] == {"entity": "Alice Chen"}
    assert ran.json["has_similar"] is True
    assert ran.json["best_score"] == match["score"]

    ran = kbx("memory", "similar", "lunch menu", "--json", "--kb", base)
    assert (ran.code, ran.json["matches"], ran.json["has_similar"]) == (0, [], False)
    assert ran.json["scope"] == {}

    ran = kbx(
        "memory", "similar", "check migration status", "--threshold", "0.5", "--json", "--kb", base
    )
    assert ran.json["threshold"] == 0.5
    items = [match for match in ran.json["matches"] if match["match_type"] == "open_item"]
    assert items[0]["date"] is None


def test_field_is_compared_with_its_current_value_or_null(kbx: CommandLine, base: Path) -> None:
    arguments = ("--field", "role", "--value", "Engineering Director", "--json", "--kb", base)
    ran = kbx("entity", "similar-field", "Alice Chen", *arguments)
    assert ran.code == 0
    assert ran.json["current_value"] == "Director of Engineering"
    assert ran.json["is_similar"] is True

    arguments = ("--field", "hobby", "--value", "chess", "--json", "--kb", base)
    check = kbx("entity", "similar-field", "Alice Chen", *arguments).json
    assert (check["current_value"], check["similarity"], check["is_similar"]) == (None, 0.0, False)


def test_scan_has_exactly_the_documented_fields(kbx: CommandLine, base: Path) -> None:
    ran = kbx("dedup", "--scan", "--json", "--kb", base)
    assert ran.code == 0
    keys = ["clusters", "facts", "conflicts", "conflicting", "kept", "model", "is_calibrated"]
    assert list(ran.json) == [*keys, "notes"]
    (cluster,) = ran.json["clusters"]
    assert list(cluster) == ["score", "relation", "facts"]
    names = "text fact_id source_path line date entity_name match_type"
    assert list(cluster["facts"][0]) == names.split()
    assert cluster["facts"][0]["date"] == "2026-03-01"
    assert cluster["facts"][1]["date"] is None


def test_entity_list_and_show(kbx: CommandLine, base: Path) -> None:
    listed = kbx("entity", "list", "--type", "Team", "--json", "--kb", base).json
    assert listed == [{"id": "team:platform", "name": "Platform", "type": "team", "path": None}]
    unknown = kbx("entity", "list", "--type", "ferry", "--kb", base)
    assert (unknown.out, unknown.code) == ("", 4)
    assert "no entity has type ferry; types: person" in unknown.err
    card = kbx("entity", "show", "alice chen", "--json", "--kb", base).json
    assert (card["id"], card["role"]) == ("person:alice-chen", "Director of Engineering")
    assert {"fact_id", "text", "date", "status", "done"} <= card["facts"][0].keys()
    shown = kbx("entity", "show", "Alice Chen", "--kb", base).out
    assert str(card["facts"][0]["fact_id"]) in shown


def test_listing_shows_location_relation_and_contradiction(kbx: CommandLine, base: Path) -> None:
    shown = kbx("memory", "similar", "leads 3 migration projects", "--threshold", "0", "--kb", base)
    assert shown.code == 0
    assert "Leads the migration project" in shown.out
    assert "memory/people/alice-chen.md:11" in shown.out
    field = ("--field", "team", "--value", "Platform & Infrastructure", "--kb", base)
    assert "not the same" in kbx("entity", "similar-field", "Alice Chen", *field).out
    scan = kbx("dedup", "--scan", "--kb", base).out
    assert scan.startswith("1 cluster among 5 facts")


def test_base_without_an_index_is_indexed_first(kbx: CommandLine, tmp_path: Path) -> None:
    ran = kbx("memory", "similar", SLACK, "--json", "--kb", write_vault(tmp_path))
    assert (ran.code, ran.json["has_similar"]) == (0, True)
    assert "not indexed yet" in ran.err
