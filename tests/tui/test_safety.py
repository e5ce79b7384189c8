"""Content cannot control the terminal, and every module draws text through the safe functions."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest

import ctxview.tui
from tests.pty_session import PtySession

SOURCE = Path(ctxview.tui.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py") if "__pycache__" not in path.parts)

# None of these is a sequence of the application.
PAYLOADS = (
    "\x1b[6;66;123mSGR",
    "\x1b[?7777hMODE",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1bP+q544e\x1b\\",
    "\x1b_Gevil\x1b\\",
    "\x1b^pm\x1b\\",
    "\x1bXsos\x1b\\",
    "\x1bc",
    "\x9b2J\x9d0;c1\x9c",
    "\x00\x07\x08\x0b\x0c\x0e\x0f\x7f",
    "\u202egnp.exe\u2066\u200b\ufeff\U000e0041",
    "[bold red]markup[/] [@click=app.quit]click[/] [/] [/etc/passwd]",
    "\ud800 lone",
)

OWN_OSC = re.compile(r"\x1b\]52;c;[A-Za-z0-9+/=]*\x07|\x1b\]22;[a-z-]*(?:\x1b\\|\x07)")
OWN_CSI = re.compile(r"\x1b\[[<=>?]?[0-9;:]*[$ ]?[A-Za-z]|\x1b[78=>]|\x1bM")
LINE_CONTROLS = set("\r\n\t")


def hostile_files(folder: Path) -> list[Path]:
    text = " ".join(PAYLOADS)
    block = {"id": f"a{PAYLOADS[0]}", "type": text[:60], "decay": 0.9, "confidence": 0.1, "round": 1}
    document = {
        "version": 3.0,
        "runtime": {"round": 4, "workspace": text, "datetime": text, "startup_at": 1},
        "memory": {
            "core": [block | {"tags": list(PAYLOADS), "content": text}],
            "working": [],
            "ephemeral": [],
            "longterm": [],
            text: [],
        },
        "todo": {
            "summary": text,
            "total": 1,
            "step": 1,
            "cursor": {"v": 1, "phase": text, "next": text, "note": text},
        },
        text: text,
    }
    snapshot = folder / "\x1b[6;66;123mname.json"
    snapshot.write_text(json.dumps(document), "utf-8")
    raw = folder / "raw.txt"
    raw.write_bytes(text.encode("utf-8", "surrogatepass") + bytes(range(256)) * 4)
    reply = folder / "reply.txt"
    reply.write_bytes(f"{text}\n<<<CONTEXT>>>\n{json.dumps(document)}".encode("utf-8", "surrogatepass"))
    return [snapshot, raw, reply]


def foreign_sequences(output: bytes) -> list[str]:
    """The control sequences in the output that a terminal would obey and that are not ours."""
    text = output.decode("utf-8", "backslashreplace")
    found = [payload for payload in ("\x1b[6;66;123m", "\x1b[?7777h", "ZXZpbA==\x07") if payload in text]
    rest = OWN_CSI.sub("", OWN_OSC.sub("", text))
    found += [
        repr(rest[max(0, at - 10) : at + 20])
        for at, character in enumerate(rest)
        if (ord(character) < 0x20 and character not in LINE_CONTROLS) or 0x7F <= ord(character) < 0xA0
    ]
    return found[:5]


def test_the_check_finds_every_payload() -> None:
    for payload in PAYLOADS[:12]:
        assert foreign_sequences(payload.encode()), payload
    assert foreign_sequences(b"\x1b[1;38;2;1;2;3mfine\x1b[0m\x1b[?1049h\r\n") == []


@pytest.mark.parametrize("number", range(3), ids=["snapshot", "raw", "reply"])
def test_a_hostile_file_reaches_the_terminal_only_as_visible_text(tmp_path: Path, number: int) -> None:
    path = hostile_files(tmp_path)[number]
    with PtySession([sys.executable, "-m", "ctxview", "--tokens", "bytes/3", path]) as session:
        session.wait_for("live")
        for keys in ("2", "j", "k", "8", "7", "\r", "9", "j", "2", "o"):
            session.press(keys)
        session.wait_for("bytes ·")
        for keys in ("j", "q", "/"):
            session.press(keys)
        session.wait_for("search /")
        for keys in ("evil\r", "n", "t", "q", "q"):  # to the overview, and out
            session.press(keys)
        code = session.finish()
        output = session.output
    assert foreign_sequences(output) == []
    assert b"^[" in output
    assert code == 0


# -- the code -----------------------------------------------------------------------------------

TOOLKIT_TEXT = {
    "Static",
    "Label",
    "Markdown",
    "RichLog",
    "Log",
    "Pretty",
    "DataTable",
    "Tree",
    "OptionList",
    "Option",
}


def _calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "[" not in node.value


def _is_made_safe(node: ast.expr) -> bool:
    """A literal, or something that went through `text.content`."""
    if isinstance(node, ast.Attribute) and node.attr == "plain":
        node = node.value
    return _is_literal(node) or (isinstance(node, ast.Call) and _name(node) == "content")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_bypasses_the_text_module(path: Path) -> None:
    for call in _calls(path):
        name, place = _name(call), f"{path.name}:{call.lineno}"
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        assert name not in TOOLKIT_TEXT, f"{place}: {name} reads markup; draw lines instead"
        assert name not in {"from_markup", "print"}, f"{place}: {name} can act"
        markup = keywords.get("markup")
        assert markup is None or (isinstance(markup, ast.Constant) and markup.value is False), place
        if name == "notify":
            assert markup is not None, f"{place}: notify without markup=False"
            assert _is_made_safe(call.args[0]), f"{place}: notify with text that was not made safe"
        if name == "Button":
            assert not call.args or _is_made_safe(call.args[0]), f"{place}: a button with untrusted text"
        if name == "exit":
            assert not call.args, f"{place}: exit prints its message raw"
            assert "message" not in keywords, f"{place}: exit prints its message raw"
        if name == "Span" and path.name != "text.py" and call.args:
            assert not _holds_untrusted(call.args[0]), f"{place}: a span made past show()"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_titles_are_made_of_lines(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in {
                    "border_title",
                    "border_subtitle",
                    "tooltip",
                }:
                    is_none = isinstance(node.value, ast.Constant) and node.value.value is None
                    safe = (
                        is_none
                        or _is_made_safe(node.value)
                        or (isinstance(node.value, ast.Call) and _name(node.value) == "on_frame")
                    )
                    assert safe, f"{path.name}:{node.lineno}"


# Fields of the state that may not go into a span without `show`.
UNTRUSTED = {
    "id",
    "text",
    "title",
    "label",
    "message",
    "reason",
    "summary",
    "note",
    "question",
    "why",
    "target",
    "tags",
}
UNTRUSTED |= {
    "content",
    "path",
    "file",
    "pointer",
    "phase",
    "next",
    "state",
    "type",
    "tier",
    "revision",
    "severity_word",
}


def _holds_untrusted(node: ast.expr) -> bool:
    """Whether a field of the state goes into a span directly."""
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in UNTRUSTED
        and isinstance(each.value, ast.Name)
        and each.value.id
        in {"block", "ref", "gap", "finding", "item", "cursor", "todo", "source", "event", "field"}
        for each in ast.walk(node)
    )
