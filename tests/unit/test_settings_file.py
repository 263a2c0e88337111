"""Reading kbx.toml: an invalid setting is refused with file, key, value and valid values."""

from pathlib import Path

import pytest

from kbx_tui.config import Settings
from kbx_tui.errors import ConfigError
from kbx_tui.settings_file import load_settings, with_settings


def write(folder: Path, text: str) -> Path:
    (folder / "kbx.toml").write_text(text, encoding="utf-8")
    return folder


def test_missing_file_means_default_settings(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings()


def test_sections_of_other_programs_are_ignored(tmp_path: Path) -> None:
    base = write(
        tmp_path,
        '[sources]\nmemory = "memory"\n[user]\nname = "J"\n[searches]\nrecent = ["a"]\n',
    )
    assert load_settings(base) == Settings()


def test_values_in_the_file_override_defaults(tmp_path: Path) -> None:
    base = write(tmp_path, '[search]\nhierarchy_alpha = 1\nhierarchy_gate = "hard"\n')
    settings = load_settings(base).search
    assert (settings.hierarchy_alpha, settings.hierarchy_gate) == (1.0, "hard")


@pytest.mark.parametrize(
    ("text", "needles"),
    [
        ("[search]\nhierarchy_alpha = 1.5", ["search.hierarchy_alpha", "1.5", "0..1"]),
        ("[search]\nhierarchy_alpha = nan", ["search.hierarchy_alpha", "nan", "0..1"]),
        ("[search]\nhierarchy_max_entities = 0", ["hierarchy_max_entities", "= 0", "1..20"]),
        ("[search]\nhierarchy_max_entities = true", ["hierarchy_max_entities", "True"]),
        ('[search]\nhierarchy_gate = "open"', ["hierarchy_gate", "open", "hard or soft"]),
        ("[search]\nhierarchy_alhpa = 0.5", ["hierarchy_alhpa", "did you mean hierarchy_alpha"]),
        ("[serach]\nhierarchy_alpha = 0.3", ["[serach]", "did you mean [search]?"]),
        ("search = 3", ["[search] must be a table", "3"]),
        ('[index]\nexclude = "drafts"', ["index.exclude", "drafts", "list of texts"]),
        ("[embedding]\nmodel = 3", ["embedding.model", "3", "text"]),
        ('[index]\nuri = "/idx\\u001b[31m"', ["index.uri", r"\x1b[31m", "is not shown"]),
        ('[embedding]\nmodel = "bundled\\u200b"', ["embedding.model", r"\u200b", "is not shown"]),
        ('[search]\nreranker = "x\\u202e"', ["search.reranker", r"\u202e", "is not shown"]),
        ("[search", ["not valid TOML"]),
    ],
)
def test_invalid_setting_is_refused_with_file_key_value_and_valid_values(
    tmp_path: Path, text: str, needles: list[str]
) -> None:
    base = write(tmp_path, text)
    with pytest.raises(ConfigError) as refusal:
        load_settings(base)
    message = str(refusal.value)
    assert "\n" not in message
    for needle in [str(tmp_path / "kbx.toml"), *needles]:
        assert needle in message


def test_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kbx.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"kbx\.toml"):
        load_settings(tmp_path)


def test_a_key_binding_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "kbx.toml").write_text("[keys]\nquit = 'x'\nsearch = 5\n")
    with pytest.raises(ConfigError, match=r"keys\.search = 5 is not valid: must be text"):
        load_settings(tmp_path)


@pytest.mark.parametrize("text", ["password = ", "[serach]\nhierarchy_alpha = 0.5\nsecret = 1\n"])
def test_a_link_out_of_the_base_is_not_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "private").write_text(text)
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "kbx.toml").symlink_to(tmp_path / "private")
    with pytest.raises(ConfigError, match=f"is a link to {tmp_path / 'private'}, outside"):
        load_settings(tmp_path / "base")


def test_a_link_within_the_base_is_followed(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[search]\nhierarchy_alpha = 0.7\n")
    (tmp_path / "kbx.toml").symlink_to("settings.toml")
    assert load_settings(tmp_path).search.hierarchy_alpha == 0.7


def test_a_file_with_many_dotted_keys_is_read_but_not_changed(tmp_path: Path) -> None:
    """The library that keeps its comments would take minutes."""
    text = "[notes]\n" + "".join(f"a.b.c.d{number} = 1\n" for number in range(2_000))
    (tmp_path / "kbx.toml").write_text(text, encoding="utf-8")
    assert load_settings(tmp_path) == Settings()
    with pytest.raises(ConfigError, match="more than 200 dots in its keys"):
        with_settings(text.encode(), "search", {"limit": 5})
    inline = "x = {" + ", ".join(f"a.b.c.d{number} = 1" for number in range(100)) + "}\n"
    with pytest.raises(ConfigError, match="more than 200 dots in its keys"):
        with_settings(inline.encode(), "search", {"limit": 5})
    words = b'[notes]\nx = """\n' + b"a.b = 1\n" * 300 + b'"""\n'
    for few in (b'[keys]\nalpha.less = "a"\n', words):
        assert b"limit = 5" in with_settings(few, "search", {"limit": 5})
