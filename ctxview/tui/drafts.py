"""The drafts of this session: at most one a revision's file, made when somebody first changes something.

Knows which there are, not the screen; what a draft can do is in `work`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.tui.loading import Manner
    from ctxview.tui.session_view import Look
    from ctxview.tui.work import Work


class Drafts:
    def __init__(self, manner: Manner) -> None:
        self._manner = manner
        self._works: dict[tuple[int, int], Work] = {}

    def get(self, look: Look) -> Work | None:
        return self._works.get((look.source, look.revision))

    def open(self, source: Source, look: Look) -> Work:
        """The draft of what is looked at; raises `Refused` where nothing may be written."""
        work = self.get(look)
        if work is None:
            from ctxview.tui.work import Work

            work = Work(source, look, self._manner)
            self._works[look.source, look.revision] = work
        return work

    def data(self, look: Look) -> bytes | None:
        """The draft's bytes, also when saved, since the source keeps what it read; None without one."""
        work = self.get(look)
        return work.draft.data if work is not None else None

    def dirty(self, look: Look) -> bool:
        work = self.get(look)
        return work is not None and work.draft.dirty

    @property
    def unsaved(self) -> list[str]:
        return [work.draft.file.name for work in self._works.values() if work.draft.dirty]
