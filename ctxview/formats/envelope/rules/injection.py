"""Rules about injections: their assembly, targets and injection points (ENV057 to ENV061).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from ctxview.analysis.wording import counted, excerpt, listed
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.outcomes import (
    Outcome,
    injected_targets,
    injections_by_assembly,
    items_by_block,
    outcomes,
)
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookups import id_of, ids, label
from ctxview.formats.envelope.vocabulary import TARGETS, RecordKind
from ctxview.formats.envelope.word_lists import POINT_TARGETS


@rule("ENV057", name="injection-of-nothing", severity=Severity.ERROR)
def injection_of_nothing(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An injection names an assembly that does not exist.

    ## Why
    It is then unknown what was shown: an item counts as injected only through injection, assembly and
    block. A record that is opened by itself is not checked: its assembly may be elsewhere.
    ## Bad
    injection-model.assembly_id = "assembly-lost"
    ## Good
    injection-model.assembly_id = "assembly-model"
    ## Fix
    Add the assembly to the bundle, or correct the id.
    ## Source
    Agent Context draft, context_injection: `assembly_id`.
    """
    if records.envelope is None and not records.of(RecordKind.ASSEMBLY):
        return
    for injection in records.of(RecordKind.INJECTION):
        name = injection.text("assembly_id")
        if name is not None and records.named(RecordKind.ASSEMBLY, name) is None:
            message = (
                f"the injection {id_of(injection)} names the assembly {excerpt(name)}, which does not exist"
            )
            yield Hit(injection.origin("assembly_id"), message)


@rule("ENV058", name="wider-than-assembled", severity=Severity.ERROR)
def wider_than_assembled(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An injection shows an assembly to another target, or to more, than it was made for.

    ## Why
    An assembly is ordered, measured and redacted for one target. Shown to another, what that one must not
    see becomes visible. Where the assembly does not say who may see it, only the targets are compared.
    ## Bad
    injection-model.visibility = ["model", "user"]
    ## Good
    injection-model.visibility = []
    ## Fix
    Make an assembly for the other target, with its own redaction.
    ## Source
    Agent Context draft, compatibility list, point 5; the comparison is our inference.
    """
    for injection in records.of(RecordKind.INJECTION):
        assembly = records.named(RecordKind.ASSEMBLY, injection.text("assembly_id"))
        if assembly is None:
            continue
        target, made_for = injection.text("target"), assembly.text("target")
        if target is not None and made_for is not None and target != made_for:
            message = f"the injection {id_of(injection)} is for {excerpt(target)}"
            yield Hit(
                injection.origin("target"),
                f"{message}, but {id_of(assembly)} was made for {excerpt(made_for)}",
            )
        if not isinstance(assembly.value.get("visibility"), list):
            continue
        allowed = assembly.texts("visibility")
        if wider := [each for each in injection.texts("visibility") if each not in allowed]:
            message = f"the injection {id_of(injection)} is visible to {listed(wider)}"
            yield Hit(injection.origin("visibility"), f"{message}, but {id_of(assembly)} is not")


@rule("ENV059", name="unfitting-point", severity=Severity.WARNING)
def unfitting_point(record: Record, profile: Profile) -> Iterator[Hit]:
    """Context was put at a point that its target does not read.

    ## Why
    The model reads prompts and messages, a tool its arguments and resources, people a panel. At any other
    point the target does not see it, or another target does. Points and targets that the draft does not
    list are left alone, and so are `artifact_input` and `custom`.
    ## Bad
    injection-model.injection_point = "ui_panel"
    ## Good
    injection-model.injection_point = "system_prompt"
    ## Fix
    Correct the point or the target, whichever is not what happened.
    ## Source
    Agent Context draft, injection points; which fits which target is our inference.
    """
    point, target = record.text("injection_point"), record.text("target")
    if record.kind is not RecordKind.INJECTION or target not in TARGETS:
        return
    readers = POINT_TARGETS.get(point or "")
    if readers is not None and target not in readers:
        message = (
            f"{point} is read by {' or '.join(readers)}, but the injection {id_of(record)} is for {target}"
        )
        yield Hit(record.origin("injection_point"), message)


@rule("ENV060", name="selected-not-shown", severity=Severity.INFO)
def selected_not_shown(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """Items were selected and no injection showed them to any target.

    ## Why
    Selected is not injected: only injection records say what became visible. These items were chosen and
    then did not arrive, which may be right and is worth knowing. Items whose summary arrived instead, or
    that another selection left out, are explained. Where nothing was injected yet, nothing is reported.
    ## Bad
    assembly-model.ordered_blocks[2].item_refs = ["item-goal"]
    ## Good
    assembly-model.ordered_blocks[0].item_refs = ["summary-1", "item-goal"]
    ## Fix
    Nothing, if they were meant to stay behind; else look at what the assembly left out.
    ## Source
    Agent Context draft, assembly contract: selection does not imply injection.
    """
    if not records.of(RecordKind.INJECTION):
        return
    found = outcomes(records)
    for selection in records.of(RecordKind.SELECTION):
        unseen = [
            each
            for name in ids(selection.refs("selected_item_refs"))
            if (each := found.get(name)) and not each.injected and not _explained(found, each, selection)
        ]
        if unseen:
            names = listed(_how_far(each) for each in unseen)
            message = f"{counted(len(unseen), 'item')} of {id_of(selection)} reached no target: {names}"
            yield Hit(selection.origin("selected_item_refs"), message)


@rule("ENV061", name="tool-only", severity=Severity.WARNING)
def tool_only(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """What only a tool may see was injected for the model, or was selected and reached no tool.

    ## Why
    Context for a tool has an injection of its own; the model gets the tool's result, not the tool's
    context. Checked are items that a tool may see and the model may not, in the blocks and in the
    `source_item_refs` of an assembly. Where nothing was injected yet, nothing is known.
    ## Bad
    injection-tool.target = "model"
    ## Good
    item-log.visibility = ["tool", "model"]
    ## Fix
    Make an assembly and an injection for the tool, and take the item out of the model's.
    ## Source
    Agent Context draft, acceptance scenario 4 and compatibility list, point 5.
    """
    if not records.of(RecordKind.INJECTION):
        return
    shown: dict[str, dict[str, Record]] = {}
    for assembly, injections in injections_by_assembly(records).items():
        names = ids((*assembly.refs("source_item_refs"), *chain(*items_by_block(assembly).values())))
        for injection in injections:
            for target in injected_targets(injection, assembly):
                shown.setdefault(target, {}).update(dict.fromkeys(names, injection))
    for name, outcome in outcomes(records).items():
        item = outcome.item
        allowed = item.texts("visibility") if item is not None else ()
        if item is None or "tool" not in allowed or "model" in allowed:
            continue
        if (by := shown.get("model", {}).get(name)) is not None:
            message = f"{label(item)} is for tools and not for the model, but was shown to the model"
            yield Hit(item.origin("visibility"), f"{message} by {id_of(by)}")
        is_for_tools_alone = {*allowed} == {"tool"}
        if is_for_tools_alone and outcome.selected_by and name not in shown.get("tool", {}):
            message = (
                f"{label(item)} is for tools alone and was selected, but no injection brings it to a tool"
            )
            yield Hit(item.origin("visibility"), message)


def _explained(found: Mapping[str, Outcome], outcome: Outcome, selection: Record) -> bool:
    """Whether the summary of an item was injected, or another selection gives a reason for the omission."""
    if any(each.selection is not selection for each in outcome.omitted):
        return True
    summaries = (name for each in outcome.compacted_into for name in ids(each.refs("summary_ref")))
    return any(found[name].injected for name in summaries if name in found)


def _how_far(outcome: Outcome) -> str:
    targets = listed(dict.fromkeys(each.target for each in outcome.assembled))
    return f"{excerpt(outcome.id)} (only assembled for {targets})" if targets else excerpt(outcome.id)
