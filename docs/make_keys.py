"""Write `keys.md` in this folder from the table of actions. Run it from a checkout after a change:

.venv/bin/python -m docs.make_keys

The tasks below are driven key by key by `tests/tui/test_common_tasks.py`, so that their counts are true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxview.tui.configured_keys import spell_key
from ctxview.tui.model.action_table import GROUPS, Action
from ctxview.tui.model.query import FLAGS, NUMBERS, WORDS

FILE = Path(__file__).with_name("keys.md")
ROUND_9 = "snapshot/lighthouse/round-09.received.json"


@dataclass(frozen=True, slots=True)
class Task:
    """A common task, from the moment a sample is open; steps in quotes are typed."""

    id: str
    title: str
    sample: str
    steps: tuple[str, ...]

    @property
    def presses(self) -> list[str]:
        """Every single key."""
        return [key for step in self.steps for key in (step.strip('"') if step.startswith('"') else (step,))]


TASKS = (
    Task("next_finding", "Go to the first finding, with its explanation", ROUND_9, ("F8",)),
    Task("why_hidden", "See what the model is not shown, and why", ROUND_9, ("f", '"hidden"', "Enter")),
    Task("origin", "See the bytes behind the selected block", ROUND_9, ("o",)),
    Task("what_changed", "See what changed since the previous revision", "snapshot/lighthouse", ("d",)),
    Task("search", "Find a word anywhere", ROUND_9, ("/", '"replica"', "Enter")),
    Task(
        "edit",
        "Change the confidence of the selected block and save it",
        ROUND_9,
        ("e", "Tab", "Tab", "Tab", '"0.8"', "Ctrl-s", "w", "Enter"),
    ),
    Task("worst_gap", "Go to the blocking gap, and see what it blocks", "envelope/handoff", ("6",)),
    Task("budget", "Try another budget", "session/coder", ("b", '"1000"', "Enter")),
    Task("skyline", "See the window over time", ROUND_9, ("T",)),
    Task("help", "See every key", ROUND_9, ("?",)),
)

HEAD = """\
# Keys

<!-- Made by docs/make_keys.py from the table of actions; change that table instead. -->

`?` shows all of this in the inspector, `:` finds a command by its name. The mouse does the same: click a row,
a tab, a column's head, a column of the Skyline, a word of the key bar.

## The ten commonest tasks

Every key press counts, from the moment the sample is open. The tests press exactly these keys.

| task | keys | presses |
| --- | --- | --- |
"""

DIALOGS = """\
## Keys of your own

The config file (`ctxview config` says where it is) may give any command other keys, by its name in the tables
above. Separate several keys by commas. An unknown action, or a key for two actions, is an error when the
inspector starts.

```toml
[keys]
next_finding = "f8,ctrl+n"
copy = "ctrl+y"
```

## In dialogs

| where | keys |
| --- | --- |
| a form | `Tab` and `Shift-Tab` go from field to field, `Ctrl-s` applies, `Esc` leaves |
| a number, a choice | `↑` `↓` or `+` `-` change a number, `←` `→` a choice |
| before a save | `y` or `Enter` saves, `n` or `Esc` goes back; rows move as everywhere |
| a file that changed meanwhile | `1` keeps your draft, `2` takes theirs, `3` applies your edits to theirs |
| a difference | `Enter` goes to the item of a line, `Tab` to the next group, `v` side by side, `Esc` back |
| a search or a filter | `Enter` accepts it, `Tab` completes, `Esc` cancels |

## The filter

`f` shows only some blocks. All words must match; `a,b` means either, a leading `!` means not.

| word | meaning |
| --- | --- |
"""


def text() -> str:
    """The text of the page."""
    tasks = "".join(f"| {task.title} | {_spelled(task)} | {len(task.presses)} |\n" for task in TASKS)
    return "\n".join([HEAD + tasks, *_groups(), DIALOGS + "".join(_filter())])


def _spelled(task: Task) -> str:
    return " ".join(f"`{step.strip(chr(34))}`" for step in task.steps)


def _groups() -> Iterator[str]:
    for group, commands in GROUPS.items():
        yield f"## {group}\n"
        yield "| key | name | does |"
        yield "| --- | --- | --- |"
        for command in commands:
            yield f"| {_keys(command)} | {command.id} | {_cell(command.help)} |"
        yield ""


def _keys(command: Action) -> str:
    """The keys that people read first, then the others."""
    return _codes(dict.fromkeys([*command.key_text.split(), *map(spell_key, command.keys.split(","))]))


def _filter() -> Iterator[str]:
    meaning = "blocks that are `changed` since the previous view, `flagged` by a finding, and so on"
    yield f"| {_codes(FLAGS)} | {meaning} |\n"
    contains = "blocks whose value contains the word; `shown:user` is what the user is shown"
    yield f"| {_codes(f'{word}:' for word in WORDS)} | {contains} |\n"
    yield f"| {_codes(NUMBERS)} | compared by `>` `>=` `<` `<=` `=`, as in `decay>0.5` |\n"
    yield '| `"some text"` | in the id, the type, a tag or the text; a bare word does the same |\n'


def _codes(words: Iterable[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
