"""The table of actions, the source of the key bindings, the key bar, the help screen and the command line.

The function of an action has the action's id as its name and is in one of the modules of
`ctxview.tui.actions`, which are imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct

from ctxview.tui.model.layout import Pane


class ActionCondition(StrEnum):
    """The condition under which the key bar offers an action."""

    REVISIONS = "more than one revision"
    FINDINGS = "a finding"
    DRAFT = "an unsaved change"
    WRITABLE = "a writable field"
    PROFILES = "more than one profile"
    EDITORS = "more than one editor"
    HITS = "a search with hits"
    PAST = "a later revision"
    PLAYER = "an open replay"
    PLAYING = "a running replay"
    MESSAGES = "messages that may grow"
    LISTING = "a list of other sources"


class ActionGroup(StrEnum):
    """Headings of the help screen."""

    MOVING = "Moving"
    VIEWING = "Viewing"
    REPLAY = "Replay"
    SEARCH = "Searching"
    EDITING = "Editing"
    REVIEW = "Reviewing"
    GENERAL = "General"


class Action(Struct, frozen=True):
    """`keys` as the toolkit spells them, `key_text` as people read them; `bar` is the rank in the key bar."""

    id: str
    keys: str
    key_text: str
    label: str
    help: str
    bar: int = 0
    need: ActionCondition | None = None


PANE_ACTIONS: Mapping[str, Pane] = {f"pane_{pane.key.lower()}": pane for pane in Pane}
"""The actions that go to a pane; one function with an argument performs all of them."""

ENTER = "Open the detail; a finding leads to its item, a record to the next one"

FOLLOW = "Follow new messages; scrolling up pauses, G resumes"

COMMAND = "A command by name: an action, round 9, goto 5000, open PATH, why NAME, theme light, a block"

GROUPS: Mapping[ActionGroup, tuple[Action, ...]] = {
    ActionGroup.MOVING: (
        Action("down", "j,down", "j ↓", "down", "Next row"),
        Action("up", "k,up", "k ↑", "up", "Previous row"),
        Action("half_down", "ctrl+d", "Ctrl-d", "half down", "Half a screen down"),
        Action("half_up", "ctrl+u", "Ctrl-u", "half up", "Half a screen up"),
        Action("page_down", "pagedown,ctrl+f", "PgDn", "page down", "One screen down"),
        Action("page_up", "pageup,ctrl+b", "PgUp", "page up", "One screen up"),
        Action("first", "g", "g", "first", "First row"),
        Action("last", "G", "G", "last", "Last row"),
        Action("home", "home", "Home", "start", "First row; after [ or ] the first revision"),
        Action("end", "end", "End", "end", "Last row; after [ or ] the latest revision"),
        Action("left", "h,left", "h ←", "left", "View or stage to the left; closes a branch"),
        Action("right", "l,right", "l →", "right", "View or stage to the right; opens a branch"),
        Action("next_pane", "tab", "Tab", "next", "Next view; in Memory the next tier, in X-ray a block"),
        Action("previous_pane", "shift+tab", "Shift-Tab", "previous", "Previous view, tier or block"),
        *(
            Action(
                name,
                pane.key,
                pane.key,
                f"go to {pane.lower()}",
                f"{pane}: {pane.about}" if pane.about else f"Go to {pane}",
            )
            for name, pane in PANE_ACTIONS.items()
        ),
        Action("enter", "enter", "Enter", "open", ENTER),
        Action(
            "came_from", "backspace", "Backspace", "came from", "Go to the record or block this came from"
        ),
        Action("back", "escape", "Esc", "back", "Leave a search, a jump, a filter or a view"),
    ),
    ActionGroup.VIEWING: (
        Action(
            "earlier",
            "left_square_bracket",
            "[",
            "earlier",
            "Go to the previous revision",
            5,
            ActionCondition.REVISIONS,
        ),
        Action("later", "right_square_bracket", "]", "later", "Go to the next revision"),
        Action("oldest", "left_curly_bracket,ctrl+home", "{ Ctrl-Home", "oldest", "Go to the first revision"),
        Action(
            "newest",
            "right_curly_bracket,ctrl+end",
            "} Ctrl-End",
            "newest",
            "Go to the latest revision",
            2,
            ActionCondition.PAST,
        ),
        Action("follow", "F", "F", "follow", FOLLOW, 10, ActionCondition.MESSAGES),
        Action("origin", "o", "o", "origin", "Show the bytes of this item in its file", 4),
        Action("links", "r", "r", "links", "Show the references from and to this; in a log its replies", 7),
        Action("diff", "d", "d", "diff", "Compare with the previous revision, or the draft with its file", 6),
        Action("profile", "p", "p", "profile", "Use the next runtime profile", 8, ActionCondition.PROFILES),
        Action("budget", "b", "b", "budget", "Try another budget (empty: back to the real one)"),
        Action("option", "B", "B", "option", "Try another value of an option of the format: window, mode …"),
        Action("sort", "s", "s", "sort", "Sort by tier, model order, a figure, age or tokens", 9),
        Action("reverse", "S", "S", "reverse", "Reverse sort"),
        Action(
            "fold",
            "z",
            "z",
            "fold",
            "Fold or open a tier of the memory, or the fields in X-ray; zoom in Skyline",
        ),
        Action("fold_all", "Z", "Z", "fold all", "Fold or open all tiers of the memory"),
    ),
    ActionGroup.REPLAY: (
        Action(
            "play",
            "space",
            "Space",
            "play",
            "Play the revisions, or pause; tick a box; in Memory fold a tier",
            8,
            ActionCondition.REVISIONS,
        ),
        Action(
            "next_event",
            "full_stop",
            ".",
            "next event",
            "Next important event",
            1,
            ActionCondition.PLAYER,
        ),
        Action("previous_event", "comma", ",", "previous event", "Previous important event"),
        Action("faster", "plus,equals_sign", "+", "faster", "Play faster", 2, ActionCondition.PLAYER),
        Action("slower", "minus", "-", "slower", "Play slower", 2, ActionCondition.PLAYER),
    ),
    ActionGroup.SEARCH: (
        Action("search", "slash", "/", "search", "Search all revisions, newest first, then the history", 1),
        Action("next_hit", "n", "n", "next hit", "Next hit, in any pane", 2, ActionCondition.HITS),
        Action("previous_hit", "N", "N", "previous hit", "Previous hit"),
        Action("filter", "f", "f", "filter", "Filter blocks: tier:working hidden decay>0.5", 7),
        Action("next_finding", "f8", "F8 ]e", "next finding", "Next finding", 5, ActionCondition.FINDINGS),
        Action("previous_finding", "f7,shift+f8", "F7 [e", "previous finding", "Previous finding"),
    ),
    ActionGroup.EDITING: (
        Action(
            "edit", "e", "e", "edit", "Edit the writable fields of this item", 3, ActionCondition.WRITABLE
        ),
        Action(
            "add",
            "a",
            "a",
            "add",
            "Add a block to this tier; in Review accept a point",
            10,
            ActionCondition.WRITABLE,
        ),
        Action("remove", "x", "x", "remove", "Remove this block"),
        Action(
            "move",
            "m",
            "m",
            "move",
            "Move this block to another tier; in Revisions and Skyline mark one for d",
        ),
        Action("editor", "E", "E", "edit as", "Edit as: model, reviewer …", 9, ActionCondition.EDITORS),
        Action("undo", "u", "u", "undo", "Undo the last change of the draft", 2, ActionCondition.DRAFT),
        Action("redo", "ctrl+r", "Ctrl-r", "redo", "Redo the last undone change"),
        Action("save", "w,ctrl+s", "w", "save", "Show the difference, then save", 1, ActionCondition.DRAFT),
    ),
    ActionGroup.REVIEW: (
        Action("ask", "c", "c", "ask for context", "In Review: ask for context about a point"),
        Action("reject", "D", "D", "reject", "In Review: reject with a reason, which is recorded"),
    ),
    ActionGroup.GENERAL: (
        Action("copy", "y", "y", "copy", "Copy the selected item", 11),
        Action("theme", "t", "t", "theme", "Next theme"),
        Action("palette", "colon,ctrl+p", ":", "commands", COMMAND, 3),
        Action("tour", "f2", "F2", "tour", "Five steps through the inspector (also t in this help)"),
        Action("screenshot", "P", "P", "picture", "Save the screen as an SVG picture in the working folder"),
        Action("help", "question_mark,f1", "?", "help", "All keys, signs, words and the filter language", 2),
        Action("start_list", "ctrl+o", "Ctrl-o", "open", "Go to the start list to open something else"),
        Action("quit", "q", "q", "back", "Go back, or quit at the top; asks about unsaved changes", 1),
    ),
}

ACTIONS: tuple[Action, ...] = tuple(action for group in GROUPS.values() for action in group)

ACTIONS_BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

VIEW_KEYS: Mapping[Pane, Mapping[str, str]] = {
    Pane.OVERVIEW: {
        "earlier": "revision",
        "next_finding": "worst",
        "pane_w": "why",
        "diff": "changes",
        "pane_x": "x-ray",
        "search": "search",
        "palette": "command",
        "pane_t": "skyline",
        "enter": "open",
    },
    Pane.MEMORY: {
        "down": "block",
        "next_pane": "tier",
        "play": "fold",
        "enter": "detail",
        "pane_w": "why",
        "edit": "edit",
        "editor": "edit as",
        "filter": "filter",
        "sort": "sort",
        "origin": "origin",
        "search": "search",
    },
    Pane.XRAY: {
        "down": "line",
        "next_pane": "block",
        "enter": "open",
        "origin": "origin",
        "pane_w": "why",
        "diff": "word diff",
        "fold": "fold fields",
        "search": "search",
        "copy": "copy",
    },
    Pane.SKYLINE: {
        "left": "column",
        "enter": "go there",
        "fold": "zoom",
        "next_event": "next event",
        "links": "replies",
        "move": "mark",
        "diff": "diff",
        "play": "play",
        "palette": "command",
    },
    Pane.REVISIONS: {
        "down": "revision",
        "enter": "go there",
        "diff": "diff",
        "move": "mark",
        "next_finding": "next error",
        "links": "replies",
        "palette": "command",
    },
    Pane.REVIEW: {
        "down": "point",
        "add": "accept with reason",
        "ask": "ask for context",
        "reject": "reject",
        "pane_a": "approve",
        "play": "looked at",
        "profile": "next target",
        "origin": "origin",
        "diff": "changes",
    },
    Pane.WHY: {
        "down": "step",
        "enter": "go there",
        "origin": "origin",
        "pane_w": "other name",
        "copy": "copy",
    },
}
"""The actions that the key bar of a view begins with, and what they are called there."""

PLAYER_KEYS: Mapping[str, str] = {
    "play": "play",
    "next_event": "next event",
    "earlier": "revision",
    "faster": "faster",
    "slower": "slower",
    "back": "back",
}
"""The actions that the key bar of a replay begins with."""


def first_keys(view: Pane | None, *, is_replay: bool) -> Mapping[str, str]:
    """The actions that the key bar begins with, and what they are called there."""
    if is_replay:
        return PLAYER_KEYS
    return VIEW_KEYS.get(view, {}) if view is not None else {}


OWN_ACTIONS: Mapping[Pane, Mapping[str, str]] = {
    Pane.OVERVIEW: {"enter": "open_section", "next_finding": "worst_finding"},
    Pane.SKYLINE: {"move": "mark_revision", "links": "toggle_replies", "fold": "zoom"},
    Pane.REVISIONS: {"move": "mark_revision", "links": "toggle_replies"},
    Pane.REVIEW: {
        "add": "accept_point",
        "play": "look_at_point",
        "profile": "next_target",
        "pane_a": "approve",
    },
}
"""The actions that have another meaning in a view, and the functions that perform them there."""

_MODULES = {
    ActionGroup.MOVING: "navigate",
    ActionGroup.SEARCH: "navigate",
    ActionGroup.VIEWING: "view",
    ActionGroup.REPLAY: "view",
    ActionGroup.EDITING: "edit",
    ActionGroup.REVIEW: "own_keys",
    ActionGroup.GENERAL: "general",
}
ACTION_MODULES: Mapping[str, str] = {
    action.id: _MODULES[group] for group, actions in GROUPS.items() for action in actions
}
"""The module in `ctxview.tui.actions` that holds the function of an action."""

READ_ONLY_ACTIONS = frozenset(
    (
        *("down", "up", "half_down", "half_up", "page_down", "page_up", "first", "last", "home", "end"),
        "back",
        *("search", "next_hit", "previous_hit", "copy", "theme", "palette", "help", "quit"),
    )
)
"""The actions of a read-only screen."""

STEPS = frozenset(("earlier", "later", "oldest", "newest"))
"""The actions that go from revision to revision."""
ENDS = frozenset(("home", "end"))
"""The actions that go to a revision after one of `STEPS`, and to a row otherwise."""


class BracketKeys:
    """Distinguishes `]`, which goes to the next revision, from `]e`, which goes to the next finding.

    A bracket steps at once. An `e` within `PATIENCE` takes the step back and goes to the finding; after a
    bracket that led nowhere it has `FORGIVENESS` longer.
    """

    JUMPS: ClassVar[Mapping[str, str]] = {"later": "next_finding", "earlier": "previous_finding"}
    BACK: ClassVar[Mapping[str, str]] = {"later": "earlier", "earlier": "later"}
    PATIENCE = 0.35
    FORGIVENESS = 1.0

    def __init__(self) -> None:
        self._bracket: str | None = None
        self._has_stepped = False
        self._is_late = False

    @property
    def waiting(self) -> float | None:
        """Seconds after which to call `silence`; None when there is nothing to wait for."""
        if self._bracket is None:
            return None
        return self.FORGIVENESS if self._is_late else self.PATIENCE

    def feed(self, action: str) -> Iterator[str]:
        """The actions to run now that `action` was requested: to take a step back comes before its jump."""
        bracket, has_stepped = self._bracket, self._has_stepped
        self._bracket = action if action in self.JUMPS else None
        self._has_stepped = self._is_late = False
        if action != "edit" or bracket is None:
            yield action
            return
        if has_stepped:
            yield self.BACK[bracket]
        yield self.JUMPS[bracket]

    def silence(self) -> None:
        """Note that no key followed in time: an `e` is an edit now, unless the bracket led nowhere."""
        if self._has_stepped or self._is_late:
            self._bracket = None
        self._is_late = self._bracket is not None

    def stepped(self) -> None:
        """Note that the bracket led to another revision."""
        self._has_stepped = self._bracket is not None
