"""The record of a sign-off: an in-toto Statement v1 that names every reviewed file and what was decided.

A record is untrusted input: `read_record` never raises for its content. `docs/review.schema.json` is its
published schema.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from textwrap import indent
from typing import Annotated, Final, Literal

from msgspec import Struct
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from ctxview import __version__
from ctxview.core.findings import Severity
from ctxview.core.origin import JsonValue
from ctxview.files.create import create
from ctxview.files.reading import ReadError, path_problem, read_bytes
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.visible_text import visible
from ctxview.formats import all_rules
from ctxview.review.decisions import LONGEST_TEXT, DecisionKind, now_text
from ctxview.review.points import PointKind
from ctxview.review.review import Review
from ctxview.review.subject import is_repository
from ctxview.review.words import PREDICATES, SignOff

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:ctxview:review:v1"
LARGEST_RECORD = 64 * 1024 * 1024


def _relative(name: str) -> str:
    if (problem := path_problem(name)) is not None:
        raise ValueError(problem)
    return name


Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
PartDigest = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
RelativeName = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_relative)]
Words = Annotated[str, Field(max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=400)]


class RecordModel(BaseModel):
    """The settings of every part of a record: frozen, and no unknown members."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Sha256(RecordModel):
    sha256: Digest


class ReviewedFile(RecordModel):
    """A reviewed file, by its path relative to the folder that holds all reviewed paths."""

    name: RelativeName
    digest: Sha256


class RecordedPoint(RecordModel):
    """A point and the decision about it."""

    id: Name
    kind: PointKind
    severity: Severity
    blocks: bool
    title: Words
    decision: DecisionKind
    reason: Words = ""
    by: Words = ""
    at: AwareDatetime


class RecordedSource(RecordModel):
    """A reviewed source: its path, how it was read, its files, and the meaning of its state as digests."""

    path: RelativeName
    format: Name
    revision: Words
    profile: Words
    counter: Name
    files: list[RelativeName]
    state: Sha256
    parts: dict[str, PartDigest]
    repository: bool = False
    """Whether it was a repository, of which only the files of the source are reviewed."""


class ReviewTool(RecordModel):
    name: Name
    version: Name


class RuleSet(RecordModel):
    """The rules that were applied: how many, and the SHA-256 of their ids and severities."""

    count: int
    sha256: Digest


class ReviewPredicate(RecordModel):
    """What was decided about the subject, by whom, when, and on which grounds."""

    decision: SignOff
    reviewer: Name
    time: AwareDatetime
    comment: Words = ""
    points: list[RecordedPoint]
    open_notes: int = 0
    """Points that needed no decision and got none."""
    tool: ReviewTool
    rules: RuleSet
    sources: list[RecordedSource]
    links: dict[RelativeName, str]
    """Symbolic links below the reviewed folders; they were not followed."""
    not_covered: list[Words] = []
    """Files that could not be read, and which the review therefore says nothing about."""
    follows: Digest | None = None
    """The SHA-256 of the record of the review before this one."""


class ReviewStatement(RecordModel):
    """The whole record."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="A review of agent context, signed off")

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: Annotated[list[ReviewedFile], Field(min_length=1)]
    predicate_type: Literal["urn:ctxview:review:v1"] = Field(alias="predicateType")
    predicate: ReviewPredicate


class ReviewFile(Struct, frozen=True):
    """A record as it was read: the statement, or why there is none."""

    path: Path
    digest: str = ""
    statement: ReviewStatement | None = None
    problem: str = ""
    other_version: bool = False
    """Whether the problem is only that another version of ctxview wrote it."""


def make_statement(
    review: Review, decision: SignOff, reviewer: str, comment: str, follows: str | None
) -> ReviewStatement:
    """Return the record of a review; the caller has asked `Review.why_not_approved`."""
    subject = review.subject
    points = [
        RecordedPoint(
            id=point.id,
            kind=point.kind,
            severity=point.severity,
            blocks=point.blocks,
            title=point.title[:LONGEST_TEXT],
            decision=made.kind,
            reason=made.text,
            by=made.by,
            at=_moment(made.at),
        )
        for point in review.points
        if (made := review.decisions.get(point.id)) is not None
    ]
    sources = [
        RecordedSource(
            path=str(source.path.resolve().relative_to(subject.root)),
            format=source.handed_over.format,
            revision=visible(source.handed_over.revision),
            profile=source.profile,
            counter=source.counter,
            files=[*source.files],
            state=Sha256(sha256=source.state_digest),
            parts={visible(name): digest for name, digest in source.parts.items()},
            repository=is_repository(source.path),
        )
        for source in review.sources
    ]
    predicate = ReviewPredicate(
        decision=decision,
        reviewer=visible(reviewer.strip()),
        time=_moment(now_text()),
        comment=visible(comment.strip(), keep_layout=True),
        points=points,
        open_notes=len(review.points) - len(points),
        tool=ReviewTool(name="ctxview", version=__version__),
        rules=rule_set(),
        sources=sources,
        links=dict(subject.links),
        not_covered=sorted(map(visible, subject.unread)),
        follows=follows,
    )
    files = [
        ReviewedFile(name=name, digest=Sha256(sha256=digest))
        for name, digest in sorted(subject.files.items())
    ]
    return ReviewStatement(_type=STATEMENT, subject=files, predicateType=PREDICATE, predicate=predicate)


def _moment(text: str) -> datetime:
    """The time of a decision; now for one whose stored time is damaged."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.now(UTC)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def rule_set() -> RuleSet:
    rules = all_rules()
    lines = "".join(f"{rule.id} {rule.severity} {rule.effect}\n" for rule in rules)
    return RuleSet(count=len(rules), sha256=sha256(lines.encode()).hexdigest())


def record_bytes(statement: ReviewStatement) -> bytes:
    """The record as JSON with one line for each file, so that `sed` can make a list for `sha256sum`."""
    value = statement.model_dump(mode="json", by_alias=True)
    files = ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in value["subject"])
    predicate = indent(json.dumps(value["predicate"], ensure_ascii=False, indent=2), "  ").lstrip()
    lines = (
        "{",
        f'  "_type": "{STATEMENT}",',
        f'  "subject": [\n{files}\n  ],',
        f'  "predicateType": "{PREDICATE}",',
        f'  "predicate": {predicate}',
        "}",
    )
    return "".join(f"{line}\n" for line in lines).encode()


def read_record(path: Path) -> ReviewFile:
    """Read a record; a problem is a value, never an error."""
    try:
        data = read_bytes(path, LARGEST_RECORD)
    except ReadError as error:
        return ReviewFile(path, problem=error.reason)
    digest = sha256(data).hexdigest()
    try:
        document = parse(data)
        value = document.value
        if (version := _other_version(value)) is not None:
            problem = f"it has the version {version}, which this ctxview does not know"
            return ReviewFile(path, digest, problem=problem, other_version=True)
        if document.duplicates:
            problem = f"the member {visible(document.duplicates[0])} is there twice"
            return ReviewFile(path, digest, problem=problem)
        return ReviewFile(path, digest, ReviewStatement.model_validate_json(data))
    except JsonError as error:
        return ReviewFile(path, digest, problem=f"it is not valid JSON: {error}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(map(str, first["loc"]))
        problem = visible(f"{place}: {first['msg']}" if place else first["msg"])
        return ReviewFile(path, digest, problem=problem)


def _other_version(value: JsonValue) -> str | None:
    kind = value.get("predicateType") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind == PREDICATE or not kind.startswith(PREDICATES):
        return None
    return visible(kind.removeprefix(PREDICATES)[:40])


def write_record(path: Path, data: bytes) -> None:
    """Create the file of a record; raises `CreateRefused`, also when the name is taken."""
    create(path.parent, path.name, data, mode=0o644)
