"""Generated transcripts of any size for the benchmarks, in the shapes that Claude Code and Codex write.

The same seed gives the same bytes. Texts are lines of code and logs, so a JSON string has an escape every
forty characters, and one text in seven is not ASCII. Results have copies for the screen; a compaction comes
whenever the window is nearly full.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import orjson

from benchmarks.session_data import SEED

LAST = "LAST-ANSWER-OF-THE-TRANSCRIPT"
_FULL = 165_000
_CODEX_FULL = 240_000
_BASE = 21_000
_VOCABULARY = """
def return self value index token parser buffer class import raise None assert line column expected found
error warning passed failed in for while with as not and or test_module config session window
"""
_WORDS = _VOCABULARY.split()
_LINES = 4000
_Row = dict[str, object]


class _Texts:
    """Texts of a wanted length, cut from one long made-up file."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        made = (
            " " * (4 * self.random.randrange(4)) + " ".join(self.random.choices(_WORDS, k=6)) + f' "{at}"'
            for at in range(_LINES)
        )
        self._pool = "\n".join(made)

    def text(self, size: int) -> str:
        start = self.random.randrange(len(self._pool))
        found = self._pool[start : start + size]
        while len(found) < size:
            found += self._pool[: size - len(found)]
        return found if self.random.random() < 0.85 else found.replace("passed", "✓ passed │")

    def size(self) -> int:
        """Return the length of a tool result: most are short, some take tens of thousands of characters."""
        kind = self.random.random()
        if kind < 0.6:
            return self.random.randrange(80, 1500)
        return self.random.randrange(1500, 9000) if kind < 0.92 else self.random.randrange(9000, 45_000)

    def path(self) -> str:
        return f"/work/shop/src/module_{self.random.randrange(60)}.py"

    def name(self) -> str:
        return f"{self.random.getrandbits(128):032x}"

    def base64(self, size: int) -> str:
        return f"{self.random.getrandbits(8 * size):x}"[:size]


def write_claude(path: Path, size: int, seed: int = SEED) -> Path:
    """Write a Claude Code session of about `size` bytes."""
    return _write(path, size, _claude(_Texts(seed)))


def write_codex(path: Path, size: int, seed: int = SEED) -> Path:
    """Write a Codex rollout of about `size` bytes."""
    return _write(path, size, _codex(_Texts(seed)))


def write_plain_lines(path: Path, size: int, seed: int = SEED) -> Path:
    """Write JSON lines of no known format, of about `size` bytes."""
    texts = _Texts(seed)
    rows = ({"n": at, "level": "info", "text": texts.text(texts.size())} for at in iter(int, 1))
    return _write(path, size, map(orjson.dumps, rows))


def _write(path: Path, size: int, lines: Iterator[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("wb") as file:
        while written < size:
            written += file.write(next(lines) + b"\n")
    return path


def _claude(texts: _Texts) -> Iterator[bytes]:
    """Yield the lines of an endless session."""
    parent: str | None = None
    sent, clock, number = _BASE, 0, 0
    session = texts.name()

    def row(kind: str, **more: object) -> bytes:
        nonlocal parent, clock
        clock += 1
        name = texts.name()
        value: _Row = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/work/shop",
        }
        value |= {"sessionId": session, "version": "2.1.100", "gitBranch": "main", "type": kind} | more
        hour, minute = clock // 3600 % 24, clock // 60 % 60
        value |= {"uuid": name, "timestamp": f"2026-08-01T{hour:02}:{minute:02}:{clock % 60:02}.000Z"}
        parent = name
        return orjson.dumps(value)

    def answer(message: str, block: _Row, written: int, out: int) -> bytes:
        usage = {"input_tokens": 4, "cache_creation_input_tokens": written, "output_tokens": out}
        usage |= {"cache_read_input_tokens": sent - written - 4, "service_tier": "standard"}
        inner = {"id": message, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
        return row("assistant", message=inner | {"content": [block], "stop_reason": None, "usage": usage})

    while True:
        prompt = texts.text(texts.random.randrange(80, 600))
        yield row("user", message={"role": "user", "content": prompt})
        fresh = len(prompt) // 3
        for step in range(texts.random.randrange(3, 14)):
            number += 1
            sent += fresh
            message, call = f"msg_{number:06}", f"toolu_{number:06}"
            thought = texts.text(texts.random.randrange(200, 900))
            yield answer(message, {"type": "thinking", "thinking": thought, "signature": "x" * 400}, fresh, 4)
            tool = texts.random.choice(("Read", "Bash", "Edit", "Grep"))
            file = texts.path()
            arguments = {"file_path": file} if tool != "Bash" else {"command": f"pytest {file}"}
            if tool == "Edit":
                arguments |= {"old_string": texts.text(200), "new_string": texts.text(220)}
            block: _Row = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
            yield answer(message, block, fresh, 300)
            yield orjson.dumps({"type": "progress", "parentUuid": parent, "sessionId": session,
                                "uuid": texts.name(), "data": {"type": "hook_progress"}})  # fmt: skip
            shown = texts.text(texts.size())
            result = {"tool_use_id": call, "type": "tool_result", "content": shown}
            lines = shown.count("\n") + 1
            copy: _Row = {"stdout": shown, "stderr": "", "interrupted": False}
            if tool == "Read":
                known = {"filePath": file, "content": shown, "numLines": lines, "totalLines": lines}
                copy = {"type": "text", "file": known | {"startLine": 1}}
            yield row("user", message={"role": "user", "content": [result]}, toolUseResult=copy)
            fresh = 300 + len(shown) // 3
            if step % 5 == 4:
                reminder = {"type": "task_reminder", "content": [], "itemCount": 0}
                yield row("attachment", attachment=reminder)
        number += 1
        sent += fresh
        yield answer(f"msg_{number:06}", {"type": "text", "text": LAST}, fresh, 40)
        if sent > _FULL:
            before, parent = parent, None
            facts = {"trigger": "auto", "preTokens": sent}
            yield row("system", subtype="compact_boundary", logicalParentUuid=before, compactMetadata=facts)
            summary = {"role": "user", "content": texts.text(9000)}
            yield row("user", isCompactSummary=True, isVisibleInTranscriptOnly=True, message=summary)
            sent = _BASE + 3000


def _codex(texts: _Texts) -> Iterator[bytes]:
    """Yield the lines of an endless rollout."""
    clock = total = 0
    sent = 9000

    def line(kind: str, payload: _Row) -> bytes:
        nonlocal clock
        clock += 1
        stamp = f"2026-08-01T{clock // 3600 % 24:02}:{clock // 60 % 60:02}:{clock % 60:02}.000Z"
        return orjson.dumps({"timestamp": stamp, "type": kind, "payload": payload})

    def message(role: str, shown: str) -> _Row:
        part = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": part, "text": shown}]}

    yield line("session_meta", {"id": texts.name(), "cwd": "/work/shop", "cli_version": "0.140.0",
                                "base_instructions": {"text": texts.text(12_000)}})  # fmt: skip
    yield line("response_item", message("developer", f"<permissions instructions>{texts.text(6000)}"))
    number = 0
    while True:
        yield line("turn_context", {"model": "gpt-5.5", "cwd": "/work/shop", "effort": "high"})
        yield line("event_msg", {"type": "task_started", "model_context_window": 258_400})
        prompt = texts.text(texts.random.randrange(80, 600))
        yield line("response_item", message("user", prompt))
        yield line("event_msg", {"type": "user_message", "message": prompt})
        for _ in range(texts.random.randrange(3, 20)):
            number += 1
            hidden = texts.base64(texts.random.randrange(1200, 6000))
            yield line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": hidden})
            call, command = f"call_{number:06}", orjson.dumps({"cmd": f"pytest {texts.path()}"}).decode()
            named = {"type": "function_call", "name": "exec_command", "arguments": command, "call_id": call}
            yield line("response_item", named)
            shown = texts.text(texts.size())
            yield line("response_item", {"type": "function_call_output", "call_id": call, "output": shown})
            out = 200
            total += sent + out
            usage = {"input_tokens": sent, "cached_input_tokens": sent - 500, "output_tokens": out}
            last = usage | {"reasoning_output_tokens": 128, "total_tokens": sent + out}
            info = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}}
            count = {"type": "token_count", "info": info | {"model_context_window": 258_400}}
            yield line("event_msg", count)
            sent += out + len(shown) // 4
        yield line("response_item", message("assistant", LAST))
        yield line("event_msg", {"type": "agent_message", "message": LAST})
        if sent > _CODEX_FULL:
            kept = [message("user", texts.text(2000)) for _ in range(4)]
            yield line("compacted", {"message": "", "replacement_history": kept})
            yield line("event_msg", {"type": "context_compacted"})
            sent = 14_000


def main() -> None:
    parser = ArgumentParser(description="Write one generated transcript.")
    parser.add_argument("kind", choices=("claude", "codex", "lines"))
    parser.add_argument("megabytes", type=int)
    parser.add_argument("path", type=Path)
    given = parser.parse_args()
    write = {"claude": write_claude, "codex": write_codex, "lines": write_plain_lines}[given.kind]
    write(given.path, given.megabytes * 1_000_000)


if __name__ == "__main__":
    main()
