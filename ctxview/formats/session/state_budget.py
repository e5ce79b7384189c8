"""The pack against its budget: as it was written, as it would cost now, and as the builder would build it.

Beside it the prompt's own budget, which knows no pack and counts bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ctxview.analysis.diff.values import meaning_of, same_text
from ctxview.analysis.wording import counted
from ctxview.formats.session.candidates import estimate
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.prompt import prompt_bytes, prompt_view
from ctxview.formats.session.view import View
from ctxview.state import Budget, Segment


def build_budgets(view: View) -> tuple[Budget, ...]:
    """The pack as written comes first; of a budget that is tried out, only what would be built for it."""
    if view.as_of is not None:
        return tuple(_prompt(view))
    if view.trial is not None:
        return (*_built_now(view), *_prompt(view))
    return (*_written(view), *_recounted(view), *_built_now(view), *_prompt(view), *_whole_history(view))


def segment_name(item: PackItem) -> str:
    """Source and range of an item in one line; where something stands tells what it is."""
    if item.source is None:
        return item.kind or f"item {item.index + 1}"
    return _named(item.source, item.range)


def is_stale(view: View, item: PackItem) -> bool:
    """Whether pack.md shows an item otherwise than its source is now."""
    section, content = view.sections.get(item.source or ""), view.content(item)
    if section is None or content is None:
        return False
    return not same_text(section.body, content)


def _written(view: View) -> Iterator[Budget]:
    items = view.look.session.pack.items
    if not items:
        return
    estimator = view.profile.pack.estimator or "as written"
    segments = tuple(
        Segment(
            f"{segment_name(item)}{' (stale)' if is_stale(view, item) else ''}",
            item.tokens,
            None,
            False,
            estimator,
        )
        for item in items
        if item.tokens is not None
    )
    yield _budget("pack as written", "tokens", view, segments)


def _recounted(view: View) -> Iterator[Budget]:
    """Each item by the profile's estimate and by the counter that was asked for."""
    contents = [(item, view.content(item)) for item in view.look.session.pack.items]
    found = [(item, content, meaning_of(content)) for item, content in contents if content is not None]
    if not found:
        return
    if view.profile.pack.estimator is not None:
        words = tuple(
            Segment(
                segment_name(item),
                estimate(content, view.profile) or 0,
                None,
                False,
                view.profile.pack.estimator,
                meaning,
            )
            for item, content, meaning in found
        )
        yield _budget("pack now", view.profile.pack.estimator, view, words)
    counted = tuple(
        Segment(segment_name(item), tokens, None, view.counter.exact, view.counter.name, meaning)
        for item, content, meaning in found
        if (tokens := view.tokens(content)) is not None
    )
    yield _budget("pack now", f"tokens ({view.counter.name})", view, counted)


def _built_now(view: View) -> Iterator[Budget]:
    """What the builder would take for the budget there is, with what it would leave out."""
    estimator, choices = view.profile.pack.estimator, view.rebuilt
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
    yield replace(_budget(target, estimator, view, segments), cut=sum(left_out))


def _prompt(view: View) -> Iterator[Budget]:
    limit = view.profile.limits.prompt_history
    if limit is None:
        return
    shown = [each.line for each in prompt_view(view.recent, view.profile) if each.visible]
    used = sum(prompt_bytes(line) for line in shown) + max(0, len(shown) - 1)
    segment = Segment(f"{len(shown)} messages", used, limit, True, None)
    yield Budget("prompt history", "bytes", limit, used, None, (segment,))


def _whole_history(view: View) -> Iterator[Budget]:
    """All that was ever said, by who said it: no window has to hold it, so there is no limit."""
    if not view.history:
        return
    segments = tuple(
        Segment(
            f"{each.role}, {counted(each.messages, 'message')}",
            each.tokens,
            None,
            each.exact,
            view.counter.name,
        )
        for each in view.history
    )
    total = sum(segment.used for segment in segments)
    yield Budget("whole history", f"tokens ({view.counter.name})", None, total, None, segments)


def _budget(target: str, unit: str, view: View, segments: Sequence[Segment]) -> Budget:
    limit = view.budget or None
    return Budget(target, unit, limit, sum(each.used for each in segments), None, tuple(segments))


def _named(source: str, part: str | None) -> str:
    return " ".join(filter(None, (source.removeprefix("context/"), part)))
