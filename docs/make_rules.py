"""Writes `rules.md` in this folder from the registry of rules. Run it from a checkout after changing a rule:

.venv/bin/python -m docs.make_rules
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ctxview.findings import Effect, Rule
from ctxview.formats import all_rules, rule_families

FILE = Path(__file__).with_name("rules.md")

HEAD = """\
# Rules

<!-- Made by docs/make_rules.py from the code; change the docstring of the rule instead. -->

Everything `ctxview check` and the inspector can say: {count} rules in {families} families. `ctxview rules ID`
prints one of them in the terminal; `--select` and `--ignore` of `ctxview check` take ids or their beginnings
(`SNP`, `SNP02`, `SNP021`).

**Severity** is how bad it is: `error` means that something is lost, refused or leaks, `warning` that it
probably is not what was meant, `info` that it is worth knowing. A single finding may be worse or milder than
its rule usually is. **Effect** is what a runtime does about it; a dash means nothing that one would notice.

| effect | what happens |
| --- | --- |
{effects}

**Bad** and **good** are examples that the tests run: the bad one makes the rule speak, the good one leaves it
silent. (Only ENV008 and ENV071 ask for something that no file can show.) Where an example is not a whole
file, its lines are changes to a sound one: `a.b = …` sets a value, `(absent)` takes it away, `+=` adds one
more of its kind. `---` stands between two things that are compared, or between two files.
"""

EFFECTS = {
    Effect.REJECTED: "the whole file, reply or record is refused",
    Effect.DROPPED: "this part is left out",
    Effect.DELETED: "what was stored is gone",
    Effect.WIPED: "a whole tier is erased",
    Effect.HIDDEN: "it stays stored, and the model is not shown it",
    Effect.TRUNCATED: "it is cut to what is allowed",
    Effect.REPAIRED: "it is put right, which may not be what was meant",
    Effect.RESTORED: "the old value is put back",
    Effect.REOPENED: "what was finished is open again",
    Effect.IGNORED: "nobody reads it",
    Effect.LEAKED: "whoever reads the file learns it",
    Effect.STORED: "it is taken as it stands, and kept",
}

_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([\\*<\[\]|])")


def text() -> str:
    """The whole page."""
    rules = all_rules()
    families = [(name, list(group)) for name, group in groupby(rules, key=lambda rule: rule.family)]
    effects = "\n".join(f"| {effect.value} | {says} |" for effect, says in EFFECTS.items())
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
    told = rule.explanation
    yield f"### {rule.id}\n"
    yield f"**{rule.name}** · {rule.severity} · {_effect(rule)}\n"
    yield f"{_prose(told.summary)}\n"
    yield f"{_prose(told.why)}\n"
    yield f"Bad:\n\n{_fenced(told.bad)}\n"
    yield f"Good:\n\n{_fenced(told.good)}\n"
    yield f"**Fix.** {_prose(told.fix)}\n"
    yield f"**Source.** {_prose(told.source)}\n"


def _effect(rule: Rule) -> str:
    return "—" if rule.effect is Effect.NONE else rule.effect.value


def _prose(text: str) -> str:
    """Words as they are meant: nothing in them is markup but code in backticks."""
    return "".join(part if part.startswith("`") else _MARKUP.sub(r"\\\1", part) for part in _CODE.split(text))


def _line(text: str) -> str:
    """A cell of a table: one line, and no bar that would end it, in code neither."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(_prose(text).split()))


def _fenced(example: str) -> str:
    fence = "~~~~" if "```" in example else "```"
    return f"{fence}text\n{example}\n{fence}"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
