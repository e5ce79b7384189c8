"""Widgets that keep their picture until something of theirs changes.

Whenever anything changes the toolkit asks every widget in sight for all its lines, and filters each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from textual.geometry import Region, Size
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    # The toolkit takes styles from the first widget among the bases, and that is to be the other one.
    Widget = object


class Kept(Widget):
    """Goes before the kind of widget whose picture is kept."""

    _kept: tuple[Size, list[Strip]] | None = None

    def picture(self, whole: Region) -> list[Strip]:
        """All lines of the widget, its border included."""
        return super().render_lines(whole)

    def render_lines(self, crop: Region) -> list[Strip]:
        # One line: somebody asks what is under the mouse. Over something to click the toolkit marks it.
        if crop.size != self.outer_size or self.hover_style.meta:
            return super().render_lines(crop)
        if self._kept is None or self._kept[0] != crop.size:
            self._kept = crop.size, self.picture(crop)
        return self._kept[1]

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        self._kept = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._kept = None
