"""A base with redacted parts has a second index, of its pages without them."""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.build.build_index import add_vectors
from kbx_tui.index.ownership import IDS, index_id
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.stored_vectors import read_coverage
from kbx_tui.user_files import user_state_folder
from tests.functional.vaults import index_vault, write_vault

PAGE = "memory/people/ada.md"
BAY = "memory/projects/bay.md"
OPEN = "# Ada\n\n## Facts\n- Mends boats\n"
MARKED = f"{OPEN}- Hides gold #redacted\n"
HIDDEN = "---\nstatus: redacted\n---\n# Hidden Bay\n\nOf gold.\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return index_vault(tmp_path, {PAGE: MARKED, BAY: HIDDEN})


def public_texts(base: Path) -> list[str]:
    public = Store(str(base / ".kbx" / "index")).public()
    return public.column("documents", "body") + public.column("facts", "text")


def test_it_holds_only_what_is_public_and_the_first_index_everything(base: Path) -> None:
    assert public_texts(base) == [f"{OPEN}- [redacted]\n", "Mends boats"]
    with KnowledgeBase(base) as kb:
        assert {result.path for result in kb.search("gold").results} == {PAGE, BAY}
        assert kb.public.search("gold", fast=True).meta.total_matched == 0
        assert kb.public.documents.kinds() == {"person": 1}
        assert kb.check(read_data=True).sound


def test_it_comes_with_the_first_mark_and_goes_with_the_last(base: Path) -> None:
    public = base / ".kbx" / "index" / "public"
    with KnowledgeBase(base) as kb:
        assert kb.public.search("boats").results
        (base / BAY).unlink()
        (base / PAGE).write_text(OPEN, "utf-8")
        kb.index()
        assert not public.exists()
        assert kb.public.search("boats").results
        (base / PAGE).write_text(MARKED, "utf-8")
        kb.index(only=[PAGE], fast=True)
        assert public.is_dir()
        assert kb.public.search("gold", fast=True).results == ()
        kb.index(full=True)
        assert public.is_dir()
        assert kb.public.search("gold", fast=True).results == ()


def test_a_run_that_died_before_it_leaves_nothing_to_agents(base: Path) -> None:
    store = Store(str(base / ".kbx" / "index"))
    store.public().remove()
    store.make_public()  # as before the first page with a mark is written
    with KnowledgeBase(base) as kb:
        assert not kb.public.is_indexed()
        assert kb.public.search("gold", fast=True).results == ()
        assert kb.public.search("boats").results


def test_a_link_in_its_place_is_not_followed(base: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_vault(other, {"memory/notes/gold.md": "# Gold\n\nOf another base.\n"})
    with KnowledgeBase(other) as kb:
        kb.index(fast=True)
    Store(str(base / ".kbx" / "index")).public().remove()
    (base / ".kbx" / "index" / "public").symlink_to(other / ".kbx" / "index")
    with KnowledgeBase(base) as kb:
        assert kb.public.search("gold", fast=True).results == ()
        assert kb.public.search("boats").results
    with KnowledgeBase(other) as kb:
        assert kb.search("gold").results


def test_one_that_was_not_made_here_is_not_opened(base: Path) -> None:
    public = base / ".kbx" / "index" / "public"
    (user_state_folder() / IDS / index_id(public)).unlink()
    with KnowledgeBase(base) as kb:
        assert not kb.public.is_indexed()
        assert kb.public.search("boats").results
        kb.index(full=True)
        assert [path.name for path in public.parent.glob("public*")] == ["public"]
    assert [path.name for path in public.parents[1].glob("index*")] == ["index"]


def test_what_is_public_of_a_page_gets_vectors_before_the_time_is_up(base: Path) -> None:
    """However much of it is redacted."""
    secrets = "".join(f"Gold lies {number} {'steps ' * 200} #redacted\n\n" for number in range(40))
    (base / PAGE).write_text(f"{OPEN}\n## Notes\n\n{secrets}", "utf-8")
    with KnowledgeBase(base) as kb:
        kb.index(only=[PAGE], fast=True)
        store = Store(str(base / ".kbx" / "index"))
        add_vectors(
            base,
            kb.settings,
            open_embedder("bundled"),
            only=[PAGE],
            cancelled=lambda: read_coverage(store.public()).missing == 0,
        )
    assert read_coverage(store).missing > 0
