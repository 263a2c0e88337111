"""Links that lead to nothing, and those that only seem to."""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault

HANDBOOK = {
    "README.md": "# Guide\n\n[all](./docs) [raw](./raw/) [ci](./.ci/steps.yml) [us](docs/crew/) "
    "[duty](docs/crew/#on-duty) [make](Makefile) [pic](img/a.png?raw=true)\n",
    ".ci/steps.yml": "",
    "Makefile": "",
    "img/a.png": "",
    "raw/numbers.csv": "",
    "docs/index.md": "# Start\n\n[site](/crew/) [page](/crew/rota) [outside](../../other/x.md)\n",
    "docs/crew/README.md": "# The crew\n\n## On duty\n\n[me](./#on-duty) [up](../) [up](./..)\n",
    "docs/crew/rota.md": "# Rota\n\n[crew](../crew) [[toc]] [[_TOC_]]\n",
}
SITE = {
    "content/start.md": "# Start {#top-of-it .wide}\n\n[a](/pic/hull.png) [b](oars.md 'The oars') "
    "[c](oars.md#spare-ones (Spare)) [d](message:%3Cx@y%3E) [e](:/0a1b2c3d4e5f)\n\n"
    "## Hull {: #the-hull }\n\n[f](#the-hull) [g](#top-of-it)\n",
    "content/oars.md": "## Oars <a name='spare-ones'></a>\n",
    "content/ADR:queues.md": "[h](<Meeting: plan.md#why>) [i](mailto:ann@port.md)\n",
    "content/Meeting: plan.md": "## Why\n",
    "static/pic/hull.png": "",
}
BOOK = {
    "src/SUMMARY.md": "[a](oars/index.html) [b](oars/blades.html#wood) [c](@site/src/oars) "
    "[d](oars/knots) [e](oars/README.md#L2-L4)\n",
    "src/start.md": "[a](oars/knots/index.html) [b](index.html) [c](/keel/index.html) "
    "[d](rig/index.html)\n",
    "src/README.md": "",
    "src/rig/index.rst": "",
    "src/oars/README.md": "# Oars\n[f](../blades) [g](../../keel/)\n",
    "src/oars/blades.md": "[h](../knots) [i](../oars/#oars)\n## Wood\n",
    "src/oars/knots.mdx": "",
    "src/blades.adoc": "",
    "keel/index.html": "",
}
ADDRESSES = {
    "docs/a.md": "---\nslug: /oars\n---\n[b](/docs/keels/) [c](/blog/rope/) [d](/2025/tide)\n",
    "docs/b.md": "---\npermalink: /keels/\n---\n[a](/oars) [a](/docs/oars#wood)\n",
    "blog/c.md": "---\nslug: rope\n---\n",
    "blog/d.md": "---\nurl: /2025/tide/\n---\n",
}
SLIPS = {
    "202406041030 Bilge pumps.md": "[[202406051200]] [[20240606|rope]] [[202406051200 Keels]]\n",
    "slips/202406051200 Keels.md": "See [[202406041030]].\n",
    "slips/20240606_rope.md": "",
}
NO_LINKS = {
    "template.md": "[[{{title}}]] [[<% tp.file.title %>]] [a]({{ site.url }}/x)\n"
    "[b]({% link y %}) ${[c](d.md)} [e](${f}/g.md) [h][i]\n\n[i]: {{ site.url }}/j.md\n",
    "comment.md": "%% [[Later]]\n\n[[Never]] %%\n<!-- [[Hidden]] -->\n{/* [[Left]] */}\n",
    "mathematics.md": "$$\n[[1,2],[3,4]]\n$$\n\n$f[a](b)$ and $M=[[a]]_0$ cost $5.\n"
    "\\(A=[[b]]\\) \\begin{pmatrix}[[1]](2)\\end{pmatrix}\n\\[\n[[c]]\n\\]\n"
    "So \\[ \\det [[d]] = f[g](t) \\], \\[[[m]] + [[n]]\\] and \\( x[i](t) \\) hold.\n",
    "escaped.md": "\\[d](e.md) [d\\](e.md) [f](${url}) [[https://port.example/a]]\n<pre>\n[[g]]\n</pre>\n",
    "site.md": "[h](./site.html) [up](#top)\n",
}
BROKEN = {
    "a.md": "# A\n\n[[Gone]] `%%` [[Lost]] `%%`\n\n[x][ref] [y](./no/file.csv) costs $5, "
    "[[Off]] $6\n\n[ref]: ./missing.md 'Title'\n",
    "b/c.md": "[d](../away/)\n",
    "brackets.md": "\\[see [[Tarn]]\\] \\[[[Rope_walk]]\\] \\([w](./w.md) = w\\) \\([[Helm]]\\)\n",
    "d.md": "---\nslug: /big/keel\n---\n[e](b/index.html) [f](b/index) [g](b.html) [h](index.html) "
    "[i](/keel)\n",
}


def check(root: Path) -> list[tuple[str, int, str]]:
    with KnowledgeBase(root) as kb:
        return [(link.target, link.line, link.kind) for link in kb.links.check()]


@pytest.mark.parametrize(
    "files",
    [HANDBOOK, SITE, BOOK, ADDRESSES, SLIPS, NO_LINKS],
    ids=["handbook", "site", "book", "addresses", "numbered-slips", "no-links"],
)
def test_what_exists_or_is_not_a_link_is_not_reported(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert check(index_vault(tmp_path / "base", files, fast=True)) == []


def test_links_that_lead_to_nothing_are_reported(tmp_path: Path) -> None:
    assert check(index_vault(tmp_path, BROKEN, fast=True)) == [
        ("Gone", 3, "page"),
        ("Lost", 3, "page"),
        ("./missing.md", 5, "page"),
        ("./no/file.csv", 5, "page"),
        ("Off", 5, "page"),
        ("../away/", 1, "page"),
        ("Tarn", 1, "page"),
        ("Rope_walk", 1, "page"),
        ("./w.md", 1, "page"),
        ("Helm", 1, "page"),
        ("./b/index.html", 4, "page"),
        ("./b/index", 4, "page"),
        ("./b.html", 4, "page"),
        ("./index.html", 4, "page"),
        ("/keel", 4, "page"),
    ]


def test_a_link_to_a_folder_leads_to_its_page(tmp_path: Path) -> None:
    with KnowledgeBase(index_vault(tmp_path, HANDBOOK, fast=True)) as kb:
        found = {link.target: link.path for link in kb.links.of("README.md").outgoing}
        assert found == {"./docs": "docs/index.md", "./docs/crew/": "docs/crew/README.md"}
        assert kb.links.follow("./#on-duty", "docs/crew/README.md") is not None


def test_a_link_leads_to_a_file_whose_name_begins_like_an_address(tmp_path: Path) -> None:
    with KnowledgeBase(index_vault(tmp_path, SITE, fast=True)) as kb:
        (link,) = kb.links.of("content/ADR:queues.md").outgoing
        assert link.path == "content/Meeting: plan.md"


PARTS = {
    "a.md": "[1](./b.md#whats-new) [2](./b.md#whats-new-1) [[b#What's new?]] [[b#One#Two `x`]] "
    "[3](./b.md#own) [4](./b.md#named) [5](./b.md#set) [[b#^Block-1]] [[b#Quoted]] [[#Here]]\n"
    "[6](./b.md#c--d) [7](./b.md#über-uns) [8](./data.csv#row=2) [[b#a,1:#*]]\n\n"
    "## Here\n\n[[b#Nowhere]]\n\n[[b#^none]] [9](./b.md#no-where)\n",
    "b.md": "# One\n\n## What's new?\n\n## Two `x`\n\n## What's new?\n\n## Titled {#own}\n\n"
    '<a name="named"></a>\n\n<h2 id=set>Set</h2>\n\n> ## Quoted\n\n## C & D\n\n## Über uns\n\n'
    "Text. ^block-1\n",
    "data.csv": "",
}


def test_missing_headings_and_blocks_are_kinds_of_their_own(tmp_path: Path) -> None:
    root = index_vault(tmp_path, PARTS, fast=True)
    assert check(root) == [
        ("b#Nowhere", 6, "heading"),
        ("b#^none", 8, "block"),
        ("./b.md#no-where", 8, "heading"),
    ]
    with KnowledgeBase(root) as kb:
        assert kb.links.overview().broken == 0
        assert kb.links.of("a.md").broken == ()


def test_the_exit_code_tells_missing_pages_from_missing_headings(
    tmp_path: Path, kbx: CommandLine
) -> None:
    fine, parts, pages = (
        str(index_vault(tmp_path / name, files, fast=True))
        for name, files in (("fine", NO_LINKS), ("parts", PARTS), ("pages", PARTS | BROKEN))
    )
    assert kbx("--kb", fine, "links", "check").code == 0
    only_parts = kbx("--kb", parts, "links", "check")
    assert (only_parts.code, only_parts.out.splitlines()[0]) == (
        10, "a.md:6: [[b#Nowhere]]: b.md has no heading Nowhere",
    )  # fmt: skip
    both = kbx("--kb", pages, "links", "check", "--json")
    assert both.code == 1
    assert {link["kind"] for link in both.json["broken"]} == {"page"}


def test_broken_links_are_annotations_of_github_actions(tmp_path: Path, kbx: CommandLine) -> None:
    files = {"n, 1.md": "[[b#No 100%]]\n\n[[Gone]] [x](gone.md)\n", "b.md": ""}
    root = str(index_vault(tmp_path, files, fast=True))
    found = kbx("--kb", root, "links", "check", "--format", "github")
    assert found.out.splitlines() == [
        "::warning file=n%2C 1.md,line=1::[[b#No 100%25]]: b.md has no heading No 100%25",
        "::error file=n%2C 1.md,line=3::[[Gone]] leads to nothing",
        "::error file=n%2C 1.md,line=3::gone.md leads to nothing",
    ]


def test_in_a_workspace_of_dendron_the_label_is_before_the_bar(tmp_path: Path) -> None:
    files = {"n/tea.green.md": "---\ntitle: Green\n---\n", "n/a.md": "[[Sencha|tea.green]]\n"}
    assert check(index_vault(tmp_path / "plain", files, fast=True)) == [("Sencha", 1, "page")]
    dendron = index_vault(tmp_path / "dendron", files | {"dendron.yml": ""}, fast=True)
    assert check(dendron) == []
    with KnowledgeBase(dendron) as kb:
        (link,) = kb.links.of("n/tea.green.md").backlinks
        assert (link.path, link.line, link.target) == ("n/a.md", 1, "tea.green")
        assert link.text == "Sencha"
        assert kb.documents.view("n/a.md").labels_first


def test_a_link_of_dendron_may_name_the_vault(tmp_path: Path) -> None:
    files = {
        "dendron.yml": "",
        "tea.md": "[[Oolong|dendron://leaves/tea.oolong]] [[dendron://leaves/tea.none]]\n",
        "tea.oolong.md": "# Taste\n",
    }
    assert check(index_vault(tmp_path, files, fast=True)) == [("tea.none", 1, "page")]


def test_dendron_may_embed_all_notes_below_one_or_a_part_without_its_first_lines(
    tmp_path: Path,
) -> None:
    files = {
        "dendron.yml": "",
        "tea.md": "![[tea.*]] ![[tea.oolong#taste,1]]\n![[rum.*]] ![[tea.oolong#colour,1]]\n",
        "tea.oolong.md": "# Taste\n",
    }
    broken = [("rum.*", 2, "page"), ("tea.oolong#colour,1", 2, "heading")]
    assert check(index_vault(tmp_path, files, fast=True)) == broken


def test_in_a_workspace_of_dendron_dots_are_folders(tmp_path: Path) -> None:
    files = {"people.ida.moss.md": "", "people.ida.md": "", "meetings.may.md": "Ida came.\n"}
    kinds = {}
    for name, more in (("plain", {}), ("dendron", {"dendron.yml": ""})):
        with KnowledgeBase(index_vault(tmp_path / name, files | more, fast=True)) as kb:
            kinds[name] = [kb.documents.view(path).kind for path in files]
            assert len(kb.entities.find("")) == (name == "dendron")
            mention = kb.links.of("people.ida.md").mentions
            if mention:
                edit = kb.links.link(mention[0], "people.ida.md", dry_run=True)
                assert "[[Ida|people.ida]]" in edit.diff
    assert kinds == {"plain": ["note"] * 3, "dendron": ["note", "person", "meeting"]}


def test_a_link_may_name_a_day_or_tag_as_logseq_writes_it(tmp_path: Path) -> None:
    files = {
        "journals/2025_06_04.md": "- [[Jun 5th, 2025]] #[[slow food]] [[Jun 6th, 2025]]\n",
        "journals/2025_06_05.md": "tags:: [[deep work]]\n\n- [[slow food]]\n",
        "journals/2025-06-06 notes.md": "",
    }
    missing = [("Jun 6th, 2025", 1, "page"), ("slow food", 3, "page")]
    assert check(index_vault(tmp_path / "graph", files, fast=True)) == missing
    with KnowledgeBase(tmp_path / "graph") as kb:
        (link,) = kb.links.of("journals/2025_06_05.md").backlinks
        assert link.path == "journals/2025_06_04.md"


ORPHANS = {
    "a.md": "# A\n\n[[b]], and C in plain text.\n",
    "b.md": "---\nup: '[[c]]'\n---\n# B\n\n[[b]]\n",
    "c.md": "# C\n",
    "notes/d.md": "---\ndate: 2026-03-01\n---\n# D\n\n[a](../missing.md) [[d]]\n",
}


def test_documents_that_no_other_one_links_to_are_listed(tmp_path: Path, kbx: CommandLine) -> None:
    root = index_vault(tmp_path, ORPHANS, fast=True)
    ran = kbx("--kb", root, "links", "orphans")
    assert ran.out.splitlines() == [
        "a.md  A",
        "notes/d.md  D",
        "2 documents without a link to them",
    ]
    (page,) = kbx("--kb", root, "links", "orphans", "notes", "--json").json["pages"]
    assert page == {**page, "path": "notes/d.md", "title": "D", "date": "2026-03-01"}
    assert (
        "2 documents without a link to them (`kbx links orphans`" in kbx("--kb", root, "links").out
    )
    assert kbx("--kb", root, "links", "orphans", "../x").code == 2
    for command in ("orphans", "check"):
        ran = kbx("--kb", root, "links", command, "note")
        assert (ran.code, ran.out) == (4, "")
        assert "there are no documents in note; did you mean notes?" in ran.err
