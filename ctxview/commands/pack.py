"""`ctxview pack SESSION`: builds the context pack and says why each candidate is in or out.

Exit 0 all that can be packed is in, 1 something was left out for the budget, 2 trouble.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ctxview.analysis.tokens import COUNTERS, counter_named
from ctxview.commands.session_work import Opened, add_session, opened_session, written_as_json
from ctxview.commands.trouble import Trouble, complain
from ctxview.origin import JsonValue

if TYPE_CHECKING:
    from ctxview.formats.session.derived import Wrote
    from ctxview.formats.session.pack import PackPlan

FORM = """
The builder offers its sources in a fixed order, skips blank ones, and takes
whatever still fits. Exit 0 all of them are in, 1 some do not fit the budget, 2
trouble.
"""


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{FORM}"
    add_session(parser)
    parser.add_argument(
        "--budget", metavar="N", type=_unsigned, help="tokens; 0 means no limit (default: context/budget)"
    )
    parser.add_argument(
        "--tokens",
        metavar="HOW",
        choices=COUNTERS,
        help=f"count by {', '.join(COUNTERS)} (default: the runtime's own)",
    )
    parser.add_argument(
        "--recent", metavar="N", type=_unsigned, help="how many messages to offer (default: 40)"
    )
    parser.add_argument("--write", action="store_true", help="write context/pack.json and pack.md")
    parser.add_argument(
        "--anyway", action="store_true", help="write even where the runtime's builder would abort"
    )


def run(arguments: Namespace) -> int:
    from ctxview.formats.session.pack import offers, plan_pack

    opened = opened_session(arguments)
    counter = counter_named(arguments.tokens) if arguments.tokens else None
    offered = offers(
        opened.session, opened.history.messages, opened.profile, counter, recent=arguments.recent
    )
    plan = plan_pack(offered, opened.session.budget if arguments.budget is None else arguments.budget)
    wrote = _write(opened, plan, arguments.anyway) if arguments.write else []
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(_as_json(opened, plan, wrote)))
    else:
        from ctxview.commands.pack_text import pack_lines
        from ctxview.reports.console import console_for, tell

        tell(pack_lines(opened.session, plan, wrote, console_for()))
    return 1 if plan.left_out else 0


def _write(opened: Opened, plan: PackPlan, anyway: bool) -> list[Wrote]:
    from ctxview.formats.session.derived import NotWritten, write_derived
    from ctxview.formats.session.pack import pack_json, pack_markdown

    if plan.aborts and not anyway:
        raise Trouble(f"nothing was written, the runtime would abort: {plan.aborts[0]} (--anyway writes it)")
    session = opened.session
    contents = {
        "context/pack.json": pack_json(session, plan),
        "context/pack.md": pack_markdown(session, plan, opened.profile),
    }
    wrote = []
    try:
        for name, content in contents.items():
            wrote.append(write_derived(session.folder, name, content, session.part(name).data))
    except NotWritten as error:
        raise Trouble(f"{session.folder.root}: {error}") from None
    for each in wrote:
        if each.warning:
            complain(f"note: {each.name}: {each.warning}")
    return wrote


def _as_json(opened: Opened, plan: PackPlan, wrote: list[Wrote]) -> JsonValue:
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


def _unsigned(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError(text)
    return int(text)
