"""The rules about saved logs: their projection record and sizes (SNP036 to 041).

Each line of an example sets one member of a sound log; `(lite)` makes it a lite log.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from ctxview.analysis.wording import counted, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import all_values, same_value
from ctxview.formats.snapshot.model import TIERS, SavedLog, Snapshot, integer
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import was_trimmed
from ctxview.formats.snapshot.runtime.javascript import trim
from ctxview.formats.snapshot.runtime.normalisation import StoredBlock
from ctxview.formats.snapshot.runtime.projection import COUNTED_DROPS, project


@rule("SNP036", name="debug-round", severity=Severity.WARNING)
def debug_round(log: SavedLog, profile: Profile) -> Iterator[Hit]:
    """The projection record is of another round than the snapshot beside it.

    ## Why
    The counts and drops in the record then say nothing about this snapshot: the two were saved at different
    times.
    ## Bad
    projectionDebug.round = 2
    ## Good
    projectionDebug.round = 1
    ## Fix
    Save the log again; do not put logs together by hand.
    ## Source
    Log envelope of the runtime: `projectionDebug.round` is copied from `runtime.round`.
    """
    snapshot = log.stored or log.injected
    recorded = integer(log.debug.get("round"))
    if snapshot is None or recorded is None or snapshot.round is None or recorded == snapshot.round:
        return
    message = f"the projection record is of round {recorded}, the snapshot of round {snapshot.round}"
    yield Hit(log.origin(*log.debug_path, "round"), message)


@rule("SNP037", name="debug-counts", severity=Severity.WARNING)
def debug_counts(log: SavedLog, profile: Profile) -> Iterator[Hit]:
    """The recorded number of blocks of a tier is not the number in the file.

    ## Why
    The record counts everything in storage, invalid and duplicate blocks included, and everything injected.
    A difference means that blocks were added or removed after the record was made.
    ## Bad
    projectionDebug.rawCounts.core = 3
    ## Good
    projectionDebug.rawCounts.core = 1
    ## Fix
    Save the log again, and look at who edited it.
    ## Source
    Log envelope of the runtime: rawCounts and injectedCounts.
    """
    for name, snapshot in (("rawCounts", log.stored), ("injectedCounts", log.injected)):
        counts = log.debug.get(name)
        if snapshot is None or not isinstance(counts, dict):
            continue
        for tier in TIERS:
            recorded, actual = integer(counts.get(tier)), len(snapshot.tier(tier))
            if recorded is not None and recorded != actual:
                message = f"{name}.{tier} is {recorded}, but the file holds {counted(actual, 'block')}"
                yield Hit(log.origin(*log.debug_path, name, tier), message)


@rule("SNP038", name="debug-drops", severity=Severity.WARNING)
def debug_drops(log: SavedLog, profile: Profile) -> Iterator[Hit]:
    """More drops are recorded than blocks are missing from the injected copy.

    ## Why
    Every recorded drop is a block that storage has and the model does not. Fewer drops than missing blocks
    are normal, because copies of one id are collapsed without being counted; more are impossible.
    ## Bad
    projectionDebug.droppedByReason = {"threshold_decay": 1}
    ## Good
    projectionDebug.droppedByReason = {"threshold_decay": 0}
    ## Fix
    Save the log again.
    ## Source
    Log envelope of the runtime: raw minus injected is at least the sum of droppedByReason.
    """
    drops = log.debug.get("droppedByReason")
    raw, injected = (_sum(log.debug.get(name)) for name in ("rawCounts", "injectedCounts"))
    dropped = _sum(drops, tuple(str(reason) for reason in COUNTED_DROPS))
    if raw is None or injected is None or dropped is None or raw - injected >= dropped:
        return
    missing = f"of {raw} blocks {injected} are injected, so at most {max(0, raw - injected)} were dropped"
    yield Hit(log.origin(*log.debug_path, "droppedByReason"), f"{missing}, but {dropped} drops are recorded")


@rule("SNP039", name="projection-differs", severity=Severity.WARNING)
def projection_differs(log: SavedLog, profile: Profile) -> Iterator[Hit]:
    """What the model was shown does not follow from the stored snapshot.

    ## Why
    The projection follows fixed rules, so it can be computed again. A difference means that another version
    or configuration of the runtime made it, or that the file was edited. Blocks that the recorded budget
    stage trimmed are not missed. In a lite log, which has no stored snapshot, the model's copy must survive
    its own rules unchanged.
    ## Bad
    injectedContext.memory.core[0].content = "something else"
    ## Good
    injectedContext.memory.core[0].content = "长期核心记忆"
    ## Fix
    Choose the profile of the runtime that wrote the log; if that is right, compare the named blocks.
    ## Source
    Projection of the runtime: thresholds, ages, quality order and caps of the profile's tier table.
    """
    source = log.stored or log.injected
    if source is None or log.injected is None:
        return
    projection = project(source, profile)
    for tier in TIERS:
        wanted = [each.normal for each in projection.tier(tier).shown]
        if was_trimmed(source, tier, profile):
            left = {trim(block.id or "") for block in log.injected.tier(tier)}
            wanted = [normal for normal in wanted if normal.id in left]
        difference = _difference(wanted, log.injected, tier)
        if difference is not None:
            origin = log.origin(log.injected_key, "memory", tier)
            yield Hit(origin, f"{tier}: {difference} (profile {profile.name})")


@rule("SNP040", name="too-many-samples", severity=Severity.INFO)
def too_many_samples(log: SavedLog, profile: Profile) -> Iterator[Hit]:
    """More samples of dropped blocks are recorded than the runtime records.

    ## Why
    The runtime stops at five for each reason. More of them come from another tool or from a merge of logs.
    ## Bad
    projectionDebug.droppedSamples = {"threshold_decay": [1, 2, 3, 4, 5, 6]}
    ## Good
    projectionDebug.droppedSamples = {"threshold_decay": [1, 2, 3, 4, 5]}
    ## Fix
    Nothing to mend; know that the log is not as the runtime wrote it.
    ## Source
    Log envelope of the runtime: at most 5 droppedSamples for one reason.
    """
    samples, most = log.debug.get("droppedSamples"), profile.limits.dropped_samples
    if not isinstance(samples, dict) or most is None:
        return
    for reason, items in samples.items():
        if isinstance(items, list) and len(items) > most:
            message = f"{len(items)} samples for {quoted(reason)}; the runtime records {most}"
            yield Hit(log.origin(*log.debug_path, "droppedSamples", reason), message)


@rule("SNP041", name="recorded-size", severity=Severity.WARNING)
def recorded_size(log: SavedLog, profile: Profile) -> Iterator[Hit]:
    """The recorded size of a snapshot is not the size of its compact JSON.

    ## Why
    The runtime records the UTF-8 length of the JSON without spaces. Another number means that the snapshot
    was changed after the log was saved.
    ## Bad
    (lite)
    meta.modelContextBytes = 17
    ## Good
    (lite)
    meta.projectionDebug.round = 1
    ## Fix
    Save the log again, and look at who edited it.
    ## Source
    Lite log envelope of the runtime: rawContextBytes and modelContextBytes.
    """
    meta = log.value.get("meta")
    for name, snapshot in (("rawContextBytes", log.stored), ("modelContextBytes", log.injected)):
        recorded = integer(meta.get(name)) if isinstance(meta, dict) else None
        if recorded is None or snapshot is None:
            continue
        actual = compact_size(snapshot.value)
        if actual != recorded:
            message = f"{name} is {recorded}, but the compact JSON has {actual} bytes"
            yield Hit(log.origin("meta", name), message)


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EXPONENT = re.compile(r"e([+-])0*(\d+)$")


def compact_size(value: JsonValue) -> int:
    """Return how many bytes the compact JSON of `value` has."""
    size = 0
    for each in all_values(value):
        if isinstance(each, dict):
            # Braces, a colon for each member, commas between them.
            size += 2 + len(each) + max(0, len(each) - 1) + sum(_string_size(key) for key in each)
        elif isinstance(each, list):
            size += 2 + max(0, len(each) - 1)
        elif isinstance(each, str):
            size += _string_size(each)
        else:
            size += len(_plain(each))
    return size


def _string_size(text: str) -> int:
    written = json.dumps(text, ensure_ascii=False)
    return len(_LONE_SURROGATE.sub("\\\\udxxx", written).encode())


def _plain(value: float | None) -> str:
    """A number, boolean or null as JavaScript writes it."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    written = repr(number)  # The digits of JavaScript are those of Python, but not its exponents.
    if 1e-6 <= abs(number) < 1e-4:
        mantissa, _, exponent = written.partition("e-")  # such as 1.5e-05
        places = len(mantissa.partition(".")[2].rstrip("0")) + int(exponent)
        return f"{number:.{places}f}"
    return _EXPONENT.sub(lambda found: f"e{found[1]}{found[2]}", written)


def _sum(counts: JsonValue, keys: tuple[str, ...] = TIERS) -> int | None:
    if not isinstance(counts, dict):
        return None
    return sum(integer(counts.get(key)) or 0 for key in keys)


def _difference(wanted: list[StoredBlock], injected: Snapshot, tier: str) -> str | None:
    """Return the first difference between a tier and the expected blocks, or None."""
    found = injected.tier(tier)
    wanted_ids, found_ids = [block.id for block in wanted], [block.name for block in found]
    if missing := [name for name in wanted_ids if name not in set(found_ids)]:
        return f"{listed(missing)} should be shown"
    if surplus := [name for name in found_ids if name not in set(wanted_ids)]:
        return f"{listed(surplus)} should not be shown"
    if wanted_ids != found_ids:
        return f"the order should be {listed(wanted_ids, 6)}"
    for block, normal in zip(found, wanted, strict=True):
        for name, value in normal.value.items():
            if not same_value(block.members.get(name), value):
                return f"the {excerpt(name)} of {excerpt(normal.id)} should be {json_excerpt(value)}"
        if more := [name for name in block.members if name not in normal.value]:
            return f"{excerpt(normal.id)} should not have {listed(more)}"
    return None
