"""What the Detail and the Todo of a transcript say: how sizes are known, as in the Budget, and no checks."""

from __future__ import annotations

from pathlib import Path

from ctxview.formats import open_source
from tests.formats.transcript.builders import write
from tests.tui.driver import driving

ROWS = """
u1 user : Read it
a1 call id=t1 tool=Read sent=9000 out=30 : {"file_path": "a.py"}
r1 result id=t1 : row*900
a2 assistant sent=9900 out=9 : Done
"""


async def test_the_detail_says_what_of_a_size_is_inferred_and_derived(tmp_path: Path) -> None:
    async with driving(open_source(write(tmp_path, ROWS)), size=(120, 36)) as drive:
        await drive.press("2", "8")
        assert "8,9" in drive.screen_text()
        assert "tokens, inferred" in drive.screen_text()
        assert "shared by" not in drive.screen_text().partition("Detail")[2]
        await drive.press("2", *"jjjj", "8")
        assert "tokens, derived from reported sizes" in drive.screen_text()


async def test_the_todo_of_a_transcript_does_not_say_that_a_summary_agrees(tmp_path: Path) -> None:
    todos = '{"todos": [{"content": "deploy", "status": "in_progress"}]}'
    rows = f"u1 user : Go\na1 call id=t1 tool=TodoWrite sent=900 out=9 : {todos}\nr1 result id=t1 : Done"
    async with driving(open_source(write(tmp_path, rows)), size=(120, 36)) as drive:
        await drive.press("3")
        assert "deploy" in drive.screen_text()
        assert "agree" not in drive.screen_text()
