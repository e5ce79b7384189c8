from __future__ import annotations

import re

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from tests.tui.driver import driving

CORE = ["core-prod-readonly", "core-role", "core-money", "core-evidence", "core-brief-language"]
"""In the order of the prompt; the file has another one."""


async def test_a_tier_is_listed_as_the_model_reads_it_and_what_is_not_shown_is_last() -> None:
    received = samples_folder() / "snapshot" / "lighthouse" / "round-09.received.json"
    async with driving(open_source(received), size=(120, 60)) as drive:
        await drive.press("2")
        assert "◐ lt-dunning-calendar" in drive.screen_text()
        rows = re.findall(r"([●○]) ((?:core|work|h\d)-\S+)", drive.screen_text())
        assert [name for _, name in rows if name.startswith("core-")] == CORE
        working = rows[len(CORE) : len(CORE) + 12]
        assert "".join(sign for sign, _ in working) == "●" * 8 + "○" * 4
        assert working[0][1] == "work-goal"
