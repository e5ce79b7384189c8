"""The rules about injections: what became visible, to whom, and where (ENV057 to ENV061).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.analysis.wording import counted, listed, shown
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.fates import Fate, fates
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.our_words import POINT_TARGETS
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookup import called, ids, named
from ctxview.formats.envelope.vocabulary import TARGETS, Kind


@rule("ENV057", name="injection-of-nothing", severity=Severity.ERROR)
def injection_of_nothing(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """An injection names an assembly that does not exist.

    ## Why
    What was shown can then not be told: an item counts as injected only through injection, assembly and
    block. A record that is opened all by itself is not judged: its assembly may lie elsewhere.
    ## Bad
    injection-model.assembly_id = "assembly-lost"
    ## Good
    injection-model.assembly_id = "assembly-model"
    ## Fix
    Add the assembly to the bundle, or correct the id.
    ## Source
    Agent Context draft, context_injection: `assembly_id`.
    """
    if dossier.envelope is None and not dossier.of(Kind.ASSEMBLY):
        return
    for injection in dossier.of(Kind.INJECTION):
        name = injection.text("assembly_id")
        if name is not None and dossier.named(Kind.ASSEMBLY, name) is None:
            message = (
                f"the injection {called(injection)} names the assembly {shown(name)}, which is not there"
            )
            yield Hit(injection.origin("assembly_id"), message)


@rule("ENV058", name="wider-than-assembled", severity=Severity.ERROR)
def wider_than_assembled(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
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
    for injection in dossier.of(Kind.INJECTION):
        assembly = dossier.named(Kind.ASSEMBLY, injection.text("assembly_id"))
        if assembly is None:
            continue
        target, made_for = injection.text("target"), assembly.text("target")
        if target is not None and made_for is not None and target != made_for:
            message = f"the injection {called(injection)} is for {shown(target)}"
            yield Hit(
                injection.origin("target"),
                f"{message}, but {called(assembly)} was made for {shown(made_for)}",
            )
        if not isinstance(assembly.value.get("visibility"), list):
            continue
        allowed = assembly.texts("visibility")
        if wider := [each for each in injection.texts("visibility") if each not in allowed]:
            message = f"the injection {called(injection)} is visible to {listed(wider)}"
            yield Hit(injection.origin("visibility"), f"{message}, but {called(assembly)} is not")


@rule("ENV059", name="unfitting-point", severity=Severity.WARNING)
def unfitting_point(record: Record, profile: Profile) -> Iterator[Hit]:
    """Context was put at a point that its target does not read.

    ## Why
    The model reads prompts and messages, a tool its arguments and resources, people a panel. At any other
    point the target does not see it, or somebody else does. Points and targets that the draft does not
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
    if record.kind is not Kind.INJECTION or target not in TARGETS:
        return
    readers = POINT_TARGETS.get(point or "")
    if readers is not None and target not in readers:
        message = (
            f"{point} is read by {' or '.join(readers)}, but the injection {called(record)} is for {target}"
        )
        yield Hit(record.origin("injection_point"), message)


@rule("ENV060", name="selected-not-shown", severity=Severity.INFO)
def selected_not_shown(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """Items were selected and no injection showed them to anybody.

    ## Why
    Selected is not injected: only injection records say what became visible. These items were chosen and
    then did not arrive, which may be right and is worth knowing. Items whose summary arrived instead, or
    that another selection left out, are explained. Where nothing was injected yet, nothing is said.
    ## Bad
    assembly-model.ordered_blocks[2].item_refs = ["item-goal"]
    ## Good
    assembly-model.ordered_blocks[0].item_refs = ["summary-1", "item-goal"]
    ## Fix
    Nothing, if they were meant to stay behind; else look at what the assembly left out.
    ## Source
    Agent Context draft, assembly contract: selection does not imply injection.
    """
    if not dossier.of(Kind.INJECTION):
        return
    found = fates(dossier)
    for selection in dossier.of(Kind.SELECTION):
        unseen = [
            each
            for name in ids(selection.refs("selected_item_refs"))
            if (each := found.get(name)) and not each.injected and not _explained(found, each, selection)
        ]
        if unseen:
            names = listed(_how_far(each) for each in unseen)
            message = f"{counted(len(unseen), 'item')} of {called(selection)} reached nobody: {names}"
            yield Hit(selection.origin("selected_item_refs"), message)


@rule("ENV061", name="tool-only", severity=Severity.WARNING)
def tool_only(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """What only a tool may see was injected for the model, or was selected and reached no tool.

    ## Why
    Context for a tool has an injection of its own; the model gets the tool's result, not the tool's
    context. Where nothing was injected yet, nothing is known.
    ## Bad
    injection-tool.target = "model"
    ## Good
    item-log.visibility = ["tool", "model"]
    ## Fix
    Make an assembly and an injection for the tool, and take the item out of the model's.
    ## Source
    Agent Context draft, acceptance scenario 4 and compatibility list, point 5.
    """
    if not dossier.of(Kind.INJECTION):
        return
    for fate in fates(dossier).values():
        item = fate.item
        if item is None or item.value.get("visibility") != ["tool"]:
            continue
        for shown_by in fate.injected:
            if shown_by.target == "model":
                message = f"{named(item)} is for tools alone, but was shown to the model"
                yield Hit(item.origin("visibility"), f"{message} by {called(shown_by.injection)}")
        if fate.selected_by and all(each.target != "tool" for each in fate.injected):
            message = (
                f"{named(item)} is for tools alone and was selected, but no injection brings it to a tool"
            )
            yield Hit(item.origin("visibility"), message)


def _explained(found: Mapping[str, Fate], fate: Fate, selection: Record) -> bool:
    """Its summary arrived in its place, or another selection says why it did not."""
    if any(each.selection is not selection for each in fate.omitted):
        return True
    summaries = (name for each in fate.compacted_into for name in ids(each.refs("summary_ref")))
    return any(found[name].injected for name in summaries if name in found)


def _how_far(fate: Fate) -> str:
    targets = listed(dict.fromkeys(each.target for each in fate.assembled))
    return f"{shown(fate.id)} (only assembled for {targets})" if targets else shown(fate.id)
