"""Session folders for tests: a valid one with every part, and variants of it with changed files.

`sound(tmp_path)` returns a `Build` whose files can be set, removed and rewritten before `write` puts them on
disk at `home/1000/agent/coder/session/default`. Pack, hashes and sizes of the sound one are correct.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]
RUN_1 = "ctx-0123456789abcdef0123456789abcdef"
RUN_2 = "ctx-fedcba9876543210fedcba9876543210"
PLACE = "home/1000/agent/coder/session/default"


def compact(value: Any) -> str:
    """Return JSON as the runtime writes it: without spaces and without needless escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(records: Iterable[Any]) -> str:
    """Return one record a line; a string is written as it is."""
    return "".join(f"{each if isinstance(each, str) else compact(each)}\n" for each in records)


def sha256(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def words(text: str) -> int:
    return max(1, len(text.split()))


def user(text: str = "please look", run: str | None = RUN_1, **fields: Any) -> Json:
    return _with_run({"role": "user", "content": text, **fields}, run)


def assistant(text: str = "done", run: str | None = RUN_1, **fields: Any) -> Json:
    return _with_run({"role": "assistant", "content": [{"type": "text", "text": text}], **fields}, run)


def tool(
    text: str = "ok", call: str = "call-1", name: str = "shell", run: str | None = RUN_1, **fields: Any
) -> Json:
    part = {"type": "tool_result", "tool_call_id": call, "content": text}
    return _with_run({"role": "tool", "name": name, "content": [part], **fields}, run)


def event(type: str, run: str | None = RUN_1, **fields: Any) -> Json:  # noqa: A002 - the name of the member
    return {"type": type, **({} if run is None else {"run": run}), **fields}


def start(run: str = RUN_1, client: str | None = None, **fields: Any) -> Json:
    whole = {"id": run, "client_id": client or f"c-{run[-6:]}", "scope": "private", "cwd": "/workspace"}
    return event("start", run, **{**whole, **fields})


def done(run: str = RUN_1, status: str = "ok") -> Json:
    return event("done", run, status=status)


def tool_call(call: str = "call-1", name: str = "shell", run: str = RUN_1) -> Json:
    return event("tool_call", run, id=call, name=name, arguments={"args": ["pytest"]})


def without_gaps(record: Mapping[str, Any]) -> Json:
    """Return a record without the members that are `...`."""
    return {key: value for key, value in record.items() if value is not ...}


class Build:
    """The files of a session, to be changed and written."""

    def __init__(self, base: Path, place: str = PLACE) -> None:
        self.base = base
        self.root = base / place
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = set()
        self.around: dict[str, bytes] = {}
        """Files outside the session, relative to `base`."""

    def set(self, name: str, content: str | bytes | Any) -> Build:
        """Set the content of a file: a text, bytes or a JSON value."""
        if not isinstance(content, str | bytes):
            content = f"{compact(content)}\n"
        self.files[name] = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        return self

    def lines(self, name: str, *records: Any) -> Build:
        """Replace a file of JSON lines."""
        return self.set(name, lines(records))

    def add(self, name: str, *records: Any) -> Build:
        """Append JSON lines to a file."""
        return self.set(name, self.files.get(name, b"") + lines(records).encode())

    def remove(self, *names: str) -> Build:
        for name in names:
            self.files.pop(name, None)
            self.folders.discard(name)
            for below in [each for each in self.files if each.startswith(f"{name}/")]:
                del self.files[below]
            self.folders -= {each for each in self.folders if each.startswith(f"{name}/")}
        return self

    def text(self, name: str) -> str:
        return self.files[name].decode()

    def child(self, name: str, status: str = "done", result: str = "All good.\n", **parts: Any) -> Build:
        """Add a complete child channel; parts set to `...` are left out."""
        whole = {
            "agent": "reviewer\n",
            "session": f"{name}-s\n",
            "status": f"{status}\n",
            "handoff.md": "Review the patch.\n",
            "result.md": result,
            "refs.jsonl": "",
            **parts,
        }
        for part, content in whole.items():
            if content is not ...:
                self.set(f"context/child/{name}/{part}", content)
        self.folders.add(f"context/child/{name}/artifact")
        return self

    def swap(self, first: int, last: int, summary: str = "the beginning") -> Build:
        """Move messages into a verified chunk with its index line."""
        messages = [line for line in self.text("messages.jsonl").split("\n") if line.strip()]
        chunk = "".join(f"{line}\n" for line in messages[first - 1 : last])
        name = f"sha256-{sha256(chunk)}"
        self.set(f"context/swap/chunk/{name}", chunk)
        record = {"id": name, "kind": "message_range", "source": "messages.jsonl"}
        figures = {"range": f"{first}-{last}", "summary": summary, "tokens": words(chunk)}
        return self.add("context/swap/index.jsonl", {**record, **figures})

    def blob(self, content: str, *refs: str) -> Build:
        """Add a content to the dedup store, with its index line."""
        name = f"sha256-{sha256(content)}"
        self.set(f"context/dedup/blob/{name}", content)
        figures = {"bytes": len(content.encode()), "tokens": words(content)}
        return self.add("context/dedup/index.jsonl", {"hash": name, "refs": list(refs), **figures})

    def pack(self, recent: int = 40) -> Build:
        """Build pack.json and pack.md from the present files."""
        from ctxview.formats.kit.folder import SourceFolder
        from ctxview.formats.session.history import open_history
        from ctxview.formats.session.pack_candidates import candidates, first_fit, pack_text, pack_value
        from ctxview.formats.session.parser import read_session
        from ctxview.formats.session.profile import load_profile

        self.write()
        profile = load_profile()
        session = read_session(SourceFolder(self.root))
        offered = candidates(session, open_history(session).messages, profile, recent)
        taken = [each.offer for each in first_fit(offered, session.budget) if each.taken]
        self.set("context/pack.json", pack_value(session, session.budget, taken))
        return self.set("context/pack.md", pack_text(session, session.budget, taken, profile))

    def write(self) -> Path:
        """Write the session to disk and return its folder."""
        import shutil

        if self.root.exists():
            shutil.rmtree(self.root)
        self.root.mkdir(parents=True, mode=0o700)
        for folder in sorted(self.folders):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name, content in self.around.items():
            path = self.base / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for path in [self.root, *self.root.rglob("*")]:
            path.chmod(0o700 if path.is_dir() else 0o600)
        return self.root


def fresh(base: Path) -> Build:
    """Return a session as the runtime creates it: with all files, all empty."""
    return _copy_of(_fresh, base)


def sound(base: Path) -> Build:
    """Return a session in use that breaks no rule."""
    return _copy_of(_sound, base)


def _copy_of(make: Callable[[Path], Build], base: Path) -> Build:
    made, build = _made(make), Build(base)
    build.files, build.folders, build.around = dict(made.files), set(made.folders), dict(made.around)
    return build


@cache
def _made(make: Callable[[Path], Build]) -> Build:
    """Build a session once, because packing reads and writes all of it."""
    with tempfile.TemporaryDirectory() as folder:
        return make(Path(folder))


def _fresh(base: Path) -> Build:
    build = Build(base)
    build.folders |= {f"context/{name}" for name in ("pinned", "swap", "dedup", "child")}
    for name in ("messages.jsonl", "events.jsonl", "latest.md"):
        build.set(name, "")
    build.set("state", "idle\n").set("cwd", "/workspace\n")
    build.set("created_at", "1790000000\n").set("updated_at", "1790000000\n")
    build.set("meta.json", {"client": "ctx", "scope": "private"})
    for name in ("summary.md", "facts.jsonl", "decisions.jsonl", "todo.md", "refs.jsonl"):
        build.set(f"context/{name}", "")
    build.set("context/budget", "0\n")
    build.set("context/swap/index.jsonl", "").set("context/dedup/index.jsonl", "")
    return build.pack()


def _sound(base: Path) -> Build:
    build = _fresh(base)
    build.lines(
        "messages.jsonl",
        user("The parser test fails, please look."),
        assistant("I run the tests first."),
        tool("1 failed: test_blank_lines"),
        assistant("Blank lines were counted; they are skipped now."),
        user("Good. Let somebody review it.", RUN_2),
        assistant("The review found nothing more.", RUN_2),
    )
    build.lines(
        "events.jsonl",
        start(),
        tool_call(),
        event("message", role="tool", name="shell", content=tool("1 failed: test_blank_lines")["content"]),
        event("usage", input_tokens=900, output_tokens=40),
        done(),
        start(RUN_2),
        event("approval_request", RUN_2, id="ap-1", name="spawn", args=["reviewer"]),
        event("approval_result", RUN_2, id="ap-1", decision="allow_once", reason="asked for"),
        done(RUN_2),
    )
    build.set("latest.md", "The review found nothing more.\n").set("state", "done\n")
    build.set("current_run", f"{RUN_2}\n").set("updated_at", "1790000600\n")
    build.set("state.json", {"status": "done", "run": RUN_2, "updated_at": "1790000600"})
    build.set("context/pinned/system.md", "You are a careful coder.\n")
    build.set("context/summary.md", "The parser skips blank lines; the fix was reviewed (rev-1).\n")
    build.lines(
        "context/facts.jsonl",
        {"id": "f1", "text": "The parser counted blank lines.", "source": "messages:3-4"},
        {"id": "f2", "text": "The suite is run with pytest.", "source": "messages:2"},
    )
    build.lines(
        "context/decisions.jsonl",
        {"id": "d1", "decision": "Blank lines are skipped, not refused.", "source": "messages:4"},
        {"id": "d2", "decision": "Every fix is reviewed by a child.", "source": "user:latest"},
    )
    build.set("context/todo.md", "- [x] find the cause\n- [ ] tell the user\n")
    build.swap(1, 2)
    build.blob("a test log that was printed twice\n" * 200, "messages:3", "tool:call-1")
    swapped = next(name for name in build.files if name.startswith("context/swap/chunk/"))
    build.lines(
        "context/refs.jsonl",
        {"id": "r1", "path": swapped, "kind": "swap", "summary": "how it began"},
        {
            "id": "r2",
            "path": "context/child/rev-1/result.md",
            "kind": "child_result",
            "summary": "the review",
        },
    )
    build.child("rev-1")
    refs = {"id": "c1", "path": "artifact/report.md", "kind": "artifact", "summary": "the whole review"}
    build.lines("context/child/rev-1/refs.jsonl", refs)
    build.set("context/child/rev-1/artifact/report.md", "Nothing to complain about.\n")
    build.set("context/plan.json", plan())
    build.set("context/gc.policy", "pack_ttl=1d\nswap_ttl=30d\nkeep_messages=1\nkeep_events=1\n")
    build.around["home/1000/agent/reviewer/session/rev-1-s/state"] = b"done\n"
    build.around["home/1000/agent/reviewer/session/rev-1-s/messages.jsonl"] = b""
    return build.pack()


def plan(*nodes: Json, **members: Any) -> Json:
    review = {"id": "review", "kind": "react", "agent": "reviewer", "child": "rev-1", "max_steps": 3}
    both = [
        {**review, "session": "rev-1-s", "handoff": "Review the patch."},
        {"id": "tell", "kind": "dag", "agent": "coder", "deps": ["review"]},
    ]
    return without_gaps({"version": 1, "mode": "dag-react", "nodes": list(nodes) or both, **members})


def _with_run(record: Json, run: str | None) -> Json:
    return without_gaps(record if run is None else {**record, "run": run})
