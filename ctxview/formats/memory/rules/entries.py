"""The rules about one entry and its summary (MEN001 to 010, 012, 014)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.analysis.wording import counted, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.memory.model import Entry
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.words import (
    has_past_verb,
    kept_details,
    pronouns_in,
    relative_dates_in,
    tags_in,
)

SHORT_RAW: Final = 80
SHORT_SUMMARY: Final = 400
LONG_SUMMARY: Final = 500
CHARACTERS_PER_TOKEN: Final = 4
MOST_NAMED: Final = 4
_IMPERSONAL: Final = re.compile(r"\bit (?:was|is) \w+ed\b", re.IGNORECASE)
_MARKUP: Final = re.compile(r"```|^\s*#{1,6} |\*\*[^*]+\*\*|^\s*[-*] |\[[^\]]+\]\([^)]+\)", re.MULTILINE)
_EMOJI: Final = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_GREETING: Final = re.compile(r"\s*(?:hi|hello|hey|dear|good (?:morning|evening|afternoon))\b", re.IGNORECASE)
_THIRD_PERSON: Final = re.compile(
    r"\s*(?:the )?(?:user|assistant) (?:said|asked|stated|wants|wanted|told|mentioned)\b", re.IGNORECASE
)


@rule("MEN001", name="summary-missing", severity=Severity.ERROR)
def summary_missing(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """An entry has no summary, or the summary repeats the message word for word.

    ## Why
    Search works on summaries. Without one the entry is found by its raw text only, or not at all.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": ""}
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    ## Fix
    Store each message with one summary. Entries cannot be changed afterwards.
    ## Source
    Source document, rule 3.
    """
    summary, raw = (entry.summary or "").strip(), (entry.raw or "").strip()
    if not summary:
        yield Hit(entry.place.origin("summary"), f"{entry.shown} has no summary")
    elif summary == raw and len(raw) > SHORT_RAW:
        message = f"the summary of {entry.shown} is the message itself"
        yield Hit(entry.place.origin("summary"), message, Severity.WARNING)


@rule("MEN002", name="summary-over-cap", severity=Severity.ERROR, effect=Effect.REJECTED)
def summary_over_cap(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A summary is longer than 512 characters, or probably longer than 80 tokens.

    ## Why
    Long summaries blur the search. This memory server refuses more than 512 characters; one more is
    allowed for the mark of a cut. 80 tokens are about 320 characters and are reached first.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": "<514 characters>"}
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    ## Fix
    Leave out greetings and filler first, and keep names, dates and numbers.
    ## Source
    Source document, rule 3 and 6.2.
    """
    summary, caps = entry.summary or "", profile.caps
    allowed = caps.summary + summary.endswith("…")
    if len(summary) > allowed:
        message = f"the summary of {entry.shown} has {len(summary):,} characters; the cap is {caps.summary}"
        yield Hit(entry.place.origin("summary"), message)
    elif (tokens := -(-len(summary) // CHARACTERS_PER_TOKEN)) > caps.summary_tokens:
        message = (
            f"the summary of {entry.shown} has about {tokens} tokens (estimate); aim at {caps.summary_tokens}"
        )
        yield Hit(entry.place.origin("summary"), message, Severity.WARNING, Effect.NONE)


@rule("MEN003", name="summary-cut-mark", severity=Severity.WARNING)
def summary_cut_mark(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A cut summary does not end with `…`, or one that was not cut does.

    ## Why
    The mark says that the entry knows more than its summary. Three dots, or a mark on a short summary,
    mislead.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch..."}
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch."}
    ## Fix
    End a summary with `…` (U+2026) exactly when something was left out to fit the cap.
    ## Source
    Source document, rule 6.2.
    """
    summary = entry.summary or ""
    problem = None
    if summary.endswith("..."):
        problem = "ends with three dots instead of …"
    elif summary.endswith("…") and len(summary) < SHORT_SUMMARY:
        problem = f"ends with … although it has only {len(summary)} characters"
    elif len(summary) >= LONG_SUMMARY and not summary.endswith("…"):
        missing = [word for word in kept_details(entry.raw or "") if word.lower() not in summary.lower()]
        if missing:
            problem = f"lacks {listed(missing, MOST_NAMED)} and has no … at its end"
    if problem is not None:
        yield Hit(entry.place.origin("summary"), f"the summary of {entry.shown} {problem}")


@rule("MEN004", name="summary-not-past-tense", severity=Severity.WARNING)
def summary_not_past_tense(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A summary has no verb in the past tense among its first seven words.

    ## Why
    Subject, verb and object in the past tense make summaries alike, so that a search compares facts, not
    style.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": "New launch date in May"}
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    ## Fix
    Begin with who did what.
    ## Source
    Source document, rule 3.
    """
    summary = (entry.summary or "").strip()
    if summary and not has_past_verb(summary):
        message = f"the summary of {entry.shown} has no verb in the past tense: {quoted(summary)}"
        yield Hit(entry.place.origin("summary"), message)


@rule("MEN005", name="summary-pronoun", severity=Severity.WARNING)
def summary_pronoun(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A summary contains a pronoun that it does not resolve.

    ## Why
    A summary is read alone, as a search result. Nobody can tell who `she` is.
    ## Bad
    entry: {"rawEntry": "She moved it to May", "summary": "She moved it to May."}
    ## Good
    entry: {"rawEntry": "She moved it to us-east-1", "summary": "Ada moved the launch to us-east-1."}
    ## Fix
    Write the name from the context.
    ## Source
    Source document, rule 3.
    """
    found = pronouns_in(entry.summary or "")
    if found:
        weak = len(found) == 1 and _IMPERSONAL.search(entry.summary or "") is not None
        message = f"the summary of {entry.shown} contains {listed(dict.fromkeys(found), MOST_NAMED)}"
        yield Hit(entry.place.origin("summary"), message, Severity.INFO if weak else None)


@rule("MEN006", name="summary-tag", severity=Severity.WARNING)
def summary_tag(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A summary has more than one tag in brackets, or an unknown one.

    ## Why
    Tags group search results. An unknown tag is a group of its own.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": "[launch] The user moved the launch to May."}
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "[plan] The user moved the launch to May."}
    ## Fix
    Use at most one of ask, decide, plan, fix, timeline, select and error.
    ## Source
    Prompt for summaries.
    """
    tags = tags_in(entry.summary or "")
    unknown = [tag for tag in tags if tag.lower() not in profile.words.summary_tags]
    if unknown:
        message = f"the summary of {entry.shown} has the unknown tag {listed(unknown, MOST_NAMED)}"
        yield Hit(entry.place.origin("summary"), message)
    elif len(tags) > 1:
        yield Hit(
            entry.place.origin("summary"), f"the summary of {entry.shown} has {counted(len(tags), 'tag')}"
        )


@rule("MEN007", name="summary-lacks-details", severity=Severity.INFO)
def summary_lacks_details(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A summary leaves out numbers, ids or names of the message although it has room for them.

    ## Why
    These are the words that people search for.
    ## Bad
    entry: {"rawEntry": "Ticket OPS-4411 is closed", "summary": "The user closed the ticket."}
    ## Good
    entry: {"rawEntry": "Ticket OPS-4411 is closed", "summary": "The user closed the ticket OPS-4411."}
    ## Fix
    Keep names, dates and ids; drop filler.
    ## Source
    Source document, rule 3.
    """
    summary = entry.summary or ""
    if not summary or len(summary) > SHORT_SUMMARY or holds_redaction_mark(f"{entry.raw} {summary}"):
        return
    missing = [word for word in kept_details(entry.raw or "") if word.lower() not in summary.lower()]
    if missing:
        message = f"the summary of {entry.shown} leaves out {listed(missing, MOST_NAMED)}"
        yield Hit(entry.place.origin("summary"), message)


@rule("MEN008", name="summary-relative-date", severity=Severity.WARNING)
def summary_relative_date(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A summary contains a relative date, or a date whose order of day and month is unclear.

    ## Why
    `tomorrow` means another day each time the summary is read.
    ## Bad
    entry: {"rawEntry": "We launch tomorrow", "summary": "The user planned the launch for tomorrow."}
    ## Good
    entry: {"rawEntry": "We launch tomorrow", "summary": "The user planned the launch for 2026-05-12."}
    ## Fix
    Write the date as 2026-05-12.
    ## Source
    Prompt for summaries: ISO 8601.
    """
    found = relative_dates_in(entry.summary or "")
    if found:
        message = f"the summary of {entry.shown} contains {listed(found, MOST_NAMED)}"
        yield Hit(entry.place.origin("summary"), message)


@rule("MEN009", name="summary-markup", severity=Severity.INFO)
def summary_markup(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A summary is not plain text: it has Markdown, JSON, an emoji or a greeting.

    ## Why
    Markup is embedded with the words and makes summaries less alike.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the **launch** to May."}
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    ## Fix
    Write one or two plain sentences.
    ## Source
    Prompt for summaries.
    """
    summary = entry.summary or ""
    kinds = (
        ("Markdown", _MARKUP.search(summary)),
        ("JSON", summary.lstrip().startswith(("{", '["', "[{"))),
        ("an emoji", _EMOJI.search(summary)),
        ("a greeting", _GREETING.match(summary)),
    )
    found = [name for name, holds in kinds if holds]
    if found:
        yield Hit(
            entry.place.origin("summary"), f"the summary of {entry.shown} contains {' and '.join(found)}"
        )


@rule("MEN010", name="raw-not-verbatim", severity=Severity.WARNING)
def raw_not_verbatim(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """A raw entry is too long, begins with a control prefix, or tells about the speaker.

    ## Why
    Raw entries are the only source of the context. They must be the messages themselves, word for word.
    ## Bad
    entry: {"rawEntry": "The user asked to move the launch", "summary": "The user moved the launch."}
    ## Good
    entry: {"rawEntry": "Please move the launch", "summary": "The user moved the launch."}
    ## Fix
    Store the message as it was said.
    ## Source
    Source document, tools: one raw message. Prompt for entries.
    """
    raw = entry.raw or ""
    prefix = next((each for each in profile.words.raw_prefixes if raw.lstrip().startswith(each)), None)
    problem = None
    if entry.raw is not None and not raw.strip():
        problem = "is blank"
    elif len(raw) > profile.caps.raw_entry:
        problem = f"has {len(raw):,} characters; the service intends at most {profile.caps.raw_entry:,}"
    elif prefix is not None:
        problem = f"begins with {quoted(prefix)}"
    elif _THIRD_PERSON.match(raw):
        problem = f"tells about the speaker instead of quoting: {quoted(raw)}"
    if problem is not None:
        yield Hit(entry.place.origin("rawEntry"), f"the raw text of {entry.shown} {problem}")


@rule("MEN012", name="entry-tags", severity=Severity.INFO)
def entry_tags(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """An entry does not record who spoke, or has a tag that the index cannot use.

    ## Why
    Only texts and `true` reach the index. Without a role nobody can tell a question from an answer.
    ## Bad
    entry: {"rawEntry": "The launch moved", "summary": "The user moved the launch.", "tags": {"done": false}}
    ## Good
    entry: {"rawEntry": "The launch moved", "summary": "The user moved the launch.", "tags": {"role": "user"}}
    ## Fix
    Store `{"role": "user"}` or `{"role": "assistant"}`; tags can be changed later.
    ## Source
    Service: tags of entries.
    """
    tags = entry.tags or {}
    wrong = [name for name, value in tags.items() if not isinstance(value, str) and value is not True]
    if wrong:
        value = json_excerpt(tags[wrong[0]])
        yield Hit(
            entry.place.origin("tags"),
            f"the tag {excerpt(wrong[0])} of {entry.shown} is {value}, not a text or true",
        )
    elif not entry.partial and not isinstance(tags.get("role"), str):
        yield Hit(entry.place.origin("tags"), f"{entry.shown} does not record the role of its speaker")


@rule("MEN014", name="entry-corrected", severity=Severity.INFO)
def entry_corrected(entry: Entry, profile: Profile) -> Iterator[Hit]:
    """An entry has correction fields, which no tool writes.

    ## Why
    Entries are immutable. A correction was made in the store itself, past the service.
    ## Bad
    entry: {"rawEntry": "The launch moved", "summary": "The user moved it.", "correctionReason": "typo"}
    ## Good
    entry: {"rawEntry": "The launch moved", "summary": "The user moved it.", "correctionReason": null}
    ## Fix
    Find out who writes into the store.
    ## Source
    Service: no endpoint sets these columns.
    """
    if entry.corrected:
        yield Hit(
            entry.place.origin(entry.corrected[0]), f"{entry.shown} has {listed(entry.corrected, MOST_NAMED)}"
        )
