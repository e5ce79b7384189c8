# ruff: noqa: E501 - rows of real shapes are long
"""Transcripts in a short notation: one line a row, with real field names in the bytes that it makes.

Claude Code: `ID [< PARENT] KIND key=value … : text`; without a parent a row hangs on the one before it. Codex begins
with `meta`. A line that begins with `{` or `~` is taken as it is.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import zstandard

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Finding
from ctxview.core.state import ContextState
from ctxview.formats.interface import Lens
from ctxview.formats.transcript.source import TranscriptSource

LENS = Lens(ESTIMATES["bytes/4"])
_LINE = re.compile(
    r"(?P<id>\S+)(?: < (?P<parent>\S+))? (?P<kind>[a-z-]+)(?P<keys>(?: [\w.]+=\S+)*)(?: ?: ?(?P<text>.*))?"
)
_REPEAT = re.compile(r"(.*)\*(\d+)")


def claude_lines(notation: str) -> list[str]:
    """Return the lines of a Claude Code session."""
    found: list[str] = []
    before: str | None = None
    clock = 0
    for line in filter(None, (each.strip() for each in notation.splitlines())):
        if line[0] in "{~":
            found.append(line.removeprefix("~"))
            continue
        match = _LINE.fullmatch(line)
        assert match is not None, line
        keys = dict(each.split("=", 1) for each in (match["keys"] or "").split())
        text = repeated(match["text"] or "")
        parent = match["parent"] or before
        clock += int(keys.get("wait", 1))
        value = _claude_row(match["id"], None if parent == "-" else parent, match["kind"], keys, text)
        if match["kind"] not in ("queue", "last-prompt", "title"):
            before = match["id"]
        stamp = f"2026-08-01T{clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}.000Z"
        for time in range(int(keys.get("times", 1))):
            if time:
                before, value["parentUuid"] = f"{match['id']}-{time}", value["uuid"]
                value["uuid"] = before
            found.append(json.dumps(value | {"timestamp": stamp}))
    return found


def _claude_row(name: str, parent: str | None, kind: str, keys: dict[str, str], text: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "parentUuid": parent,
        "isSidechain": "side" in keys,
        "sessionId": keys.get("session", "s1"),
    }
    row |= {"version": keys.get("version", "2.1.100"), "uuid": name, "cwd": "/work"}
    if kind in ("user", "meta", "summary"):
        row |= {"type": "user", "message": {"role": "user", "content": text}}
        row |= {"isMeta": True} if kind == "meta" else {}
        row |= {"isCompactSummary": True} if kind == "summary" else {}
        row |= {"sourceToolUseID": keys["for"]} if "for" in keys else {}
        if "image" in keys:
            image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
            row["message"]["content"] = [image for _ in range(int(keys["image"]))]
    elif kind in ("assistant", "call", "thinking"):
        block: dict[str, Any] = {"type": "text", "text": text}
        if kind == "call":
            block = {"type": "tool_use", "id": keys["id"], "name": keys.get("tool", "Bash")}
            block["input"] = json.loads(text) if text.startswith("{") else {"command": text or "ls"}
        elif kind == "thinking":
            block = {"type": "thinking", "thinking": text, "signature": "x"}
        message: dict[str, Any] = {
            "id": keys.get("msg", f"msg_{name}"),
            "role": "assistant",
            "content": [block],
        }
        message["model"] = keys.get("model", "claude-sonnet-4-5")
        usage: dict[str, Any] = {
            "input_tokens": int(keys.get("fresh", 3)),
            "output_tokens": int(keys.get("out", 0)),
        }
        if "sent" in keys:
            written = int(keys.get("written", 0))
            usage |= {"cache_creation_input_tokens": written}
            usage |= {"cache_read_input_tokens": int(keys["sent"]) - usage["input_tokens"] - written}
        else:
            usage = {"input_tokens": 0, "output_tokens": 0}
        message["usage"] = usage
        row |= {"type": "assistant", "message": message}
        if "error" in keys:
            row |= {"isApiErrorMessage": True}
            message["model"] = "<synthetic>"
    elif kind == "result":
        block = {"type": "tool_result", "tool_use_id": keys["id"], "content": text}
        block |= {"is_error": True} if "error" in keys else {}
        row |= {"type": "user", "message": {"role": "user", "content": [block]}}
        shown: dict[str, Any] = {}
        if "lines" in keys:
            shown["file"] = {"numLines": int(keys["lines"]), "totalLines": int(keys["of"]), "startLine": 1}
        shown |= {each: keys[each] for each in ("agentId", "status") if each in keys}
        shown |= {"totalTokens": int(keys["tokens"])} if "tokens" in keys else {}
        shown |= {"task": {"id": keys["task"], "subject": ""}} if "task" in keys else {}
        row |= {"toolUseResult": shown} if shown else {}
    elif kind == "boundary":
        row |= {
            "type": "system",
            "subtype": "compact_boundary",
            "parentUuid": None,
            "logicalParentUuid": parent,
        }
        row["compactMetadata"] = {
            "trigger": keys.get("trigger", "auto"),
            "preTokens": int(keys.get("pre", 167000)),
        }
        if "kept" in keys:
            row["compactMetadata"]["preservedMessages"] = {"uuids": keys["kept"].split(",")}
        if "post" in keys:
            row["compactMetadata"]["postTokens"] = int(keys["post"])
    elif kind == "attachment":
        row |= {
            "type": "attachment",
            "attachment": {"type": keys["type"], "filename": keys.get("file", ""), "content": text},
        }
        if keys["type"] == "nested_memory":
            row["attachment"]["path"] = keys.get("file", "")
    elif kind == "progress":
        row |= {"type": "progress", "data": {"type": "hook_progress"}}
    elif kind == "queue":
        return {
            "type": "queue-operation",
            "operation": keys.get("op", "enqueue"),
            "content": text,
            "sessionId": "s1",
        }
    elif kind == "last-prompt":
        return {"type": "last-prompt", "leafUuid": keys["leaf"], "sessionId": "s1"}
    elif kind == "title":
        return {"type": "summary", "summary": text, "leafUuid": "x"}
    else:
        row |= {"type": kind}
    return row


def codex_lines(notation: str) -> list[str]:
    """Return the lines of a Codex rollout."""
    found: list[str] = []
    totals = 0
    for clock, line in enumerate(filter(None, (each.strip() for each in notation.splitlines()))):
        if line[0] in "{~":
            found.append(line.removeprefix("~"))
            continue
        head, _, text = line.partition(":")
        words = head.split()
        keys = dict(each.split("=", 1) for each in words if "=" in each)
        text = repeated(text.strip())
        kind, payload = "response_item", dict[str, Any]()
        match words[0]:
            case "meta":
                kind, payload = "session_meta", {"id": "r1", "cwd": "/work", "cli_version": "0.140.0"}
                payload |= {"forked_from_id": keys["forked"]} if "forked" in keys else {}
                payload |= {"history_base": {"thread_id": keys["base"]}} if "base" in keys else {}
                payload["base_instructions"] = {"text": text or "You are a coding agent."}
            case "model":
                kind, payload = "turn_context", {"model": text, "cwd": "/work"}
            case "user" | "developer" | "assistant":
                part = "output_text" if words[0] == "assistant" else "input_text"
                payload = {"type": "message", "role": words[0], "content": [{"type": part, "text": text}]}
            case "reasoning":
                payload = {
                    "type": "reasoning",
                    "summary": [],
                    "encrypted_content": "g" * int(keys.get("size", 2000)),
                }
            case "call":
                payload = {
                    "type": "function_call",
                    "name": keys.get("tool", "exec_command"),
                    "call_id": keys["id"],
                }
                payload["arguments"] = text or '{"cmd": "ls"}'
            case "output":
                payload = {"type": "function_call_output", "call_id": keys["id"], "output": text}
            case "tokens":
                totals += 0 if "again" in keys else int(keys.get("out", 10)) + 1
                last = {"input_tokens": int(keys["sent"]), "output_tokens": int(keys.get("out", 10))}
                last["total_tokens"] = last["input_tokens"] + last["output_tokens"]
                info = {"last_token_usage": last, "total_token_usage": {"total_tokens": totals}}
                info["model_context_window"] = int(keys.get("window", 258400))
                kind, payload = "event_msg", {"type": "token_count", "info": info}
            case "compacted":
                user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
                kind, payload = "compacted", {"message": "", "replacement_history": [user]}
                if "encrypted" in keys:
                    payload["replacement_history"] = [{"type": "compaction", "encrypted_content": "g" * 3000}]
            case "rollback":
                kind, payload = "event_msg", {"type": "thread_rolled_back", "num_turns": int(words[1])}
            case other:
                kind, payload = "event_msg", {"type": other}
        clock = int(keys.get("at", clock))
        stamp = f"2026-08-01T10:{clock // 60:02}:{clock % 60:02}Z"
        found.append(json.dumps({"timestamp": stamp, "type": kind, "payload": payload}))
    return found


def repeated(text: str) -> str:
    match = _REPEAT.fullmatch(text)
    return match[1] * int(match[2]) if match else text


def write(folder: Path, notation: str, name: str = "s1.jsonl") -> Path:
    """Write a session, or with the first word `meta` a rollout; lines `FILE = text` are files beside it."""
    lines, others = [], {}
    for line in notation.strip().splitlines():
        file = re.fullmatch(r"(\S+/\S+) = (.*)", line.strip())
        if file:
            lined = re.fullmatch(r"(.*)\*(\d+)", file[2])
            others[file[1]] = f"{lined[1]}\n" * int(lined[2]) if lined else file[2]
        else:
            lines.append(line)
    notation = "\n".join(lines)
    made = (codex_lines if notation.lstrip().startswith("meta") else claude_lines)(notation)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    text = "\n".join(made)
    path.write_bytes((text + ("" if text.endswith("\\") else "\n")).removesuffix("\\").encode())
    for file, content in others.items():
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
    return path


def packed(path: Path, packing: str) -> Path:
    """Compress a file; the original is removed."""
    data = path.read_bytes()
    made = zstandard.ZstdCompressor().compress(data) if packing == "zstd" else gzip.compress(data)
    target = path.with_name(f"{path.name}.{'zst' if packing == 'zstd' else 'gz'}")
    target.write_bytes(made)
    path.unlink()
    return target


def state_of(path: Path, at: int = -1) -> ContextState:
    source = TranscriptSource(path)
    return source.reading(at % len(source.revisions), LENS).state


def findings_of(path: Path) -> list[Finding]:
    return list(TranscriptSource(path).findings(LENS))
