"""Makes the pictures in this folder from the real program and the bundled samples. Run it from a checkout:

.venv/bin/python docs/make_pictures.py
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ctxview.samples import folder

HERE = Path(__file__).parent
WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
SQUEEZED = re.compile(r' textLength="[\d.]+"(?=[^>]*>[^<]*[\u2e80-\uffef])')
"""The toolkit gives wide characters the length of narrow ones."""
SNAPSHOTS, SESSIONS = folder() / "snapshot", folder() / "session"

PICTURES: dict[str, tuple[Path, tuple[int, int], Sequence[str]]] = {
    "inspector": (SNAPSHOTS / "lighthouse", (132, 40), ["left_square_bracket"] * 14),
    "session": (SESSIONS / "coder", (132, 40), []),
}


async def picture(path: Path, size: tuple[int, int], keys: Sequence[str]) -> str:
    from ctxview.tui.app import CtxviewApp
    from ctxview.tui.loading import Manner
    from ctxview.tui.opening import Opening

    app = CtxviewApp(Opening([path]), Manner(), watching=False)
    async with app.run_test(size=size) as pilot:
        await pilot.pause(2)
        for key in keys:
            await pilot.press(key)
        await pilot.pause(2)
        # The browser's own monospaced font serves as well, and needs nothing from outside.
        return SQUEEZED.sub("", WEB_FONT.sub("", app.export_screenshot(title="")))


def main() -> None:
    os.environ.pop("NO_COLOR", None)
    for name, how in PICTURES.items():
        (HERE / f"{name}.svg").write_text(asyncio.run(picture(*how)), "utf-8")


if __name__ == "__main__":
    main()
