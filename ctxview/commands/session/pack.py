"""`ctxview pack SESSION`: build the context pack and say why each candidate is in or out.

Exit 0 every item fits, 1 an item does not fit the budget, 2 error.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from ctxview.analysis.tokens import COUNTERS, counter_named
from ctxview.commands.arguments import unsigned_integer
from ctxview.commands.session import (
    OpenedSession,
    add_session_arguments,
    counted_unit,
    open_session,
    written_as_json,
)
from ctxview.core.origin import JsonValue
from ctxview.files.line_file import never_cancelled
from ctxview.files.visible_text import visible
from ctxview.formats.session.model import Session
from ctxview.formats.session.pack_builder import PackPlan
from ctxview.formats.session.pack_candidates import PackDecision
from ctxview.formats.session.store.derived_files import WrittenFile
from ctxview.reports.console import Console, Style, UserError, print_error
from ctxview.reports.table import Cell, Column, reason_lines, short_name

DESCRIPTION = """
The builder goes through its sources in a fixed order, skips blank ones, and
takes each one that still fits. Exit 0 all fit, 1 some do not fit the budget, 2
error.
"""
COLUMNS = (Column(), Column("kind"), Column("tokens", right=True), Column("source", most=60))


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    add_session_arguments(parser)
    parser.add_argument(
        "--budget",
        metavar="N",
        type=unsigned_integer,
        help="token budget; 0 means unlimited (default: context/budget)",
    )
    parser.add_argument(
        "--tokens",
        metavar="COUNTER",
        choices=COUNTERS,
        help=f"count tokens by {', '.join(COUNTERS)} (default: the runtime's own)",
    )
    parser.add_argument(
        "--recent",
        metavar="N",
        type=unsigned_integer,
        help="number of latest messages to offer (default: 40)",
    )
    parser.add_argument("--write", action="store_true", help="write context/pack.json and pack.md")
    parser.add_argument(
        "--anyway", action="store_true", help="write even where the runtime's builder would abort"
    )


def run(arguments: Namespace) -> int:
    from ctxview.formats.session.pack_builder import pack_offers, plan_pack

    opened = open_session(arguments)
    opened.history.messages.index(never_cancelled)
    counter = counter_named(arguments.tokens) if arguments.tokens else None
    offered = pack_offers(
        opened.session, opened.history.messages, opened.profile, counter, recent=arguments.recent
    )
    plan = plan_pack(offered, opened.session.budget if arguments.budget is None else arguments.budget)
    if arguments.write and plan.unreadable is not None:
        raise UserError(f"{arguments.session}: nothing was written: {plan.unreadable}")
    wrote = _write(opened, plan, arguments.anyway) if arguments.write else []
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(_as_json(opened, plan, wrote)))
    else:
        from ctxview.reports.console import console_for, print_masked

        print_masked(pack_lines(opened.session, plan, wrote, console_for()))
    if plan.unreadable is not None:
        print_error(f"{arguments.session}: the pack cannot be built: {plan.unreadable}")
        return 2
    return 1 if plan.left_out else 0


def _write(opened: OpenedSession, plan: PackPlan, anyway: bool) -> list[WrittenFile]:
    from ctxview.formats.session.pack_builder import pack_json, pack_markdown
    from ctxview.formats.session.store.derived_files import WriteFailed, write_derived

    if plan.aborts and not anyway:
        raise UserError(
            f"nothing was written, because the runtime would abort: {plan.aborts[0]} (--anyway writes it)"
        )
    session = opened.session
    contents = {
        "context/pack.json": pack_json(session, plan),
        "context/pack.md": pack_markdown(session, plan, opened.profile),
    }
    wrote = []
    try:
        for name, content in contents.items():
            wrote.append(write_derived(session.folder, name, content, session.part(name).data))
    except WriteFailed as error:
        raise UserError(f"{session.folder.root}: {error}") from None
    for each in wrote:
        if each.warning:
            print_error(f"note: {each.name}: {each.warning}")
    return wrote


def _as_json(opened: OpenedSession, plan: PackPlan, wrote: list[WrittenFile]) -> JsonValue:
    return {
        "session": opened.session.name,
        "agent": opened.session.agent,
        "profile": opened.profile.name,
        "budget": plan.budget,
        "used": plan.used,
        "estimator": plan.counter,
        "exact": plan.exact,
        "items": [
            {
                "kind": each.offer.kind,
                "source": each.offer.source,
                "range": each.offer.range,
                "tokens": each.offer.tokens,
                "in": each.taken,
                "why": each.why,
            }
            for each in plan.items
        ],
        "aborts": list(plan.aborts),
        "written": written_as_json(wrote),
    }


def pack_lines(
    session: Session, plan: PackPlan, wrote: Sequence[WrittenFile], console: Console
) -> Iterator[str]:
    unit = counted_unit(plan.counter, exact=plan.exact)
    limit = f"of {plan.budget:,} " if plan.budget else ""
    yield f"{console.paint(visible(session.title), Style.STRONG)}  {plan.used:,} {limit}{unit}"
    columns = (*COLUMNS[:2], Column(unit.partition(" ")[0], right=True), COLUMNS[3])
    yield from reason_lines(columns, [(_cells(each), each.why) for each in plan.items], console)
    for abort in plan.aborts:
        yield f"{console.paint('the runtime would not build this pack', Style.BAD)}: {visible(abort)}"
    if plan.left_out:
        missing = plan.used + sum(each.tokens or 0 for each in plan.left_out) - (plan.budget or 0)
        yield f"{len(plan.left_out)} left out; all would fit with {missing:,} more {unit.partition(' ')[0]}"
    if session.budget != plan.budget and wrote:
        yield "note: the pack was built for another budget than the one in context/budget (ABI032)"
    yield from (f"{each.action.value} {visible(each.name)}" for each in wrote)


def _cells(decision: PackDecision) -> tuple[Cell, Cell, Cell, Cell]:
    offer = decision.offer
    mark = (
        Cell("in", Style.GOOD)
        if decision.taken
        else Cell("out", Style.WARNING if decision.over_budget else Style.QUIET)
    )
    tokens = f"{offer.tokens:,}" if offer.tokens else ""
    source = short_name(offer.source)
    return mark, Cell(offer.kind), Cell(tokens), Cell(f"{source} {offer.range}" if offer.range else source)
