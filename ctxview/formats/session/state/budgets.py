"""The budgets of a session: the pack in tokens, as written, as estimated and as rebuilt; prompt; history.

The limit of the pack is called tokens, but the runtime compares it with its own estimate, which may count
words: so the pack is shown in both, each with its unit.
The prompt's budget does not depend on the pack and counts bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ctxview.analysis.diff.values import meaning_of, same_text
from ctxview.analysis.tokens import ESTIMATES
from ctxview.analysis.wording import counted
from ctxview.core.state import Budget, Segment
from ctxview.formats.session.messages import size_of
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.pack_candidates import estimate
from ctxview.formats.session.prompt_history import prompt_view
from ctxview.formats.session.state.inputs import SessionStateInputs


def build_budgets(inputs: SessionStateInputs) -> tuple[Budget, ...]:
    """Return the budgets, the pack in tokens first; for a trial only the rebuilt pack and the prompt."""
    if inputs.as_of is not None:
        return tuple(_prompt(inputs))
    if inputs.trial is not None:
        return (*_rebuilt_tokens(inputs), *_rebuilt(inputs), *_prompt(inputs))
    return (
        *_pack_tokens(inputs),
        *_written(inputs),
        *_estimated(inputs),
        *_rebuilt(inputs),
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


def _pack_tokens(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Count the items of the pack, as their sources are now, by the selected counter."""
    found = [(_segment_id(item), segment_name(item), content) for item, content in _contents(inputs)]
    if found:
        yield _counted(inputs, "pack now", found)


def _written(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Yield the figures that the pack gives for its items; they are words when the runtime counts words."""
    items = [item for item in inputs.facts.session.pack.items if item.tokens is not None]
    if not inputs.facts.session.pack.items:
        return
    name = inputs.profile.pack.estimator
    same = all(estimate(content, inputs.profile) == item.tokens for item, content in _contents(inputs))
    unit = name if name is not None and same else "tokens as recorded"
    counted_by, segments = name if unit == name else "as recorded", []
    for item in items:
        label = f"{segment_name(item)}{' (stale)' if is_stale(inputs, item) else ''}"
        segments.append(Segment(label, item.tokens or 0, None, False, counted_by, id=_segment_id(item)))
    yield _budget("pack as written", unit, inputs, segments)


def _estimated(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Count the items of the pack, as their sources are now, by the profile's estimate."""
    estimator, found = inputs.profile.pack.estimator, _contents(inputs)
    if estimator is None or not found:
        return
    segments = []
    for item, content in found:
        name, used, key = segment_name(item), estimate(content, inputs.profile) or 0, _segment_id(item)
        segments.append(Segment(name, used, None, False, estimator, meaning_of(content), key))
    yield _budget("pack now", estimator, inputs, segments)


def _rebuilt(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Yield the pack that the builder would build for the budget, and how much it would leave out."""
    estimator, choices = inputs.profile.pack.estimator, inputs.rebuilt
    if estimator is None or not choices:
        return
    segments = []
    for offer in (each.offer for each in choices if each.taken):
        name, key = _named(offer.source, offer.range), _named(offer.source, None)
        segments.append(Segment(name, offer.tokens or 0, None, False, estimator, meaning_of(offer.text), key))
    left_out = [each.offer.tokens or 0 for each in choices if not each.taken]
    yield replace(
        _budget(_rebuilt_name(inputs), estimator, inputs, segments), cut=sum(left_out), id="rebuilt"
    )


def _rebuilt_tokens(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Count the pack that the builder would build by the selected counter."""
    if not inputs.rebuilt:
        return
    taken, left_out = (
        _counted(
            inputs,
            _rebuilt_name(inputs),
            [
                (_named(one.source, None), _named(one.source, one.range), one.text)
                for one in (each.offer for each in inputs.rebuilt if each.taken is wanted)
            ],
        )
        for wanted in (True, False)
    )
    yield replace(taken, cut=left_out.used, id="rebuilt")


def _rebuilt_name(inputs: SessionStateInputs) -> str:
    left_out = sum(not each.taken for each in inputs.rebuilt)
    return f"rebuilt, {left_out} left out" if left_out else "rebuilt"


def _contents(inputs: SessionStateInputs) -> list[tuple[PackItem, str]]:
    """Return the items of the pack whose source can be read, each with its present text."""
    found = ((item, inputs.content(item)) for item in inputs.facts.session.pack.items)
    return [(item, content) for item, content in found if content is not None]


def _counted(inputs: SessionStateInputs, target: str, found: Sequence[tuple[str, str, str]]) -> Budget:
    """Return a budget of texts, each with the id and name of its segment, in tokens.

    A text that is too long to be counted at once is estimated.
    """
    segments = []
    for key, name, content in found:
        tokens, counter = inputs.tokens(content), inputs.counter
        if tokens is None:
            counter = ESTIMATES["bytes/4"]
            tokens = counter.count(content)
        segments.append(Segment(name, tokens, None, counter.exact, counter.name, meaning_of(content), key))
    return _budget(target, f"tokens ({inputs.counter.name})", inputs, segments)


def _prompt(inputs: SessionStateInputs) -> Iterator[Budget]:
    limit = inputs.profile.limits.prompt_history
    if limit is None:
        return
    lines = [each.entry or "" for each in prompt_view(inputs.recent, inputs.profile) if each.visible]
    used = size_of("\n".join(lines))
    segment = Segment(f"{len(lines)} messages", used, limit, id="messages")
    yield Budget("prompt history", "bytes", limit, used, None, (segment,))


def _whole_history(inputs: SessionStateInputs) -> Iterator[Budget]:
    """Yield the tokens of all messages by role; without a limit, because no window has to hold them."""
    if not inputs.history:
        return
    segments = []
    for each in inputs.history:
        label = f"{each.role}, {counted(each.messages, 'message')}"
        segments.append(Segment(label, each.tokens, None, each.exact, inputs.counter.name, id=each.role))
    total = sum(segment.used for segment in segments)
    yield Budget("whole history", f"tokens ({inputs.counter.name})", None, total, None, tuple(segments))


def _budget(target: str, unit: str, inputs: SessionStateInputs, segments: Sequence[Segment]) -> Budget:
    limit = inputs.budget or None
    return Budget(target, unit, limit, sum(each.used for each in segments), None, tuple(segments))


def _segment_id(item: PackItem) -> str:
    """Return what stays the same while the range of an item grows."""
    return _named(item.source, None) if item.source is not None else segment_name(item)


def _named(source: str, part: str | None) -> str:
    return " ".join(filter(None, (source.removeprefix("context/"), part)))
