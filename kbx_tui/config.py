"""Settings of a knowledge base with their defaults, ranges and help texts. Pure.

`settings_file` reads them from `kbx.toml`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Unit = Annotated[float, Meta(ge=0.0, le=1.0)]


_HOST = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])"


def about(description: str, **limits: Any) -> Meta:
    """Return a setting's description for `kbx config`, with its limits, and what is within them."""
    return Meta(description=description, **limits)


class SearchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[search]`: how documents are ranked."""

    hierarchy_alpha: Annotated[
        Unit, about("weight of the document: 1 = document alone, 0 = entity alone")
    ] = 0.5
    hierarchy_entity_threshold: Annotated[
        Unit, about("minimum score of an entity that is kept")
    ] = 0.5
    hierarchy_max_entities: Annotated[
        int, about("maximum number of entities that are kept", ge=1, le=20)
    ] = 5
    hierarchy_gate: Annotated[
        Literal["soft", "hard"], about("soft keeps unlinked documents, hard drops them")
    ] = "soft"
    hierarchy_parent: Annotated[
        Literal["coverage", "max"], about("mean over named entities, or the best one")
    ] = "coverage"
    hierarchy_preset: Annotated[
        Literal["default", "seed"], about("seed = the first proposal, for comparison")
    ] = "default"
    hotness_weight: Annotated[
        Unit, about("weight of how often and how recently a document was opened")
    ] = 0.0
    feedback: Annotated[
        Unit, about("how far a query moves towards the best documents, 0 = not at all")
    ] = 0.3
    parts: Annotated[
        Unit, about("share of relevance propagated between parts of a document, 0 = none")
    ] = 0.9
    age_half_life: Annotated[
        float,
        about(
            "days in which a document loses half of what age may take, 0 = nothing", ge=0, le=1e6
        ),
    ] = 0.0
    dates: Annotated[
        Literal["prefer", "filter", "off"],
        about("what date words in a query do: prefer documents, filter, or nothing"),
    ] = "prefer"
    convergence: Annotated[
        Literal["exact", "stable"],
        about("exact compares until the best are certain, stable stops earlier"),
    ] = "exact"
    reranker: Annotated[
        str,
        about(
            "cross-encoder that reranks the first 20 results: a folder, or a "
            "fastembed model name; empty = none"
        ),
    ] = ""
    muted_documents: Annotated[
        tuple[str, ...],
        about("paths of documents that are left out of every search, which is said"),
    ] = ()


class IndexSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[index]`: what is indexed, and where the index is stored."""

    uri: Annotated[
        str,
        about(
            "folder of the index, or object store that it is published to; "
            "empty = .kbx/index in the base"
        ),
    ] = ""
    cache_mb: Annotated[
        int,
        about(
            "megabytes that copies of published indexes may take on this machine",
            ge=1,
            le=100_000_000,
        ),
    ] = 20_000
    exclude: Annotated[
        tuple[str, ...], about("files to leave out, as patterns like in .gitignore")
    ] = ()
    templates: Annotated[
        bool, about("index the notes in the folder of templates of an Obsidian vault")
    ] = False


class LinkSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[links]`: where documents open."""

    open: Annotated[Literal["editor", "obsidian"], about("where the app opens a document")] = (
        "editor"
    )


class EntitySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[entities]`: which types of page, and which topics, are entities."""

    types: Annotated[
        tuple[str, ...], about("page types that are entities, besides person, project and team")
    ] = ("lab", "company", "organization", "organisation")
    tags: Annotated[
        int, about("notes with a tag from which the tag is an entity; 0 = none", ge=0, le=10_000)
    ] = 0
    hubs: Annotated[
        int,
        about("notes that link to a note from which it is an entity; 0 = none", ge=0, le=10_000),
    ] = 0
    maps: Annotated[bool, about("maps of content, by tag, type or title (MOC), are entities")] = (
        False
    )
    folders: Annotated[tuple[str, ...], about("folders whose notes are entities")] = ()
    properties: Annotated[
        tuple[str, ...], about("properties whose links are entities, such as author")
    ] = ()
    names: Annotated[
        int,
        about(
            "notes that name someone in author, attendees, people or assignee from which that is"
            " a person; 0 = none",
            ge=0,
            le=10_000,
        ),
    ] = 0


class EmbeddingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[embedding]`: the model that turns text into vectors."""

    model: Annotated[
        str,
        about(
            "bundled, a folder with an ONNX model, a fastembed model name, or that of a server: "
            "ollama/NAME, openai/NAME, gemini"
        ),
    ] = "bundled"
    address: Annotated[
        str,
        about(
            "where such a server is; empty = Ollama on this machine, OpenAI or Google",
            pattern=rf"\A(https?://{_HOST}(:[0-9]{{1,5}})?(/[\w.~/-]*)?)?\Z",
            examples=["http://localhost:1234/v1, without a key"],
        ),
    ] = ""


class DedupSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[dedup]`: the similarity from which two texts count as the same."""

    default_threshold: Annotated[
        Unit, about("where set, the threshold of every type below without its own key")
    ] = 0.85
    fact_threshold: Annotated[Unit, about("similarity to a fact of fewer than 20 words")] = 0.9
    long_fact_threshold: Annotated[Unit, about("similarity to a fact of 20 words or more")] = 0.85
    field_threshold: Annotated[
        Unit, about("similarity to a field: role, team or any other of a page")
    ] = 0.85
    open_item_threshold: Annotated[Unit, about("similarity to an open item")] = 0.8
    chunk_threshold: Annotated[Unit, about("similarity to a passage of a document")] = 0.8
    judge: Annotated[
        Literal["model", "rules"],
        about("whether drafts repeat or contradict facts: bundled pair model with rules, or rules"),
    ] = "model"


class ExpertSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[experts]`: how experts on a topic are ranked."""

    half_life_days: Annotated[
        float, about("age at which a fact counts half, with recency", ge=1.0, le=36500.0)
    ] = 30.0


class WriteSettings(msgspec.Struct, frozen=True):
    """`[writes]`: what happens after a write. Unknown keys of other programs are allowed."""

    auto_commit: Annotated[bool, about("commit the files of each write with git")] = False
    auto_commit_message_format: Annotated[
        str, about("may contain {operation} {target} {file_count} {timestamp}")
    ] = "kbx: {operation} {target}"
    auto_commit_author: Annotated[str, about("author of these commits")] = "kbx <kbx@localhost>"


Measures = Literal["used", "always", "never"]


class AppSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[app]`: how the app behaves."""

    watch: Annotated[bool, about("index files as soon as they change on disk")] = True
    remember_knobs: Annotated[bool, about("start with alpha and threshold as last used")] = False
    measures: Annotated[
        Measures,
        about("show grades, times and search quality once you grade a result; or not"),
    ] = "used"


class Settings(msgspec.Struct, frozen=True):
    """All settings. Sections of other programs are ignored."""

    search: SearchSettings = msgspec.field(default_factory=SearchSettings)
    index: IndexSettings = msgspec.field(default_factory=IndexSettings)
    links: LinkSettings = msgspec.field(default_factory=LinkSettings)
    entities: EntitySettings = msgspec.field(default_factory=EntitySettings)
    embedding: EmbeddingSettings = msgspec.field(default_factory=EmbeddingSettings)
    dedup: DedupSettings = msgspec.field(default_factory=DedupSettings)
    experts: ExpertSettings = msgspec.field(default_factory=ExpertSettings)
    writes: WriteSettings = msgspec.field(default_factory=WriteSettings)
    app: AppSettings = msgspec.field(default_factory=AppSettings)
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    """`[keys]`: keys of the app by command id. The app validates the ids."""
