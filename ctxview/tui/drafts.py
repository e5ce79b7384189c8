"""The drafts of this session: at most one a file, made when somebody first changes something in it.

Knows which there are, which belong to what is looked at, and which files changed on disk under them; not the
screen. What a draft can do is in `work`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.edits import Refused
from ctxview.tui.refreshing import Drafted

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.tui.loading import Manner
    from ctxview.tui.session_view import Look, SessionView
    from ctxview.tui.work import Work


class Drafts:
    def __init__(self, manner: Manner, view: SessionView) -> None:
        self._manner = manner
        self._view = view
        self._works: dict[tuple[int, str], Work] = {}
        self._on_disk: dict[tuple[int, str], bytes | None] = {}

    def open(self, source: Source, look: Look, file: str) -> Work:
        """The draft of a file of a source, in hand; raises `Refused` where nothing may be written."""
        if (why := _only_shown(source, look)) is not None:
            raise Refused(why)
        work = self._works.get((look.source, file))
        if work is None:
            from ctxview.tui.work import Work

            work = Work(source, look, file, self._manner)
        elif work.editor != look.editor:
            work.hand_over(look.editor)
        work.in_hand = True
        self._works[look.source, file] = work
        return work

    def drafted(self, source: int) -> dict[str, Drafted]:
        """The drafts of a source as they are now."""
        return {
            file: Drafted(work.draft.data, work.draft.dirty or work.in_hand)
            for (number, file), work in list(self._works.items())
            if number == source
        }

    def looked_again(self, source: int, on_disk: Mapping[str, bytes | None]) -> None:
        """Takes what the drafted files hold now. Drafts without unsaved changes make way for it."""
        for file, data in on_disk.items():
            work = self._works.get((source, file))
            if work is None:
                continue
            self._on_disk[source, file] = data
            if not work.draft.dirty and not work.in_hand and data not in (None, work.draft.data):
                del self._works[source, file]

    def overtaken(self, look: Look) -> list[str]:
        """The names of the files that changed on disk while what is looked at has unsaved changes in them."""
        return [work.draft.file.name for work in self.of(look) if self._is_overtaken(look.source, work)]

    def _is_overtaken(self, source: int, work: Work) -> bool:
        key = (source, str(work.draft.file))
        return work.draft.dirty and key in self._on_disk and self._on_disk[key] != work.draft.original

    def hand_over(self, look: Look) -> None:
        """Somebody else edits from now on: nothing that was saved can be undone in another name."""
        for (source, _), work in self._works.items():
            if source == look.source:
                with suppress(Refused):
                    work.hand_over(look.editor)

    def of(self, look: Look) -> list[Work]:
        """The drafts of the files that make up the revision looked at, the one changed last first."""
        source = self._view.sources[look.source] if self._works else None
        if source is None or _only_shown(source, look) is not None:
            return []
        place = source.revisions[look.revision].file
        works = [
            work
            for (number, file), work in list(self._works.items())
            if number == look.source and Path(file).is_relative_to(place)
        ]
        return sorted(works, key=lambda work: -work.changed_at)

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


def _only_shown(source: Source, look: Look) -> str | None:
    """Why what is looked at cannot be changed: it was."""
    from ctxview.formats.interface import KeepsPast

    return source.only_shown(look.revision) if isinstance(source, KeepsPast) else None
