"""A few lines of styled text that wrap to their room. For long lists there is `VirtualLines`."""

from __future__ import annotations

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.text import Line, width, wrap_all
from ctxview.tui.themes import load
from ctxview.tui.widgets.drawing import draw


class Said(Widget):
    """As high as what it says; of nothing, nothing is seen."""

    DEFAULT_CSS = "Said { height: auto; width: 1fr; } Said.-silent { display: none; }"

    def __init__(
        self,
        *lines: Line,
        indent: str = "",
        id: str | None = None,  # noqa: A002 - the toolkit's word
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._said = lines
        self._indent = indent
        self._wrapped: tuple[int, list[Line]] = (-1, [])
        self.set_class(not lines, "-silent")

    def say(self, *lines: Line) -> None:
        if lines == self._said:
            return
        self._said = lines
        self._wrapped = (-1, [])
        self.set_class(not lines, "-silent")
        self.refresh(layout=True)

    @property
    def said(self) -> tuple[Line, ...]:
        return self._said

    # The toolkit asks with more than this needs.
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return len(self._lines(width))

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        return max(map(width, self._said), default=0)

    def render_line(self, y: int) -> Strip:
        room = self.size.width
        lines = self._lines(room)
        return draw(lines[y] if y < len(lines) else (), room, load(self.app.theme), self.rich_style)

    def _lines(self, room: int) -> list[Line]:
        if self._wrapped[0] != room:
            self._wrapped = (room, wrap_all(self._said, room, self._indent))
        return self._wrapped[1]
