"""The user's own relevance judgments of a base, and preferences between result lists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kbx_tui.api.searching.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.errors import NotFound
from kbx_tui.evaluation.exchange import (
    Format,
    JudgmentImport,
    plan_import,
    read_judgment_file,
    write_judgment_file,
)
from kbx_tui.evaluation.judgment_log import (
    Judgment,
    JudgmentLog,
    UndoneJudgment,
    judged_queries,
    knobs_of,
    now,
    query_key,
)
from kbx_tui.evaluation.judgments import JudgedQuery, read_judgments
from kbx_tui.evaluation.preferences.preference import Better, Preference, ShownList
from kbx_tui.evaluation.preferences.preference_log import PreferenceLog
from kbx_tui.index.files.excluded_files import excluded_files
from kbx_tui.index.snapshot import generation_of
from kbx_tui.knowledge.vault import list_files, locate
from kbx_tui.read_only import require_writable
from kbx_tui.search.evidence.tuning import Tuning


class Judging:
    """Stores and reads judgments of a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._log = JudgmentLog(session.root, session.notice_once)
        self.preferences = PreferenceLog(session.root, session.notice_once)

    def judgments(self, folder: Path | str | None) -> tuple[JudgedQuery, ...]:
        if folder is not None:
            return read_judgments(Path(folder))
        return judged_queries(self._log.read())

    def grades(self, query: str) -> Mapping[str, int | None]:
        key = query_key(query)
        return {
            judgment.path: judgment.grade for judgment in self._log.read() if judgment.query == key
        }

    def judge(self, query: str, path: str, grade: int | None, tuning: Tuning | None) -> Judgment:
        knobs = knobs_of(tuning or self._searcher.tuning(None))
        judgment = Judgment(query, path, grade, now(), knobs, self._generation())
        self._require_document(judgment.path)
        self._log.add([judgment])
        return judgment

    def undo_judgment(self, judgment: Judgment | None) -> UndoneJudgment:
        return self._log.undo(judgment)

    def prefer(self, query: str, first: ShownList, second: ShownList, better: Better) -> Preference:
        preference = Preference(query, first, second, better, now(), self._generation())
        self.preferences.add(preference)
        return preference

    def import_judgments(
        self,
        file: Path | str,
        form: Format | None,
        topics: Path | str | None,
        scale: float | None,
        *,
        replace: bool,
        dry_run: bool,
    ) -> JudgmentImport:
        session = self._session
        graded = read_judgment_file(Path(file), form, Path(topics) if topics else None, scale)
        documents = list_files(session.root, excluded_files(session.root, session.settings.index))
        if dry_run:
            return plan_import(graded, self._log.read(), documents)
        with self._log.locked():
            planned = plan_import(graded, self._log.read(), documents)
            self._log.append(planned.judgments(replace=replace))
        return planned

    def export_judgments(self, file: Path | str, form: Format, topics: Path | str | None) -> int:
        require_writable(self._session.root)
        return write_judgment_file(
            Path(file), form, self._log.read(), Path(topics) if topics else None
        )

    def _require_document(self, path: str) -> None:
        """Raise NotFound if a path names no document on disk."""
        session = self._session
        try:
            locate(session.root, path, excluded_files(session.root, session.settings.index))
        except (OSError, ValueError) as error:
            raise NotFound(
                f"there is no document {path!r}; paths are those that a search lists"
            ) from error

    def _generation(self) -> int | None:
        """Return the generation of the index, None without one."""
        session = self._session
        return generation_of(session.store().versions()) if session.is_indexed() else None
