"""Request bodies in a short notation, with real field names in the bytes that it makes.

A first line `chat` or `responses` names another interface than that of Anthropic. `tool NAME: text`,
`system: text`, `user: …` and `assistant: …` are the parts; a message has pieces between ` | `: text,
`call ID TOOL JSON`, `result ID text`, `thinking sig text`, `image URL`. The piece `cached` marks the one
before it. `usage sent=9 out=1` adds an answer, and `---` stands between two requests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.formats.transcript.builders import repeated

Json = dict[str, Any]


def request_pair(notation: str) -> Json:
    """Return one request with its answer as `{"request", "response"}`; without usage there is no answer."""
    lines = [line.strip() for line in notation.strip().splitlines()]
    api = lines.pop(0) if lines and lines[0] in ("anthropic", "chat", "responses") else "anthropic"
    body: Json = {"model": "claude-sonnet-4-5" if api == "anthropic" else "gpt-4o"}
    items: list[Json] = []
    answer: Json = {}
    for line in lines:
        head, _, rest = line.partition(":")
        word, _, name = head.partition(" ")
        match word:
            case "tool":
                body.setdefault("tools", []).append(_tool(api, name, _pieces(rest)))
            case "system":
                _add_system(api, body, items, _pieces(rest))
            case "user" | "assistant":
                items += _messages(api, word, _pieces(rest))
            case "limit":
                body["max_output_tokens" if api == "responses" else "max_tokens"] = int(name)
            case "model":
                body["model"] = name
            case "thinking":
                body["thinking"] = {"type": "enabled", "budget_tokens": 2000}
            case "previous":
                body["previous_response_id"] = name
            case "usage":
                keys = dict(each.split("=") for each in name.split())
                answer |= _usage(api, {each: int(size) for each, size in keys.items()})
            case "said":
                answer |= _said(api, rest.strip())
            case _:
                raise AssertionError(line)
    body["input" if api == "responses" else "messages"] = items
    return {"request": body, "response": answer} if answer else {"request": body}


def requests_text(notation: str) -> str:
    """Return the text of a file: one body, one pair, or lines of pairs."""
    pairs = [request_pair(each) for each in notation.split("---")]
    if len(pairs) > 1:
        return "".join(json.dumps(pair) + "\n" for pair in pairs)
    return json.dumps(pairs[0] if "response" in pairs[0] else pairs[0]["request"], indent=1)


def write_requests(folder: Path, notation: str, name: str = "request.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(requests_text(notation))
    return path


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in text.split("|")]


def _text(text: str) -> str:
    return repeated(text).replace("~", "\n")


def _marked(pieces: list[str]) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for piece in pieces:
        if piece in ("cached", "cached1h"):
            found[-1] = (found[-1][0], piece)
        else:
            found.append((piece, None))
    return found


def _cached(block: Json, mark: str | None) -> Json:
    if mark is None:
        return block
    return {**block, "cache_control": {"type": "ephemeral", **({"ttl": "1h"} if mark == "cached1h" else {})}}


def _tool(api: str, name: str, pieces: list[str]) -> Json:
    (text, mark), *_ = _marked(pieces)
    text = _text(text)
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    if api == "chat":
        return {"type": "function", "function": {"name": name, "description": text, "parameters": schema}}
    if api == "responses":
        return {"type": "function", "name": name, "description": text, "parameters": schema}
    return _cached({"name": name, "description": text, "input_schema": schema}, mark)


def _add_system(api: str, body: Json, items: list[Json], pieces: list[str]) -> None:
    (text, mark), *_ = _marked(pieces)
    text = _text(text)
    if api == "chat":
        items.append({"role": "system", "content": text})
    elif api == "responses":
        body["instructions"] = text
    else:
        body["system"] = [_cached({"type": "text", "text": text}, mark)] if mark else text


def _messages(api: str, role: str, pieces: list[str]) -> list[Json]:
    blocks = [_cached(_block(piece), mark) for piece, mark in _marked(pieces)]
    if api == "anthropic":
        plain = len(blocks) == 1 and set(blocks[0]) == {"type", "text"} and blocks[0]["text"]
        return [{"role": role, "content": blocks[0]["text"] if plain else blocks}]
    found: list[Json] = []
    for block in blocks:
        kind = block["type"]
        if kind == "tool_use":
            call = {"name": block["name"], "arguments": json.dumps(block["input"])}
            if api == "chat":
                calls = [{"id": block["id"], "type": "function", "function": call}]
                found.append({"role": "assistant", "content": None, "tool_calls": calls})
            else:
                found.append({"type": "function_call", "call_id": block["id"], **call})
        elif kind == "tool_result" and api == "chat":
            found.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]})
        elif kind == "tool_result":
            answer = {"call_id": block["tool_use_id"], "output": block["content"]}
            found.append({"type": "function_call_output", **answer})
        elif kind == "image" and api == "chat":
            image = {"type": "image_url", "image_url": {"url": block["source"]["url"]}}
            found.append({"role": role, "content": [image]})
        else:
            found.append({"role": role, "content": block["text"]})
    return found


def _block(piece: str) -> Json:
    word, _, rest = piece.partition(" ")
    name, _, text = rest.partition(" ")
    if word == "call":
        tool, _, given = text.partition(" ")
        return {"type": "tool_use", "id": name, "name": tool, "input": json.loads(given or "{}")}
    if word == "result":
        return {"type": "tool_result", "tool_use_id": name, "content": _text(text)}
    if word == "thinking":
        return {
            "type": "thinking",
            "thinking": _text(text),
            **({"signature": "c2ln"} if name == "sig" else {}),
        }
    if word == "image":
        return {"type": "image", "source": {"type": "url", "url": rest}}
    return {"type": "text", "text": _text(rest if word == "text" else piece)}


def _usage(api: str, sizes: dict[str, int]) -> Json:
    sent, out, cached = sizes["sent"], sizes.get("out", 1), sizes.get("cached", 0)
    if api == "chat":
        details = {"prompt_tokens_details": {"cached_tokens": cached}}
        return {"usage": {"prompt_tokens": sent, "completion_tokens": out, **details}}
    if api == "responses":
        details = {"input_tokens_details": {"cached_tokens": cached}}
        return {"usage": {"input_tokens": sent, "output_tokens": out, **details}}
    usage = {"input_tokens": sent - cached, "cache_read_input_tokens": cached, "output_tokens": out}
    return {"usage": usage}


def _said(api: str, text: str) -> Json:
    if api == "chat":
        return {"choices": [{"message": {"role": "assistant", "content": text}}]}
    content = [{"type": "output_text" if api == "responses" else "text", "text": text}]
    if api == "responses":
        return {"output": [{"type": "message", "role": "assistant", "content": content}]}
    return {"role": "assistant", "content": content}
