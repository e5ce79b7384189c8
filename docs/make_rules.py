"""Write `rules.md` in this folder from the registry of rules. Run it from a checkout after changing a rule:

.venv/bin/python -m docs.make_rules
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ctxview.core.findings import Effect, Rule
from ctxview.formats import all_rules, rule_families

FILE = Path(__file__).with_name("rules.md")

HEAD = """\
# Rules

<!-- Made by docs/make_rules.py from the code; change the docstring of the rule instead. -->

All {count} rules of `ctxview check` and the inspector, in {families} families. `ctxview rules ID` explains
one of them in the terminal; `--select` and `--ignore` of `ctxview check` take ids or prefixes (`SNP`,
`SNP02`, `SNP021`).

**Severity** is how bad it is: `error` means that something is lost, refused or leaks, `warning` that it
probably is not what was meant, `info` that it is worth knowing. A single finding may be worse or milder than
its rule usually is. **Effect** is what a runtime does about it; a dash means no visible effect.

| effect | what happens |
| --- | --- |
{effects}

**Bad** and **good** are examples that the tests run: the rule reports the bad one and not the good one. (Only
ENV008 and ENV071 are about something that no file can show.) Where an example is not a whole file, its lines
are changes to a valid one: `a.b = …` sets a value, `(absent)` removes it, `+=` adds one more of its kind.
`---` separates two things that are compared, or two files.
"""

EFFECTS = {
    Effect.REJECTED: "the whole file, reply or record is refused",
    Effect.DROPPED: "this part is left out",
    Effect.DELETED: "the stored content is gone",
    Effect.WIPED: "a whole tier is erased",
    Effect.HIDDEN: "it stays stored, and the model is not shown it",
    Effect.TRUNCATED: "it is cut to what is allowed",
    Effect.REPAIRED: "it is corrected, perhaps not as intended",
    Effect.RESTORED: "the old value is restored",
    Effect.REOPENED: "a finished item is open again",
    Effect.IGNORED: "it is not read",
    Effect.LEAKED: "anyone who reads the file learns it",
    Effect.STORED: "it is taken and stored as it is",
}

_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([\\*<\[\]|])")


def text() -> str:
    """The whole page."""
    rules = all_rules()
    families = [(name, list(group)) for name, group in groupby(rules, key=lambda rule: rule.family)]
    effects = "\n".join(f"| {effect.value} | {meaning} |" for effect, meaning in EFFECTS.items())
    head = HEAD.format(count=len(rules), families=len(families), effects=effects)
    return "\n".join([head, *_index(families), *(line for each in families for line in _family(*each))])


def _index(families: Sequence[tuple[str, Sequence[Rule]]]) -> Iterator[str]:
    yield "| family | about | rules |"
    yield "| --- | --- | --- |"
    for name, rules in families:
        yield f"| [{name}](#{name.lower()}) | {rule_families()[name]} | {len(rules)} |"
    yield ""


def _family(name: str, rules: Sequence[Rule]) -> Iterator[str]:
    yield f"## {name}\n"
    title = rule_families()[name]
    yield f"{title[:1].upper()}{title[1:]}.\n"
    yield "| rule | name | severity | effect | finds |"
    yield "| --- | --- | --- | --- | --- |"
    for rule in rules:
        link, finds = f"[{rule.id}](#{rule.id.lower()})", _line(rule.explanation.summary)
        yield f"| {link} | {rule.name} | {rule.severity} | {_effect(rule)} | {finds} |"
    yield ""
    for rule in rules:
        yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[str]:
    about = rule.explanation
    yield f"### {rule.id}\n"
    yield f"**{rule.name}** · {rule.severity} · {_effect(rule)}\n"
    yield f"{_prose(about.summary)}\n"
    yield f"{_prose(about.why)}\n"
    yield f"Bad:\n\n{_fenced(about.bad)}\n"
    yield f"Good:\n\n{_fenced(about.good)}\n"
    yield f"**Fix.** {_prose(about.fix)}\n"
    yield f"**Source.** {_prose(about.source)}\n"


def _effect(rule: Rule) -> str:
    return "—" if rule.effect is Effect.NONE else rule.effect.value


def _prose(text: str) -> str:
    """Escape Markdown except code in backticks."""
    return "".join(part if part.startswith("`") else _MARKUP.sub(r"\\\1", part) for part in _CODE.split(text))


def _line(text: str) -> str:
    """A cell of a table: one line, with escaped bars, also in code."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(_prose(text).split()))


def _fenced(example: str) -> str:
    fence = "~~~~" if "```" in example else "```"
    return f"{fence}text\n{example}\n{fence}"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
