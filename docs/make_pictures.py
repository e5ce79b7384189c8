"""Make the pictures in this folder from the program and the bundled samples. Run it from a checkout:

.venv/bin/python docs/make_pictures.py [NAME ...]
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxview.samples import samples_folder

HERE = Path(__file__).parent
SQUEEZED = re.compile(r' textLength="[\d.]+"(?=[^>]*>[^<]*[\u2e80-\uffef])')
"""The toolkit gives wide characters the length of narrow ones, so this attribute is removed."""
BACK_TO_ROUND_9 = ("left_square_bracket",) * 14
ON_TO_ITS_REPLY = ("right_square_bracket",) * 15
"""From the first round, where a replay starts."""


@dataclass(frozen=True)
class Picture:
    """The open sample, the size of the terminal and the pressed keys."""

    sample: str
    keys: Sequence[str] = ()
    size: tuple[int, int] = (132, 40)
    on_stage: bool = False


PICTURES = {
    "inspector": Picture("snapshot/lighthouse", BACK_TO_ROUND_9, (120, 36)),
    "skyline": Picture("snapshot/lighthouse", (*BACK_TO_ROUND_9, "T"), (120, 36)),
    "review": Picture("envelope/handoff", ("A",), (120, 36)),
    "session": Picture("session/coder", ("2",)),
    "lifecycle": Picture("envelope/handoff", ("L",), (120, 30)),
    "difference": Picture("snapshot/lighthouse", (*BACK_TO_ROUND_9, "d"), (120, 30)),
    "player": Picture("snapshot/lighthouse", (*ON_TO_ITS_REPLY, "space"), (120, 36), on_stage=True),
}


async def drawn(picture: Picture) -> str:
    from ctxview.tui.actions.general import self_contained
    from ctxview.tui.app import CtxviewApp
    from ctxview.tui.model.jobs.load import PathOpener
    from ctxview.tui.model.replay import ReplayOptions
    from ctxview.tui.model.view_state import ReadOptions

    show = ReplayOptions(stage=True, ticking=False) if picture.on_stage else None
    app = CtxviewApp(PathOpener([samples_folder() / picture.sample]), ReadOptions(), show=show)
    async with app.run_test(size=picture.size) as pilot:
        await pilot.pause(4)
        for key in picture.keys:
            await pilot.press(key)
        await pilot.pause(4)
        return SQUEEZED.sub("", self_contained(app.export_screenshot(title="")))


def main(names: Sequence[str]) -> None:
    os.environ.pop("NO_COLOR", None)
    for name in names or PICTURES:
        (HERE / f"{name}.svg").write_text(asyncio.run(drawn(PICTURES[name])), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
