"""Content that tries to act in a report, to leave its place in it, or to bring a secret into it."""

from __future__ import annotations

from pathlib import Path

from tests.formats.snapshot.builders import block, snapshot_value, to_bytes

HOST = "canary.invalid"
ACT = "document.title='acted'"
ATTACKS = (
    f"<script>{ACT}</script>",
    f"</script><script>{ACT}</script>",
    f'<img src="http://{HOST}/i.png" onerror="{ACT}">',
    f"</style><script>{ACT}</script><style>@import 'http://{HOST}/s.css';",
    f"</title></head><body onload={ACT}>",
    f"<svg onload={ACT}><animate onbegin={ACT} attributeName=x dur=1s>",
    f'<a href="javascript:{ACT}">x</a>',
    f"<iframe srcdoc='<script>parent.{ACT}</script>'></iframe>",
    f"<meta http-equiv=refresh content='0;url=http://{HOST}/'>",
    f"<base href=http://{HOST}/><link rel=stylesheet href=s.css>",
    f"data:text/html,<script>{ACT}</script>",
    f'" onmouseover="{ACT}" style="background:url(http://{HOST}/b)',
    f"' onfocus='{ACT}' autofocus='",
    "]]><script xmlns='http://www.w3.org/1999/xhtml'>x</script><![CDATA[",
    f"--><script>{ACT}</script><!--",
    f"[link](http://{HOST}/) ![image](http://{HOST}/i.png) <http://{HOST}/> www.{HOST} https://{HOST}/",
    f"`` ` ``` <script>{ACT}</script> ``` | --- | # heading",
    "\n```\n\n# heading\n\n- [x] item\n\n<details open>",
    "1. one",
    "\u202eevil\u202c \u2066x\u2069 \x1b[31m \x00 \u200b",
    "&lt;script&gt; &#x3c;script&#x3e;",
)
SECRET = "AKIA" + "Q4ZTB7RNMC2VLDWX"
TOKEN = "ghp_" + "q3X7vB9mK2tR5wY8nL4cD6fG1hJ0pS9aZxVu"


def write_hostile_rounds(folder: Path) -> Path:
    """Write two rounds whose every text is hostile, one text in each place."""
    for number in (1, 2):
        texts = [f"{text} {number}" for text in ATTACKS]
        blocks = [
            block(
                f"b{place} {text}"[:60],
                content=text,
                type=text[:40],
                tags=[text],
                decay=0.1 + 0.6 * (place % 2),
            )
            for place, text in enumerate(texts)
        ]
        blocks.append(block("secret", content=f"{'x' * (155 * number)} {SECRET} and {TOKEN} {number}"))
        todo = {"summary": texts[0], "total": 2, "step": 1, "cursor": None}
        value = snapshot_value(
            core=blocks[: len(blocks) // 2], working=blocks[len(blocks) // 2 :], round=number, todo=todo
        )
        value["runtime"]["datetime"] = f"2026-02-25T10:0{number}:00.000Z"
        value["task"] = {"id": texts[2], "goal": texts[3]}
        (folder / f"round-0{number}.received.json").write_bytes(to_bytes(value))
    return folder
