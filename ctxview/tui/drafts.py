"""The drafts of this session: at most one a file, made when somebody first changes something in it.

Knows which there are and which belong to what is looked at, not the screen; what a draft can do is in `work`.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.edits import Refused

if TYPE_CHECKING:
    from ctxview.tui.loading import Manner
    from ctxview.tui.session_view import Look, SessionView
    from ctxview.tui.work import Work


class Drafts:
    def __init__(self, manner: Manner, view: SessionView) -> None:
        self._manner = manner
        self._view = view
        self._works: dict[tuple[int, str], Work] = {}

    def open(self, look: Look, file: str) -> Work:
        """The draft of a file; raises `Refused` where nothing may be written."""
        if (why := self._only_shown(look)) is not None:
            from ctxview.edits import Refused

            raise Refused(why)
        work = self._works.get((look.source, file))
        if work is None:
            from ctxview.tui.work import Work

            work = Work(self._view.sources[look.source], look, file, self._manner)
            self._works[look.source, file] = work
        elif work.editor != look.editor:
            work.hand_over(look.editor)
        return work

    def hand_over(self, look: Look) -> None:
        """Somebody else edits from now on: nothing that was saved can be undone in another name."""
        for (source, _), work in self._works.items():
            if source == look.source:
                with suppress(Refused):
                    work.hand_over(look.editor)

    def of(self, look: Look) -> list[Work]:
        """The drafts of the files that make up the revision looked at, the one changed last first."""
        if not self._works or self._only_shown(look) is not None:
            return []
        place = self._view.sources[look.source].revisions[look.revision].file
        works = [
            work
            for (source, file), work in self._works.items()
            if source == look.source and Path(file).is_relative_to(place)
        ]
        return sorted(works, key=lambda work: -work.changed_at)

    def _only_shown(self, look: Look) -> str | None:
        """Why what is looked at cannot be changed: it was."""
        from ctxview.formats.interface import KeepsPast

        source = self._view.sources[look.source]
        return source.only_shown(look.revision) if isinstance(source, KeepsPast) else None

    def overlay(self, source: int) -> dict[str, bytes]:
        """The bytes of every draft of a source, also of saved ones, since the source keeps what it read."""
        return {file: work.draft.data for (number, file), work in self._works.items() if number == source}

    def steps(self, source: int) -> int:
        """Grows with every change to any draft of a source, so that each has a look of its own."""
        return sum(work.steps for (number, _), work in self._works.items() if number == source)

    def dirty(self, look: Look) -> bool:
        return any(work.draft.dirty for work in self.of(look))

    def unsaved_in(self, source: int) -> bool:
        return any(work.draft.dirty for (number, _), work in self._works.items() if number == source)

    @property
    def unsaved(self) -> list[str]:
        return [work.draft.file.name for work in self._works.values() if work.draft.dirty]
