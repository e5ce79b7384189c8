"""The one table of commands: it makes the key bindings, the key bar, the help screen and the palette.

What a command does is the function of its name in the module of its group (`ctxview.tui.acts`), loaded
when it is first used.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from enum import StrEnum
from typing import ClassVar

from textual.binding import Binding

from ctxview.quick_dataclass import dataclass
from ctxview.tui.layout import Pane


class Need(StrEnum):
    """What must be so for a command to be worth offering in the key bar."""

    REVISIONS = "more than one revision"
    FINDINGS = "a finding"
    DRAFT = "an unsaved change"
    WRITABLE = "something that may be edited"
    PROFILES = "more than one profile"
    EDITORS = "more than one who may edit"
    HITS = "a search that found something"
    PAST = "something after what is shown"
    PLAYER = "a player that is on"
    PLAYING = "revisions that go by"
    MESSAGES = "messages, of which more may come"


class Group(StrEnum):
    """Headings of the help screen; the name in lower case is the module in `acts`."""

    MOVING = "Moving"
    ARRANGING = "Arranging"
    LOOKING = "Looking"
    PLAYING = "Playing"
    FINDING = "Finding"
    EDITING = "Editing"
    ELSEWHERE = "Everything else"


@dataclass(frozen=True, slots=True)
class Command:
    """`keys` as the toolkit spells them, `shown` as people read them; `bar` is its rank in the key bar."""

    id: str
    keys: str
    shown: str
    label: str
    help: str
    bar: int = 0
    need: Need | None = None


ENTER = "Into the detail; from a finding to what it is about; along the way from a record"

FOLLOW = "Keep to the last message; scrolling up lets go, G follows again"

GROUPS: Mapping[Group, tuple[Command, ...]] = {
    Group.MOVING: (
        Command("down", "j,down", "j ↓", "down", "Next row"),
        Command("up", "k,up", "k ↑", "up", "Previous row"),
        Command("half_down", "ctrl+d", "Ctrl-d", "half down", "Half a screen down"),
        Command("half_up", "ctrl+u", "Ctrl-u", "half up", "Half a screen up"),
        Command("page_down", "pagedown,ctrl+f", "PgDn", "page down", "One screen down"),
        Command("page_up", "pageup,ctrl+b", "PgUp", "page up", "One screen up"),
        Command("first", "g", "g", "first", "First row"),
        Command("last", "G", "G", "last", "Last row"),
        Command("home", "home", "Home", "first of all", "First row; after [ or ] the first revision"),
        Command("end", "end", "End", "last of all", "Last row; after [ or ] the latest revision"),
        Command("left", "h,left", "h ←", "left", "The pane, or the stage, to the left; closes a branch"),
        Command("right", "l,right", "l →", "right", "The pane, or the stage, to the right; opens a branch"),
        Command("next_pane", "tab", "Tab", "next pane", "Next pane"),
        Command("previous_pane", "shift+tab", "Shift-Tab", "previous pane", "Previous pane"),
        *(
            Command(
                f"pane_{pane.key.lower()}",
                pane.key,
                pane.key,
                f"go to {pane.lower()}",
                f"{pane}: {pane.about}" if pane.about else f"Go to {pane}",
            )
            for pane in Pane
        ),
        Command("enter", "enter", "Enter", "open", ENTER),
        Command(
            "came_from", "backspace", "Backspace", "came from", "Back along the way: to what led to this"
        ),
        Command("back", "escape", "Esc", "back", "Back: out of a search, a zoom, a jump, a filter"),
    ),
    Group.ARRANGING: (
        Command("zoom", "z", "z", "zoom", "The pane alone on the screen, and back"),
        Command("wider", "greater_than_sign,shift+right", "> Shift-→", "wider", "The pane wider"),
        Command("narrower", "less_than_sign,shift+left", "< Shift-←", "narrower", "The pane narrower"),
        Command("higher", "right_parenthesis,shift+down", ") Shift-↓", "higher", "The pane higher"),
        Command("lower", "left_parenthesis,shift+up", "( Shift-↑", "lower", "The pane lower"),
        Command("sources_list", "H", "H", "list of sources", "The sources beside the panes, or as a tab"),
        Command("reset_layout", "Z", "Z", "reset layout", "All panes as large as they were at first"),
    ),
    Group.LOOKING: (
        Command("earlier", "left_square_bracket", "[", "earlier", "The revision before", 5, Need.REVISIONS),
        Command("later", "right_square_bracket", "]", "later", "The revision after"),
        Command("oldest", "left_curly_bracket,ctrl+home", "{ Ctrl-Home", "oldest", "The first revision"),
        Command(
            "newest",
            "right_curly_bracket,ctrl+end",
            "} Ctrl-End",
            "newest",
            "The latest revision, now",
            2,
            Need.PAST,
        ),
        Command("follow", "F", "F", "follow", FOLLOW, 10, Need.MESSAGES),
        Command("origin", "o", "o", "origin", "The very bytes in the file this comes from", 4),
        Command("links", "r", "r", "links", "What points to this, and where it points", 7),
        Command("diff", "d", "d", "diff", "What changed since the revision before, or in the draft", 6),
        Command("profile", "p", "p", "profile", "Judge by the next runtime profile", 8, Need.PROFILES),
        Command("budget", "b", "b", "budget", "What if the budget were another? Empty: the source's own"),
        Command(
            "sort", "s", "s", "sort", "Next order: file, model, quality, decay, confidence, age, tokens", 9
        ),
        Command("reverse", "S", "S", "reverse", "Turn the order around"),
    ),
    Group.PLAYING: (
        Command("play", "space", "Space", "play", "Let the revisions go by, or pause", 8, Need.REVISIONS),
        Command(
            "next_event", "full_stop", ".", "next event", "On to where something matters", 1, Need.PLAYER
        ),
        Command("previous_event", "comma", ",", "previous event", "Back to where something mattered"),
        Command("faster", "plus,equals_sign", "+", "faster", "Play faster", 2, Need.PLAYER),
        Command("slower", "minus", "-", "slower", "Play slower", 2, Need.PLAYER),
    ),
    Group.FINDING: (
        Command(
            "search", "slash", "/", "search", "Search in everything that is loaded, then in the history", 1
        ),
        Command("next_hit", "n", "n", "next hit", "Next hit, whichever pane it is in", 2, Need.HITS),
        Command("previous_hit", "N", "N", "previous hit", "Previous hit"),
        Command("filter", "f", "f", "filter", "Show only some blocks: tier:working hidden decay>0.5", 7),
        Command("next_finding", "f8", "]e F8", "next finding", "Next finding", 5, Need.FINDINGS),
        Command("previous_finding", "f7,shift+f8", "[e F7", "previous finding", "Previous finding"),
    ),
    Group.EDITING: (
        Command("edit", "e", "e", "edit", "Edit what the model may write here", 3, Need.WRITABLE),
        Command("add", "a", "a", "add", "Add a block to this tier", 10, Need.WRITABLE),
        Command("remove", "x", "x", "remove", "Remove this block"),
        Command("move", "m", "m", "move", "Move this block to another tier"),
        Command("editor", "E", "E", "edit as", "Choose in whose name you edit", 9, Need.EDITORS),
        Command("undo", "u", "u", "undo", "Undo the last change of the draft", 2, Need.DRAFT),
        Command("redo", "ctrl+r", "Ctrl-r", "redo", "Redo it"),
        Command("save", "w,ctrl+s", "w", "save", "Show the difference, then save", 1, Need.DRAFT),
    ),
    Group.ELSEWHERE: (
        Command("copy", "y", "y", "copy", "Copy what is selected", 11),
        Command("theme", "t", "t", "theme", "Next theme"),
        Command("palette", "colon,ctrl+p", ":", "commands", "All commands by name", 3),
        Command("tour", "f2", "F2", "tour", "Five steps through the inspector (also t in this help)"),
        Command("screenshot", "P", "P", "picture", "Write the screen as an SVG picture beside you"),
        Command("help", "question_mark,f1", "?", "help", "All keys, glyphs and the filter language", 2),
        Command("quit", "q", "q", "quit", "Back, or quit; asks when there are unsaved changes", 1),
    ),
}

COMMANDS: tuple[Command, ...] = tuple(command for group in GROUPS.values() for command in group)

BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}

MODULES: Mapping[str, str] = {
    command.id: group.name.lower() for group, each in GROUPS.items() for command in each
}
"""Where in `ctxview.tui.acts` a command is done."""

READING = frozenset(
    (
        *("down", "up", "half_down", "half_up", "page_down", "page_up", "first", "last", "home", "end"),
        "back",
        *("search", "next_hit", "previous_hit", "copy", "theme", "palette", "help", "quit"),
    )
)
"""The commands of a screen one only reads."""


def bindings(known: Container[str] = BY_ID) -> list[Binding]:
    """Key bindings for the commands a screen knows; each carries its id, so that it can be remapped.

    Where there is nothing to play, the key for it turns a page.
    """
    bound = [
        Binding(each.keys, f"command('{each.id}')", each.label, show=False, id=each.id, tooltip=each.help)
        for each in COMMANDS
        if each.id in known
    ]
    return bound if "play" in known else [*bound, Binding("space", "command('page_down')", show=False)]


STEPS = frozenset(("earlier", "later", "oldest", "newest"))
"""The commands that go from revision to revision."""
ENDS = frozenset(("home", "end"))
"""The commands that mean revisions where the one before did, and rows elsewhere."""


class Brackets:
    """`]` steps to the later revision, `]e` to the next finding: what to do with each command in turn.

    A bracket is held back until the next key or a short silence. Holding the key down still steps at full
    speed, since every bracket lets the one before it go. Slow fingers are understood too: where there was
    nothing to step to, an `e` is still the second half of `]e` for a moment.
    """

    JUMPS: ClassVar[Mapping[str, str]] = {"later": "next_finding", "earlier": "previous_finding"}
    PATIENCE = 0.35
    FORGIVENESS = 1.0

    def __init__(self) -> None:
        self._held: str | None = None
        self._let_go: str | None = None

    @property
    def waiting(self) -> float | None:
        """Seconds until a silence means something; None when it means nothing."""
        if self._held is not None:
            return self.PATIENCE
        return self.FORGIVENESS if self._let_go is not None else None

    def feed(self, command: str) -> Iterator[str]:
        """The commands to run now that `command` was given."""
        held, late = self._held, self._let_go
        self._held = self._let_go = None
        if command == "edit" and (bracket := held or late) is not None:
            yield self.JUMPS[bracket]
            return
        if held is not None:
            yield held
        if command in self.JUMPS:
            self._held = command
        else:
            yield command

    def silence(self) -> Iterator[str]:
        """The command to run when nothing followed in time."""
        held, self._held, self._let_go = self._held, None, self._held
        if held is not None:
            yield held

    def stepped(self) -> None:
        """The bracket led somewhere: whatever follows is about what is there."""
        self._let_go = None
