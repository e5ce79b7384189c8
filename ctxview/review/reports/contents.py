"""Everything that a report says about one revision, without a form: HTML, Markdown, SVG and JSON write it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.diff import diff
from ctxview.analysis.diff.model import StateDiff
from ctxview.analysis.gaps import gap_is_settled, gap_order, open_gaps
from ctxview.analysis.revisions.events import RevisionEvent
from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.overview import Overview, summarise, worst_sentence
from ctxview.analysis.revisions.skyline import Skyline, build_skyline
from ctxview.analysis.revisions.window import pressure_of, window_sentence, window_source
from ctxview.analysis.wording import counted
from ctxview.core.findings import Finding, Severity, worst_first
from ctxview.core.origin import Origin
from ctxview.core.prompt import PromptError
from ctxview.core.state import ContextState, Gap
from ctxview.files.reading import REVIEW_SUFFIX
from ctxview.formats import Lens, Source
from ctxview.formats.interface import Progress
from ctxview.formats.revisions import previous_revision, read_known
from ctxview.reports.findings import severity_counts_text
from ctxview.reports.xray import Xray, make_xray

MOST_COLUMNS = 60
"""Columns of the skyline; more revisions share a column."""
SIGNS = {Severity.ERROR: "✖", Severity.WARNING: "▲", Severity.INFO: "i"}

Tone = Literal["bad", "warn", "good", "plain"]


class Answer(Struct, frozen=True):
    """One of the sentences that a report begins with."""

    label: str
    sentence: str
    more: str = ""
    tone: Tone = "plain"


class ReportedSignOff(Struct, frozen=True):
    """A sign-off beside the source, compared with its files as they are now, or why it cannot be used."""

    record: str
    problem: str = ""
    decision: str = ""
    reviewer: str = ""
    time: str = ""
    comment: str = ""
    signature: str = ""
    changes: tuple[str, ...] = ()
    """What changed since; empty when it is about exactly what is there."""
    points: tuple[tuple[str, str, str], ...] = ()
    """Title, decision and reason of each decided point."""

    @property
    def answer(self) -> Answer:
        if self.problem:
            return Answer("Sign-off", "A sign-off cannot be used", f"{self.record}: {self.problem}", "bad")
        said = {"asked": "Context was asked for"}.get(self.decision, self.decision.capitalize())
        changed = f"; {counted(len(self.changes), 'thing')} changed since" if self.changes else ""
        tones: dict[str, Tone] = {"approved": "good", "rejected": "bad"}
        tone = "warn" if self.changes else tones.get(self.decision, "warn")
        facts = (self.time, self.signature, self.comment)
        return Answer(
            "Sign-off", f"{said} by {self.reviewer}{changed}", " · ".join(filter(None, facts)), tone
        )


class Report(Struct, frozen=True, eq=False):
    """One revision of a source: its state, all findings, the window over time, the prompt and the changes."""

    state: ContextState
    number: int
    known: KnownRevisions
    overview: Overview
    skyline: Skyline
    findings: tuple[Finding, ...]
    elsewhere: tuple[Finding, ...]
    """The findings of the other revisions and of the source as a whole."""
    counter: str
    changes: StateDiff | None = None
    xray: Xray | None = None
    no_xray: str = ""
    """Why there is no X-ray."""
    sign_offs: tuple[ReportedSignOff, ...] = ()
    """The sign-offs beside the source, the oldest first."""

    @property
    def name(self) -> str:
        """The revision in a sentence; empty when the source has only one."""
        return self.known.names[self.number].name if len(self.known.names) > 1 else ""

    @property
    def since(self) -> str:
        """The revision that the changes are compared with."""
        previous = self.known.names[self.number].previous
        return self.known.names[previous].name if previous is not None else ""

    @property
    def gaps(self) -> list[Gap]:
        """The open gaps, the worst first."""
        return sorted(open_gaps(self.state.kept), key=gap_order)

    @property
    def events(self) -> list[tuple[str, RevisionEvent]]:
        """What changed the knowledge of the model, with the name of the revision, the oldest first."""
        return [
            (self.known.names[column.number].name, event)
            for column in self.skyline.columns
            for event in column.events
            if event.kind != "shown"
        ]


def make_report(source: Source, number: int, lens: Lens, progress: Progress) -> Report:
    """Read all of a source and return the report of revision `number`."""
    reading = source.reading(number, lens)
    known = read_known(source, lens, progress)
    everything = source.findings(lens)
    own = set(reading.findings)
    earlier = previous_revision(source.revisions, number)
    changes = diff(source.reading(earlier, lens).state, reading.state) if earlier is not None else None
    xray, no_xray = _xray(source, number, lens)
    return Report(
        reading.state,
        number,
        known,
        summarise(reading.state, known, number),
        build_skyline(known, MOST_COLUMNS),
        worst_first(reading.findings),
        worst_first(each for each in everything if each not in own),
        lens.counter.name,
        changes,
        xray,
        no_xray,
        tuple(_sign_offs(source, lens)),
    )


def _sign_offs(source: Source, lens: Lens) -> Iterator[ReportedSignOff]:
    """Yield the sign-offs beside a source; their code is loaded only if there are any."""
    beside = source.path.absolute()
    if not any(each.name.endswith(REVIEW_SUFFIX) for each in beside.parent.glob(f"*{REVIEW_SUFFIX}")):
        return
    from ctxview.review.verification import VerifyOptions, check_source

    for record in check_source(source, lens, VerifyOptions()).records:
        name, predicate = record.path.name, record.predicate
        if predicate is None:
            yield ReportedSignOff(name, record.file.problem)
        elif not record.is_about:
            yield ReportedSignOff(name, "it is about another source")
        else:
            yield ReportedSignOff(
                name,
                "",
                predicate.decision.value,
                predicate.reviewer,
                predicate.time.isoformat(timespec="seconds"),
                predicate.comment,
                record.signature.state.value,
                record.changes,
                tuple((each.title, each.decision.value, each.reason) for each in predicate.points),
            )


def _xray(source: Source, number: int, lens: Lens) -> tuple[Xray | None, str]:
    ability = source.abilities.prompt
    if ability is None:
        return None, f"No prompt is known for the format {source.format}"
    try:
        return make_xray(ability.prompt(number, lens), lens.counter), ""
    except PromptError as error:
        return None, f"There is no prompt: {error}"


def path_for_others(path: str) -> str:
    """Return a path that does not name the home of the user: `~/work/AGENTS.md`."""
    for home in map(str, dict.fromkeys((Path.home(), Path.home().resolve()))):
        if path == home or path.startswith(f"{home}/"):
            return f"~{path.removeprefix(home)}"
    return path


def place_for_others(origin: Origin) -> str:
    return str(replace(origin, file=path_for_others(origin.file)))


def answers(report: Report) -> Sequence[Answer]:
    """What a reader wants to know first: problems, missing context, the window, and what is not shown."""
    signed = [report.sign_offs[-1].answer] if report.sign_offs else []
    return [*signed, _problems(report), _missing(report), _window(report), _blocks(report)]


def _problems(report: Report) -> Answer:
    errors = sum(each.severity is Severity.ERROR for each in report.findings)
    here = severity_counts_text(report.findings) or "no findings"
    where = f" in {report.name}" if report.name and report.name != "now" else ""
    more = ""
    worst = report.known.worst
    if worst is not None and report.name:
        more = f"Worst of all revisions: {worst.finding.rule} {worst_sentence(report.known, worst)}"
    elif worst is not None:
        more = f"{worst.finding.rule}: {worst.finding.message}"
    warned = any(each.severity is Severity.WARNING for each in report.findings)
    tone: Tone = "bad" if errors else "warn" if warned else "plain" if report.findings else "good"
    return Answer("Findings", f"{here[0].upper()}{here[1:]}{where}", more, tone)


def _missing(report: Report) -> Answer:
    gaps = report.gaps
    if not gaps:
        return Answer("Missing", "No missing context is known", "", "good")
    blocking = [gap for gap in gaps if gap_order(gap) == (False, 0)]
    sentence = f"{counted(len(gaps), 'gap')} open"
    if blocking:
        sentence = f"{counted(len(blocking), 'gap')} {'blocks' if len(blocking) == 1 else 'block'} work"
    settled = sum(map(gap_is_settled, report.state.kept.missing))
    more = "; ".join(report.overview.missing[:2])
    if settled:
        more += f"; {settled} settled"
    return Answer("Missing", sentence, more, "bad" if blocking else "warn")


def _window(report: Report) -> Answer:
    window = report.overview.window
    tones: dict[str, Tone] = {"over": "bad", "full": "bad", "high": "warn"}
    of = f"{window.of[0].upper()}{window.of[1:]}: " if window.of else ""
    grown = f"{window.grown:+,} since {window.since}" if window.grown and window.since else ""
    source = window_source(window.budget).lstrip(",; ")
    more = ". ".join(filter(None, (source[:1].upper() + source[1:], grown)))
    return Answer(
        "Window",
        f"{of}{window_sentence(window.budget)}",
        more,
        tones.get(pressure_of(window.budget), "plain"),
    )


def _blocks(report: Report) -> Answer:
    blocks = report.overview.blocks
    if not blocks.tiers:
        return Answer("Blocks", "No blocks")
    unknown = f", {blocks.unknown:,} without a record" if blocks.unknown else ""
    sentence = f"{blocks.shown:,} shown to the model, {blocks.hidden:,} not shown{unknown}"
    more = "; ".join(f"{len(each.ids):,} {each.reason}" for each in blocks.reasons[:3])
    return Answer("Blocks", sentence, more)
