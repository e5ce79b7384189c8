"""The budgets of a session: the pack as written, as it costs now and as rebuilt; the prompt; the history.

The prompt's budget does not depend on the pack and counts bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ctxview.analysis.diff.values import meaning_of, same_text
from ctxview.analysis.wording import counted
from ctxview.core.state import Budget, Segment
from ctxview.formats.session.messages import prompt_bytes, prompt_view
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.pack_candidates import estimate
from ctxview.formats.session.state.inputs import SessionStateInputs


def build_budgets(inputs: SessionStateInputs) -> tuple[Budget, ...]:
    """Return the budgets, the pack as written first; for a trial only the rebuilt pack and the prompt."""
    if inputs.as_of is not None:
        return tuple(_prompt(inputs))
    if inputs.trial is not None:
        return (*_built_now(inputs), *_prompt(inputs))
    return (
        *_written(inputs),
        *_recounted(inputs),
        *_built_now(inputs),
        *_prompt(inputs),
        *_whole_history(inputs),
    )


def segment_name(item: PackItem) -> str:
    """Return source and range of an item in one line, or its kind without a source."""
    if item.source is None:
        return item.kind or f"item {item.index + 1}"
    return _named(item.source, item.range)


def is_stale(inputs: SessionStateInputs, item: PackItem) -> bool:
    """Return whether pack.md shows another text of an item than its source has now."""
    section, content = inputs.sections.get(item.source or ""), inputs.content(item)
    if section is None or content is None:
        return False
    return not same_text(section.body, content)


def _written(inputs: SessionStateInputs) -> Iterator[Budget]:
    items = inputs.facts.session.pack.items
    if not items:
        return
    estimator = inputs.profile.pack.estimator or "as written"
    segments = tuple(
        Segment(
            f"{segment_name(item)}{' (stale)' if is_stale(inputs, item) else ''}",
            item.tokens,
            None,
            False,
            estimator,
        )
        for item in items
        if item.tokens is not None
    )
    yield _budget("pack as written", "tokens", inputs, segments)


def _recounted(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Count each item by the profile's estimate and by the selected counter."""
    contents = [(item, inputs.content(item)) for item in inputs.facts.session.pack.items]
    found = [(item, content, meaning_of(content)) for item, content in contents if content is not None]
    if not found:
        return
    if inputs.profile.pack.estimator is not None:
        estimated = tuple(
            Segment(
                segment_name(item),
                estimate(content, inputs.profile) or 0,
                None,
                False,
                inputs.profile.pack.estimator,
                meaning,
            )
            for item, content, meaning in found
        )
        yield _budget("pack now", inputs.profile.pack.estimator, inputs, estimated)
    counted = tuple(
        Segment(segment_name(item), tokens, None, inputs.counter.exact, inputs.counter.name, meaning)
        for item, content, meaning in found
        if (tokens := inputs.tokens(content)) is not None
    )
    yield _budget("pack now", f"tokens ({inputs.counter.name})", inputs, counted)


def _built_now(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Yield the pack that the builder would build for the budget, and how much it would leave out."""
    estimator, choices = inputs.profile.pack.estimator, inputs.rebuilt
    if estimator is None or not choices:
        return
    segments = tuple(
        Segment(
            _named(each.candidate.source, each.candidate.range),
            each.candidate.tokens or 0,
            None,
            False,
            estimator,
            meaning_of(each.candidate.text),
        )
        for each in choices
        if each.taken
    )
    left_out = [each.candidate.tokens or 0 for each in choices if not each.taken]
    target = f"rebuilt, {len(left_out)} left out" if left_out else "rebuilt"
    yield replace(_budget(target, estimator, inputs, segments), cut=sum(left_out))


def _prompt(inputs: SessionStateInputs) -> Iterator[Budget]:
    limit = inputs.profile.limits.prompt_history
    if limit is None:
        return
    lines = [each.line for each in prompt_view(inputs.recent, inputs.profile) if each.visible]
    used = sum(prompt_bytes(line) for line in lines) + max(0, len(lines) - 1)
    segment = Segment(f"{len(lines)} messages", used, limit, True, None)
    yield Budget("prompt history", "bytes", limit, used, None, (segment,))


def _whole_history(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Yield the tokens of all messages by role; there is no limit, because no window has to hold them."""
    if not inputs.history:
        return
    segments = tuple(
        Segment(
            f"{each.role}, {counted(each.messages, 'message')}",
            each.tokens,
            None,
            each.exact,
            inputs.counter.name,
        )
        for each in inputs.history
    )
    total = sum(segment.used for segment in segments)
    yield Budget("whole history", f"tokens ({inputs.counter.name})", None, total, None, segments)


def _budget(target: str, unit: str, inputs: SessionStateInputs, segments: Sequence[Segment]) -> Budget:
    limit = inputs.budget or None
    return Budget(target, unit, limit, sum(each.used for each in segments), None, tuple(segments))


def _named(source: str, part: str | None) -> str:
    return " ".join(filter(None, (source.removeprefix("context/"), part)))
