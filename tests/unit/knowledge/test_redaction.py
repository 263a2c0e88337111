import pytest

from kbx_tui.knowledge.fields import DEFAULT_ENTITY_TYPES
from kbx_tui.knowledge.reading import read_frontmatter
from kbx_tui.knowledge.redaction import (
    PublicPage,
    marked_lines,
    near_marks,
    redacted_lines,
    says_redacted_at_top,
)


def read(text: str) -> str:
    return PublicPage("memory/people/ada.md", text.encode(), DEFAULT_ENTITY_TYPES).body


MARKS = (
    *("[#redacted]", "(#redacted)", "`#redacted`", "==#redacted==", "**#redacted**", "_#redacted_"),
    *("<!-- #redacted -->", "<!--#redacted-->", "<!-- redacted -->", "%% redacted %%"),
    *("{redacted}", "\uff03redacted", "#\uff52\uff45\uff44\uff41\uff43\uff54\uff45\uff44"),
    *("\uff08redacted\uff09", "#\u200bredacted", "#redac\u00adted", "(redacted\u200b)"),
    *("#redac\U000e0061ted", "#\u3164redacted", "(redacted)\U000e0100"),
)


@pytest.mark.parametrize(
    ("hidden", "kept"),
    [
        ("## Facts\n- secret (status: redacted)\n- open\n", "open"),
        ("## Facts\n- secret #redacted\n- open\n", "open"),
        ("## Facts\n1. [redacted] secret\n2. open\n", "open"),
        ("## Facts\n- secret (status: redacted)\n  and more secret\n- open\n", "open"),
        ("## Facts\n- said\n  - status: redacted\n  - secret\n- open\n", "open"),
        ("## Facts\n- one (status: redacted)\n  - nested secret\n\n- open\n", "open"),
        ("## Open Items\n- [ ] secret #redacted\n- [x] open\n", "open"),
        ("## Notes\n- secret (status: redacted)\n\nopen\n", "open"),
        ("## Facts\n- (STATUS: Redacted) secret\n- open\n", "open"),
        ("A paragraph of secret\nlines, secret ones #redacted\n\nopen\n", "open"),
        ("#redacted secret paragraph\n\nopen\n", "open"),
        ("> secret quoted #redacted\n\nopen\n", "open"),
        ("| open | 1 |\n|---|---|\n| secret | 2 #redacted |\n| open | 3 |\n", "open | 3"),
        ("## Plan #redacted\n\nsecret plan\n\n## Else\nopen\n", "open"),
        ("open\n- secret #redacted\n", "open"),
        ("## Facts\n- secret\n\n  more secret #redacted\n- open\n", "open"),
        ("## Facts\n- secret\n\n  ```\n  secret (redacted)\n  ```\n- open\n", "open"),
        ("## Old\n\nopen\n\n<details>\n\nsecret\n\n#redacted\n</details>\n", "open"),
        ("open\n\nsecret\n\n#redacted <!-- by legal --> %% ask Bo %%\n", "open"),
        ("- <!-- redacted --> secret\n\n  secret\n  - secret\n- open\n", "open"),
        ("- ```\n  x\n\n  (redacted)\n  ```\n\n  secret\n- open\n", "open"),
        ("- > x #redacted\n\n  secret\n- open\n", "open"),
        ("- ## x #redacted\n\n  secret\n- open\n", "open"),
        ("- - secret #redacted\n  - open\n", "open"),
        ("[^1]: secret #redacted\n\n    secret\n\n    - secret\n\n[^2]: open\n", "open"),
        ("open[^1]\n\n[^1]: secret\n\n    x (redacted)\n\n    secret\n\nx\n", "open"),
        ("[^1]: secret\n\n    secret\n\n#redacted\n\nopen\n", "open"),
        ("!!! note\n    secret\n\n    x #redacted\n\nopen\n", "open"),
        ("open\n\nTerm\n: secret #redacted\n\n\tsecret\n", "open"),
        ("Term #redacted\n: secret\n\n    secret\n\nopen\n", "open"),
        ("Term #redacted\n\n~ secret\n\n    secret\n\n~ secret\n\n    secret\n\nopen\n", "open"),
        ("open\n: open\n\n    secret #redacted\n\n: open\n", "\n: open"),
        ("Term\n~ secret #redacted\n\n    secret\n\nTerm\n~ open\n", "open"),
        ('=== "Tab #redacted"\n\n    secret\n\n=== "Open"\n\n    open\n', "    open"),
        *((f"- secret {mark}\n- open\n", "open") for mark in MARKS),
        *((f"secret {mark}\n\nopen\n", "open") for mark in MARKS),
        *((f"open\n\nsecret\n\n{mark}\n", "open") for mark in MARKS),
    ],
)
def test_marked_lines_are_blanked_and_the_others_stay(hidden: str, kept: str) -> None:
    shown = read(f"# Ada\n\n{hidden}")
    assert "secret" not in shown
    assert kept in shown
    assert shown.count("\n") == f"# Ada\n\n{hidden}".count("\n")


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_in_a_comment_of_the_frontmatter_redacts_the_entry(mark: str) -> None:
    page = f"---\nteam: open\nrole: secret # {mark}\n---\n# Ada\n"
    shown = PublicPage("memory/people/ada.md", page.encode(), DEFAULT_ENTITY_TYPES).texts[1]
    assert shown == "---\nteam: open\n# [redacted]\n---\n# Ada\n"


@pytest.mark.parametrize(
    "fields",
    [
        '+++\nteam = "open"\nrole = """\nsecret\n""" # redacted\n+++',
        '+++\nteam = "open"\nrole = """\na: 1 #redacted\nb: secret\n"""\n+++',
        '+++\nteam="open"\nrole = [\n"secret",\n"more"] # redacted\n+++',
        '---\nteam: open\nrole: "a\nsecret\nmore" # redacted\n---',
        "---\nteam: open\nrole: [a,\nsecret,\nmore] # redacted\n---",
        '---\nteam: open\nrole: "secret\nb: x\nsecret" # redacted\n---',
        '---\nteam: open\nrole: [secret,\n"b: x",\nsecret] # redacted\n---',
        "---\nteam: open\nrole: {a: secret,\nb: x,\nc: secret} # redacted\n---",
        "---\nteam: open\nrole:\n  secret: # redacted\n    b: secret\n---",
        '---\nteam: open\nrole:\n- a\n- "secret\n- b\n secret" # redacted\n---',
        '---\nteam: open\nrole:\n- "b # redacted\n secret"\n---',
        '---\ntitle: "a: b" c\nteam: secret\nrole: "secret\nb: x\nsecret" # redacted\n---\nopen',
        "+++\nteam = 'open'\nrole = \"\"\"\n'''\na = 1 #redacted\nb = 'secret'\n\"\"\"\n+++",
        "+++\nteam = 'open'\nrole = [\n'secret',\n[\n'b']\n, {x = 1}\n,'secret'] # redacted\n+++",
        "+++\nteam = 'open'\n[role] # redacted\na = 'secret'\nb.c = 'secret'\n+++",
    ],
)
def test_a_mark_redacts_the_entry_with_lines_that_are_not_indented(fields: str) -> None:
    page = f"{fields}\n# Ada\n".encode()
    shown = PublicPage("memory/people/ada.md", page, DEFAULT_ENTITY_TYPES).texts[1]
    assert "secret" not in shown
    assert "open" in shown


def test_a_mark_redacts_no_more_than_its_entry() -> None:
    fields = (
        "title: a: b\nrole: secret # redacted\nteam: open",
        "people:\n- - secret # redacted\n  - secret\n- name: open\n  at: {x: open}",
        "people:\n- name: secret # redacted\n  at: secret\n- name: open\nteam: open",
        "all:\n  people:\n  - secret #redacted\n  team: open",
    )
    texts = (*(f"---\n{each}\n---\n" for each in fields), "+++\na='secret #redacted'\nb=1\n+++\n")
    for text in texts:
        lines = enumerate(text.split("\n"))
        assert marked_lines(text) == {number for number, line in lines if "secret" in line}


def test_marked_page_is_blanked_completely() -> None:
    shown = read("---\nstatus: redacted\n---\n# Ada\n\n## Facts\n- secret one\n- secret two\n")
    assert "secret" not in shown
    assert "secret" not in read("# Ada (redacted)\n\nsecret prose\n\n# More\n\nsecret as well\n")
    assert "secret" not in read("---\nstatus: _redacted_\n---\n# Ada\n\nsecret\n")
    assert "secret" not in read("---\nStatus: Redacted\n---\n# Ada\n\nsecret prose\n\n| secret |\n")


@pytest.mark.parametrize("break_", ["", "\n"])
def test_a_mark_in_an_object_of_json_redacts_all_of_it(break_: str) -> None:
    assert "secret" not in read(
        f'{{{break_}"team": "secret",{break_}"role": "(redacted)"}}\n# Ada\n'
    )


def test_neither_words_nor_near_marks_are_marks() -> None:
    text = "# Ada\n\n## Facts\n- Redacted the report\n- superseded (status: superseded)\n"
    assert read(text) == text

    text = "# Ada\n\n- Redacted the report\n- He #reacted and (directed) it\n- x #redacted\n"
    text += '<https://x.org/redacted-report.pdf> <a href="redacted.pdf" id=a>y</a>\n'
    text += "<b class=\"a\" title='the redacted version' data-a='b'>y</b>\n"
    assert list(near_marks(text)) == []


@pytest.mark.parametrize(
    "line",
    [
        *("# redacted", "\\#redacted", "#redact", "#redacetd", "#redcated"),
        *(
            "- x (redacted by legal)",
            "**redacted**",
            "- x ~~redacted~~",
            "redacted",
            "state: redacted",
            "redacted:: true",
            "- x 【redacted】",
            "(status: redacetd)",
        ),
        *("- x &#35;redacted", "x &lpar;redacted)", "<b class='x redacted'>y</b>", "x {.redacted}"),
        *(
            "<i data-redacted=1>y</i>",
            "<i redacted>y</i>",
            "<i title='a' data-state='b redacted'>y</i>",
        ),
        *("<i ID=redacted>y</i>", "<!-- redacted: begin -->"),
    ],
)
def test_what_looks_like_a_mark_but_is_not_one_is_found(line: str) -> None:
    text = f"# Ada\n\n{line}\n\nopen #redacted\n"
    assert list(near_marks(text)) == [(3, line)]
    assert "open" not in read(text)


def test_a_mark_is_found_beside_long_lines_of_signs() -> None:
    lines = ["redac" + "-" * 300_000 + "x", "-" * 300_000 + "redac", "-" * 300_000 + " #redcated"]
    assert [number for number, _ in near_marks("\n".join(lines))] == [3]


def test_a_page_knows_its_redacted_lines_and_texts() -> None:
    text = "---\nrole: Keeper # redacted\n---\n# Ada\n\n- open\n- said #redacted\n  more\n"
    page = PublicPage("memory/people/ada.md", text.encode(), DEFAULT_ENTITY_TYPES)
    assert page.redacted_lines == {2, 7, 8}
    assert page.redacts("Keeper")
    assert page.redacts("said")
    assert not page.redacts("open")
    hidden = PublicPage("a.md", b"---\nstatus: redacted\n---\n# Ada\nx", DEFAULT_ENTITY_TYPES)
    assert hidden.redacted_lines == {1, 2, 3, 4, 5}
    plain = PublicPage("a.md", b"# Ada\n\nRedacted the report\n", DEFAULT_ENTITY_TYPES)
    assert (plain.redacted_lines, plain.redacts("nothing of this")) == (frozenset(), False)


def test_lines_that_are_not_read_as_markdown_are_redacted_with_any_mark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = 1_000  # reading as many as in earnest takes seconds
    for module in ("redaction", "markdown"):
        monkeypatch.setattr(f"kbx_tui.knowledge.{module}.MAX_LINES", limit)
    lines = ["- open"] * limit
    assert redacted_lines("\n".join([*lines, "", "secret"])) == frozenset()
    for marked in (["- [redacted]", *lines, "secret"], [*lines, "secret", "", "[redacted]"]):
        redacted = redacted_lines("\n".join(marked))
        assert redacted >= frozenset(range(limit, len(marked)))
        assert limit - 1 not in redacted


@pytest.mark.parametrize(
    "fields",
    [
        "tags: [#work,\n  #redacted]",
        "tags: [#work,\n#redacted]",
        "tags: [\n work: a: b,\n redacted\n]",
        "tags: [\nwork: a: b,\nrope, Redacted/all\n]",
        "tags: [a: b: c,\n  'redacted', d]",
        "tags:\n  a: b: c\n  rope redacted oars",
        "status: [draft: a: b,\n  now redacted]",
        "title: a: b [\ntags:\n- work\n- redacted",
    ],
)
def test_frontmatter_that_cannot_be_read_redacts_by_what_may_be_a_tag(fields: str) -> None:
    text = f"---\n{fields}\ntitle: Hull\n---\nThe hull.\n"
    assert read_frontmatter(text).fault
    assert says_redacted_at_top(text)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: Hull: a: [\ntags: [work]\nabout: how a redacted page looks\n---\nA\n",
        "---\ntags: [work,\n  unredacted]\nabout: no, redacted is a word\n---\nA\n",
        "---\ntags: [work: a: b,\n  redacted-not]\nabout: redacted words\n---\nA\n",
    ],
)
def test_a_word_in_other_fields_does_not_redact_a_page(text: str) -> None:
    assert not says_redacted_at_top(text)
