"""The JSON of `kbx index`, `kbx status`, `kbx config` and `kbx trust`."""

from pathlib import Path

from tests.command_line import CommandLine
from tests.functional.vaults import FILES, write_vault

COUNTS = ["documents", "chunks", "entities", "facts", "links", "vectors"]


def test_index_reports_counts_changes_and_seconds(kbx: CommandLine, tmp_path: Path) -> None:
    ran = kbx("index", "--json", "--kb", write_vault(tmp_path))
    assert ran.code == 0
    report = ran.json
    names = (
        "added changed moved deleted embedded reused problems seconds size_bytes sizes generation "
        "repaired finished"
    )
    assert list(report) == [*COUNTS, *names.split()]
    assert report["documents"] == len(FILES) == report["added"]
    assert report["finished"] is True
    assert report["problems"] == []
    assert report["seconds"]["total"] > 0.0
    assert {"documents", "vectors", "words.bin"} <= report["sizes"].keys()
    assert sum(report["sizes"].values()) == report["size_bytes"]
    assert {"reading", "vectors"} <= report["seconds"].keys()


def test_status_reports_what_is_indexed(kbx: CommandLine, demo_kb_path: Path) -> None:
    status = kbx("status", "--json", "--kb", demo_kb_path).json
    names = (
        "vector_share without_vector size_bytes generation stale problems damage "
        "entities_outdated published log"
    )
    first = ["root", "index_path", "indexed", "indexed_at", "model"]
    assert list(status) == [*first, *COUNTS, *names.split()]
    assert status["root"] == str(demo_kb_path)
    assert status["indexed"] is True
    assert status["vector_share"] == 1.0
    assert status["stale"] == status["problems"] == []
    assert status["entities_outdated"] is False


def test_status_lists_every_stale_file(kbx: CommandLine, demo_copy: Path) -> None:
    notes = demo_copy / "memory" / "notes"
    (notes / "brand-new.md").write_text("# Brand new\n", encoding="utf-8")
    (notes / "2026-01-30-rollback-plan.md").unlink()
    stale = kbx("status", "--json", "--kb", demo_copy).json["stale"]
    assert stale == [
        {"path": "memory/notes/2026-01-30-rollback-plan.md", "change": "deleted"},
        {"path": "memory/notes/brand-new.md", "change": "new"},
    ]


def test_status_works_without_an_index(kbx: CommandLine, fresh_demo: Path) -> None:
    status = kbx("status", "--json", "--kb", fresh_demo).json
    assert status["indexed"] is False
    assert not (fresh_demo / ".kbx").exists()


def test_config_lists_every_setting_with_its_source(kbx: CommandLine, fresh_demo: Path) -> None:
    (fresh_demo / "kbx.toml").write_text("[search]\nhierarchy_alpha = 0.7\n", encoding="utf-8")
    settings = kbx("config", "--json", "--kb", fresh_demo).json
    by_key = {setting["key"]: setting for setting in settings}
    assert by_key["search.hierarchy_alpha"] == {
        "key": "search.hierarchy_alpha",
        "value": 0.7,
        "default": 0.5,
        "source": str(fresh_demo / "kbx.toml"),
        "valid": "a number within 0..1",
        "help": "weight of the document: 1 = document alone, 0 = entity alone",
    }
    assert by_key["embedding.model"]["source"] == "default"
    assert all(setting["help"] and setting["valid"] for setting in settings)


def test_trust_lists_what_is_granted(kbx: CommandLine, fresh_demo: Path) -> None:
    (fresh_demo / "kbx.toml").write_text("[writes]\nauto_commit = true\n", encoding="utf-8")
    granted = kbx("trust", "--json", "--kb", fresh_demo).json
    assert list(granted) == ["root", "granted"]
    assert [list(request) for request in granted["granted"]] == [["key", "value", "effect"]]
    (listed,) = kbx("trust", "--list", "--json").json
    assert listed == {
        "root": str(fresh_demo),
        "made_here": False,
        "granted": {"writes.auto_commit": "true"},
    }
    removed = kbx("trust", "--remove", "--json", "--kb", fresh_demo).json
    assert removed == {"root": str(fresh_demo), "removed": True}


def test_check_reports_faults_and_what_mends_them(kbx: CommandLine, demo_copy: Path) -> None:
    ran = kbx("check", "--read-data", "--json", "--kb", demo_copy)
    assert ran.code == 0
    keys = ["sound", "faults", "read_data", "files", "rows", "seconds", "near_marks"]
    assert list(ran.json) == keys
    assert ran.json["faults"] == ran.json["near_marks"] == []
    assert ran.json["sound"] is ran.json["read_data"] is True
    words = demo_copy / ".kbx" / "index" / "words.bin"
    words.write_bytes(words.read_bytes().replace(b"budget", b"bud\0et"))
    ran = kbx("check", "--json", "--kb", demo_copy)
    assert ran.code == 5
    assert ran.json["faults"] == [
        {
            "where": "words.bin",
            "what": "does not have the bytes that were written",
            "remedy": "`kbx index`",
        }
    ]
