"""The points of a review: what a person has to look at before a source is handed on, the worst first.

Points come from findings, gaps, references, cuts, redactions and compactions of a reading. A gap or a
reference that a finding is about is one point, not two. All texts are masked.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.gaps import blocked_names, gap_blocks, gap_is_settled
from ctxview.analysis.secret_patterns import could_hold_secret
from ctxview.analysis.secrets import check_secrets, find_secrets, mask_secrets
from ctxview.analysis.wording import counted, listed
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.core.prompt import CutKind, Prompt
from ctxview.core.state import ContextState, Gap, Reach, RefStatus
from ctxview.files.reading import ReadError, read_beneath
from ctxview.files.visible_text import visible
from ctxview.formats.interface import Reading
from ctxview.review.subject import Subject

_BROKEN = {
    RefStatus.DANGLING: "leads to nothing",
    RefStatus.MISMATCH: "leads to something else than it promises",
    RefStatus.STALE: "leads to something that changed since",
    RefStatus.PLACEHOLDER: "names no content that could be verified",
}
_GAP_SEVERITIES = {
    **dict.fromkeys(("critical", "error"), Severity.ERROR),
    **dict.fromkeys(("blocking", "high", "medium", "warning"), Severity.WARNING),
}
_OF_THEIR_OWN = ("TXT", "SEC", "PTH", "JSN", "RAW")
"""Findings that are points of their own also inside a gap."""
_LONG_WORD = re.compile(r"[\w./-]{4,}")
LARGEST_SEARCHED = 64 * 1024 * 1024
"""Bytes of the largest file that is searched; larger ones are histories, which their formats search."""
_UTF_16 = (BOM_UTF16_LE, BOM_UTF16_BE)
_ALIKE = 16
_ID_DIGITS = 8


class PointKind(StrEnum):
    """What a point is about, in the order in which points of one severity are shown."""

    VIOLATION = "violation"
    FINDING = "finding"
    GAP = "gap"
    OMISSION = "omission"
    REFERENCE = "reference"
    CUT = "cut"
    COMPACTION = "compaction"
    REDACTION = "redaction"


class Point(Struct, frozen=True, kw_only=True):
    """One thing to decide in a review. The id stays the same as long as the point says the same."""

    id: str = ""
    kind: PointKind
    severity: Severity
    blocks: bool
    """Whether approval needs a written reason for it."""
    title: str
    detail: str = ""
    rule: str | None = None
    leak: bool = False
    gap: str | None = None
    """The id of the gap that it is about, which can be answered or waived."""
    origin: Origin | None = None

    @property
    def group(self) -> str:
        """The name under which many alike points are decided together: the rule, or the kind."""
        return self.rule or self.kind.value

    @property
    def _order(self) -> tuple[bool, int, bool, int, str, int]:
        place = self.origin or Origin("")
        kind = list(PointKind).index(self.kind)
        return not self.leak, self.severity.rank, not self.blocks, kind, place.file, place.start or 0


def points_of(reading: Reading, prompts: Sequence[tuple[str, Prompt]] = ()) -> tuple[Point, ...]:
    """Return the points of a reading, and of the prompts by target, without ids."""
    state, findings = reading.state, list(dict.fromkeys(reading.findings))
    gaps = [*_gaps(state.missing, findings)]
    found = [
        *map(_finding, findings),  # without those that a gap has taken
        *gaps,
        *_violations(state, reading.findings),
        *_references(state, reading.findings),
        *_cuts(prompts),
        *_left_out_of_assembly(state),
        *_compactions(state),
        *_redactions(state),
    ]
    return tuple(found)


def secrets_beside(subject: Subject, points: Iterable[Point]) -> Iterator[Point]:
    """Yield points about secrets in reviewed files for which `points` has none.

    Formats report the secrets of the files that they read; a note beside them is only hashed.
    """
    # The formats name a file as the user did, which may be relative or a link.
    reported = {
        Path(file).resolve()
        for file in {
            each.origin.file for each in points if each.origin is not None and (each.rule or "")[:3] == "SEC"
        }
    }
    for name, size in subject.sizes.items():
        file = str(subject.root / name)
        if size > LARGEST_SEARCHED or subject.root / name in reported:
            continue
        try:
            data = read_beneath(subject.root, name)
        except ReadError:
            continue  # it has changed since, which signing notices
        if not could_hold_secret(bare := data.replace(b"\0", b"")):
            continue
        text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8", "replace")
        if len(bare) < len(data) and not find_secrets(text):
            text = bare.decode("utf-8", "replace")  # UTF-16 without a mark

        def origin_at(start: int, _: int, file: str = file, text: str = text) -> Origin:
            return Origin(file, line=text.count("\n", 0, start) + 1)

        yield from map(_finding, check_secrets(text, origin_at))


def secrets_in_names(subject: Subject) -> Iterator[Point]:
    """Yield points about secrets in the names of reviewed files and folders; they have no place in a file."""
    names = {part for path in (*subject.files, *subject.links) for part in PurePosixPath(path).parts}
    for name in sorted(names):
        for finding in check_secrets(name, lambda *_: Origin("")):
            yield replace(_finding(finding), title=f"in the name {name}: {finding.message}", origin=None)


def worst_first(points: Iterable[Point], root: str) -> tuple[Point, ...]:
    """Sort points, and give each an id that depends neither on its place in a file nor on `root`."""
    seen: Counter[str] = Counter()
    numbered = []
    for point in sorted(points, key=lambda each: each._order):
        point = replace(point, title=_safe(point.title), detail=_safe(point.detail))
        place = point.origin
        # A point with a span is known by its bytes, also in the next revision of a file.
        in_file = place is not None and place.start is None
        file = place.file.removeprefix(root).lstrip("/") if place is not None and in_file else ""
        words = "\0".join((point.kind, point.group, file, point.title, point.detail))
        digest = sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{point.group}-{digest[:_ID_DIGITS]}"
        seen[name] += 1
        numbered.append(replace(point, id=name if seen[name] == 1 else f"{name}-{seen[name]}"))
    return tuple(numbered)


def _safe(text: str) -> str:
    return visible(mask_secrets(text), keep_layout=True)


def _finding(finding: Finding) -> Point:
    leak = finding.effect is Effect.LEAKED
    return Point(
        kind=PointKind.FINDING,
        severity=finding.severity,
        blocks=leak or finding.severity is Severity.ERROR,
        title=finding.message,
        rule=finding.rule,
        leak=leak,
        origin=finding.origin,
    )


def _gaps(gaps: Sequence[Gap], findings: list[Finding]) -> Iterator[Point]:
    for gap in gaps:
        if gap_is_settled(gap):
            continue
        blocks = gap_blocks(gap)
        omitted = gap.status == "omitted"
        if omitted:
            title = f"{gap.id} was left out"
        elif blocks:
            title = f"{gap.id} is {gap.status} and blocking"
        else:
            title = f"{gap.id} is {gap.status}"
        waiting = f"waiting: {'; '.join(blocked)}" if (blocked := blocked_names(gap)) else ""
        question = f"“{gap.question}”" if gap.question and gap.question != gap.id else ""
        point = Point(
            kind=PointKind.OMISSION if omitted else PointKind.GAP,
            severity=_GAP_SEVERITIES.get(gap.severity, Severity.WARNING if blocks else Severity.INFO),
            blocks=blocks or gap.severity.casefold() in ("critical", "error"),
            title=title,
            detail="\n".join(filter(None, (question, gap.why, waiting))),
            gap=None if omitted else gap.id,
            origin=gap.origin,
        )
        yield _with_finding(point, gap.id, findings)


def _references(state: ContextState, findings: Sequence[Finding]) -> Iterator[Point]:
    """Yield broken references, unless a finding or a gap is about them, and all that lead outside as one."""
    gaps = {gap.id for gap in state.missing}
    for ref in state.refs:
        broken = _BROKEN.get(ref.status)
        named = (each for each in findings if ref.id in each.message or ref.target in each.message)
        if broken is None or ref.id in gaps or any(_lies_in(each.origin, ref.origin) for each in named):
            continue
        users = f"used by {listed(ref.used_by)}" if ref.used_by else ""
        yield Point(
            kind=PointKind.REFERENCE,
            severity=Severity.WARNING,
            blocks=False,
            title=f"{ref.kind} {ref.id} {broken}",
            detail="\n".join(filter(None, (f"target {ref.target}", users))),
            origin=ref.origin,
        )
    outside = [ref for ref in state.refs if ref.status is RefStatus.EXTERNAL]
    if outside:
        yield Point(
            kind=PointKind.REFERENCE,
            severity=Severity.INFO,
            blocks=False,
            title=f"{counted(len(outside), 'reference')} cannot be followed in what is handed over",
            detail=listed((ref.target for ref in outside), most=8),
            origin=outside[0].origin,
        )


def _with_finding(point: Point, name: str, findings: list[Finding]) -> Point:
    """Return the point with the worst finding about the same thing, which is taken out of `findings`."""
    about = [
        each
        for each in findings
        if not each.rule.startswith(_OF_THEIR_OWN)
        and (
            (_lies_in(each.origin, point.origin) and name in each.message)
            or (_lies_on_line(each.origin, point.origin) and _says_the_same(each.message, point.detail))
        )
    ]
    if not about:
        return point
    taken = max(about, key=lambda each: (-each.severity.rank, name in each.message, each.rule))
    findings.remove(taken)
    worst = min(point.severity, taken.severity, key=lambda each: each.rank)
    return replace(
        point,
        severity=worst,
        blocks=point.blocks or worst is Severity.ERROR,
        rule=taken.rule,
        leak=taken.effect is Effect.LEAKED,
        detail="\n".join(dict.fromkeys(filter(None, (*point.detail.split("\n"), taken.message)))),
    )


def _says_the_same(one: str, other: str) -> bool:
    """Whether two texts share long words of at least `_ALIKE` letters, such as the path both are about."""
    return sum(map(len, {*_LONG_WORD.findall(one)} & {*_LONG_WORD.findall(other)})) >= _ALIKE


def _lies_on_line(inner: Origin, outer: Origin | None) -> bool:
    return (
        outer is not None and inner.line is not None and (inner.file, inner.line) == (outer.file, outer.line)
    )


def _lies_in(inner: Origin, outer: Origin | None) -> bool:
    if outer is None or inner.file != outer.file:
        return False
    if None in (inner.start, outer.start, outer.end):
        return inner.pointer is not None and inner.pointer == outer.pointer
    assert inner.start is not None
    assert outer.start is not None
    assert outer.end is not None
    return outer.start <= inner.start < max(outer.end, outer.start + 1)


def _violations(state: ContextState, findings: Sequence[Finding]) -> Iterator[Point]:
    """Yield items that a target was shown and may not see, unless a finding names both."""
    for block in state.blocks():
        targets = [target for target, reach in block.reach.items() if reach is Reach.VIOLATION]
        named = any(
            each.severity is Severity.ERROR and block.id in each.message and target in each.message
            for each in findings
            for target in targets
        )
        if targets and not named:
            yield Point(
                kind=PointKind.VIOLATION,
                severity=Severity.ERROR,
                blocks=True,
                title=f"{block.id} was injected for {listed(targets)}, which may not see it",
                leak=True,
                origin=block.origin,
            )


def _cuts(prompts: Sequence[tuple[str, Prompt]]) -> Iterator[Point]:
    for target, prompt in prompts:
        for message in prompt.messages:
            for part in message.parts:
                if (cut := part.cut) is not None and cut.kind is CutKind.SHORTENED:
                    size = f"{cut.tokens:,} tokens" if cut.tokens is not None else "a part"
                    yield Point(
                        kind=PointKind.CUT,
                        severity=Severity.INFO,
                        blocks=False,
                        title=f"{cut.what} is cut: {size} of it does not reach {target}",
                        detail=cut.reason,
                        origin=part.origin,
                    )


def _left_out_of_assembly(state: ContextState) -> Iterator[Point]:
    for component in state.assembly.components if state.assembly is not None else ():
        if component.state != "whole":
            lost = (component.whole_tokens or 0) - component.tokens
            size = f" ({lost:,} tokens)" if lost > 0 else ""
            yield Point(
                kind=PointKind.CUT,
                severity=Severity.INFO,
                blocks=False,
                title=f"{component.name} is {component.state} in the prompt{size}",
                detail=component.reason or "",
            )


def _compactions(state: ContextState) -> Iterator[Point]:
    for each in state.compactions:
        if each.lost:
            yield Point(
                kind=PointKind.COMPACTION,
                severity=Severity.INFO,
                blocks=False,
                title=f"the compaction {each.id} lost {counted(len(each.lost), 'thing')}",
                detail=f"lost: {'; '.join(each.lost)}",
                origin=each.origin,
            )


def _redactions(state: ContextState) -> Iterator[Point]:
    for block in state.blocks():
        if block.redaction:
            yield Point(
                kind=PointKind.REDACTION,
                severity=Severity.INFO,
                blocks=False,
                title=f"{block.id} is redacted",
                detail=block.redaction,
                origin=block.origin,
            )
