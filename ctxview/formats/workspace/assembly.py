"""The assembled prompt: which lines of which file the model is shown, for an era, a window and a mode.

The formulas are data of the profile. A component fits by the tokenizer's count; a cut then takes whole lines
by four bytes a token, as the program does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import TokenCounter, byte_size
from ctxview.core.state import PromptAssembly, PromptComponent
from ctxview.formats.workspace.markdown import MarkdownDocument
from ctxview.formats.workspace.model import DEFAULT_BUDGET, Role, Workspace, WorkspaceFile
from ctxview.formats.workspace.profile import EraBudgets, Profile

MODES = ("cloud", "local")
WINDOWS = {"16K": 16 * 1024, "64K": 64 * 1024, "1M": 1024 * 1024}
"""The windows of the source document's last check, by their names."""
DEFAULT_WINDOW = 128 * 1024
BYTES_PER_TOKEN = 4
ENCODING = "cl100k_base"
"""The encoding that the program counts with."""


class Component(PromptComponent, frozen=True, kw_only=True):
    """A component with the text that the model is shown, and its document."""

    text: str = ""
    document: MarkdownDocument | None = None
    uncut: bool = False
    """Whether it is over its limit and shown whole, because it is a single line."""

    @property
    def lost(self) -> int:
        return (self.whole_tokens or 0) - self.tokens if self.state != "whole" else 0

    @property
    def neutral(self) -> PromptComponent:
        return PromptComponent(**{name: getattr(self, name) for name in PromptComponent.__struct_fields__})


class Assembly(Struct, frozen=True):
    """The components in prompt order. `era` is None for an ordinary repository."""

    era: str | None
    window: int | None
    mode: str | None
    cap: int | None
    components: tuple[Component, ...]
    exact: bool
    estimator: str

    @property
    def tokens(self) -> int:
        return sum(each.tokens for each in self.components)

    @property
    def neutral(self) -> PromptAssembly:
        parts = tuple(part.neutral for part in self.components)
        return PromptAssembly(self.era, self.window, self.mode, self.cap, self.tokens, parts)

    def component(self, name: str) -> Component | None:
        return next((each for each in self.components if each.name == name), None)

    @property
    def title(self) -> str:
        return f"{window_name(self.window)}, {self.mode}" if self.window is not None else "every turn"


def window_name(window: int | None) -> str:
    """Return a window as people write it: 16K, 1M, or the number."""
    if window is None:
        return "any window"
    for size, letter in ((1024 * 1024, "M"), (1024, "K")):
        if window >= size and window % size == 0:
            return f"{window // size}{letter}"
    return f"{window:,}"


class TokenMemo:
    """Counts texts once each."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._counts: dict[str, int] = {}
        self._lock = Lock()

    def __call__(self, text: str) -> int:
        with self._lock:
            found = self._counts.get(text)
        if found is None:
            found = self.counter.count(text)
            with self._lock:
                self._counts[text] = found
        return found


def assemble(
    workspace: Workspace, profile: Profile, count: TokenMemo, era: str | None, window: int, mode: str
) -> Assembly:
    """Assemble the prompt of a workspace; an ordinary repository has no era, and nothing of it is cut."""
    counter = count.counter
    if era is None:
        parts = tuple(_instructions(workspace, count))
        return Assembly(None, None, None, None, parts, counter.exact, counter.name)
    budgets = profile.eras[era]
    parts = tuple(_Assembler(workspace, count, budgets, era, window, mode).components())
    cap = budgets.limit("cap", window, mode)
    parts = tuple(_capped(parts, cap, count)) if cap is not None else parts
    return Assembly(era, window, mode, cap, parts, counter.exact, counter.name)


def _instructions(workspace: Workspace, count: TokenMemo) -> Iterator[Component]:
    for file in workspace.of(Role.INSTRUCTIONS):
        text, last = "\n".join(file.document.lines), len(file.document.lines)
        tokens = count(text)
        yield Component(
            name=file.name,
            source=file.name,
            tokens=tokens,
            whole_tokens=tokens,
            lines=(1, last) if last else None,
            reason=f"loaded by {', '.join(file.readers)}",
            text=text,
            document=file.document,
        )


class _Assembler:
    def __init__(
        self, workspace: Workspace, count: TokenMemo, budgets: EraBudgets, era: str, window: int, mode: str
    ) -> None:
        self._workspace = workspace
        self._count = count
        self._budgets = budgets
        self._era = era
        self._window = window
        self._mode = mode

    def components(self) -> Iterator[Component]:
        for name in self._budgets.order.get(self._mode, ()):
            match name:
                case "identity":
                    yield Component(name=name, reason="written by the program; in no file")
                case "verification" if self._workspace.settings.verifies:
                    yield Component(
                        name=name, reason="written by the program while provenance is on; in no file"
                    )
                case "bootstrap":
                    yield from self._bootstrap()
                case "context":
                    yield from self._context()
                case "memory":
                    yield from self._memory()
                case "skills" if self._workspace.skills:
                    reason = "the index of the skills is written by the program; in no file"
                    yield Component(name=name, limit=self._limit(name), reason=reason)
                case "working memory":
                    yield from self._working_memory()

    def _limit(self, name: str) -> int | None:
        return self._budgets.limit(name, self._window, self._mode)

    def _bootstrap(self) -> Iterator[Component]:
        limit, used, full = self._limit("bootstrap") or 0, 0, False
        missed = []
        for file in self._workspace.bootstrap:
            found = self._bootstrap_file(file, limit, used, full)
            used += found.tokens
            if found.state != "whole":
                missed.append(file.short)
            # Lines fill the budget once; whole files that are small enough are still taken after a large one.
            full = full or (found.state == "cut" and self._budgets.fill != "whole")
            yield found
        note = f"_Workspace files available via read_file: {', '.join(missed)}_"
        if missed and self._budgets.fill != "marker" and used + self._count(note) <= limit:
            tokens = self._count(note)
            reason = "names the files that did not fit"
            yield Component(
                name="note", limit=limit, tokens=tokens, whole_tokens=tokens, reason=reason, text=note
            )

    def _bootstrap_file(self, file: WorkspaceFile, limit: int, used: int, full: bool) -> Component:
        heading = f"## {file.short}\n\n"
        found = self._fitted(file.short, file.document, 0, limit, heading, used=used)
        if used + (found.whole_tokens or 0) <= limit:
            return found
        room = (limit - used) * BYTES_PER_TOKEN - byte_size(heading)
        if full or self._budgets.fill == "whole" or room <= 0:
            left = f"{max(0, limit - used):,} of the {limit:,} tokens for bootstrap files were left"
            why = f"{left}, the file needs {found.whole_tokens:,}"
            return replace(found, tokens=0, state="dropped", lines=None, reason=why, text="", uncut=False)
        return found

    def _context(self) -> Iterator[Component]:
        """Yield the CONTEXT file of the current channel; this era gives it no limit."""
        files = list(self._workspace.of(Role.CONTEXT))
        current = self._workspace.current
        wanted = f"CONTEXT-{current.channel}.md" if current is not None and current.channel else "CONTEXT.md"
        chosen = next((each for each in files if each.short == wanted), None)
        chosen = chosen or next((each for each in files if each.short == "CONTEXT.md"), None)
        chosen = chosen or (files[0] if len(files) == 1 else None)
        if chosen is not None and not chosen.document.is_blank:
            yield self._fitted("context", chosen.document, 0, None)

    def _memory(self) -> Iterator[Component]:
        file = self._workspace.memory
        if file is None or file.document.is_blank:
            return
        ladder = self._mode == "local" and self._era in ("C", "D")
        found = self._fitted("memory", file.document, 0, self._limit("memory"), tail=not ladder)
        if ladder:
            why = "local mode has no section for it; the memory ladder shows its head"
            found = replace(found, reason=f"{found.reason}; {why}" if found.reason else why)
        yield found

    def _working_memory(self) -> Iterator[Component]:
        document = self._workspace.current
        if document is None or not document.body.strip():
            return
        limit = self.working_memory_limit()
        found = self._fitted("working memory", document.markdown, document.markdown.body_line, limit)
        yield replace(found, source=document.name) if document.row is not None else found

    def working_memory_limit(self) -> int:
        stated = self._workspace.settings.number("workingMemoryBudget", DEFAULT_BUDGET)
        formula = self._limit("working memory") or DEFAULT_BUDGET
        if stated == DEFAULT_BUDGET:
            return formula
        return min(stated, formula) if self._mode == "local" and self._era in ("C", "D") else stated

    def _fitted(
        self,
        name: str,
        document: MarkdownDocument,
        skipped: int,
        limit: int | None,
        heading: str = "",
        *,
        used: int = 0,
        tail: bool = False,
    ) -> Component:
        """Return a component with all of its lines, or with those that a cut leaves."""
        first, last = trimmed(document.lines, skipped)
        lines = document.lines[first:last]
        text = heading + "\n".join(lines)
        tokens = self._count(text)
        whole = Component(
            name=name,
            source=self._workspace.folder.name_of(document.file),
            limit=limit,
            tokens=tokens,
            whole_tokens=tokens,
            lines=(first + 1, last),
            text=text,
            document=document,
        )
        if limit is None or used + tokens <= limit:
            return whole
        room = (limit - used) * BYTES_PER_TOKEN - byte_size(heading)
        start, end = cut_lines(lines, room, tail=tail)
        if (start, end) == (0, len(lines)):
            if byte_size(text) <= (limit - used) * BYTES_PER_TOKEN:
                return replace(whole, reason="over its limit by the tokenizer, but not by four bytes a token")
            why = f"{tokens:,} tokens, the limit is {limit:,}: a single line is never cut"
            return replace(whole, reason=why, uncut=True)
        shown = heading + "\n".join(lines[start:end])
        kept = f"only lines {first + start + 1} to {first + end} of {last} are shown"
        edge = "the head is cut" if tail else "the rest is cut"
        marker = " with a visible marker" if self._budgets.fill == "marker" else " silently"
        reason = f"{tokens:,} tokens, the limit is {limit:,}: {kept}, {edge}{marker}"
        place = (first + start + 1, first + end)
        return replace(whole, tokens=self._count(shown), state="cut", lines=place, reason=reason, text=shown)


def working_memory_limit(
    workspace: Workspace, profile: Profile, count: TokenMemo, era: str, window: int, mode: str
) -> int:
    """Return the tokens that a compacted document may take."""
    return _Assembler(workspace, count, profile.eras[era], era, window, mode).working_memory_limit()


def trimmed(lines: Sequence[str], skipped: int = 0) -> tuple[int, int]:
    """Return the lines from `skipped` on without blank ones at either end, as a range."""
    first, last = skipped, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return first, last


def cut_lines(lines: Sequence[str], room: int, *, tail: bool) -> tuple[int, int]:
    """Return the range of lines that fit into `room` bytes with their ends; at least one line stays."""
    used = kept = 0
    for line in reversed(lines) if tail else lines:
        used += byte_size(line) + 1
        if used > room and kept:
            break
        kept += 1
        if used > room:
            break
    return (len(lines) - kept, len(lines)) if tail else (0, kept)


def _capped(parts: Sequence[Component], cap: int, count: TokenMemo) -> Iterator[Component]:
    """Yield the components as far as the cap of the whole system prompt lets them in."""
    used = 0
    for part in parts:
        if used + part.tokens <= cap or part.lines is None:
            yield part
            used += part.tokens
            continue
        why = f"the whole system prompt has a cap of {cap:,} tokens"
        lines = part.text.split("\n")
        start, end = cut_lines(lines, (cap - used) * BYTES_PER_TOKEN, tail=False)
        if used >= cap or end - start <= (2 if part.text.startswith("## ") else 0):
            yield replace(part, tokens=0, state="dropped", lines=None, reason=why, text="")
            continue
        shown, hidden = "\n".join(lines[start:end]), len(lines) - end
        tokens = min(count(shown), cap - used)
        place = (part.lines[0], max(part.lines[0], part.lines[1] - hidden))
        yield replace(
            part, tokens=tokens, state="cut", lines=place, reason=f"{why}; the rest is cut", text=shown
        )
        used = cap
