"""Profiles: the templates of context documents, the budgets of each era and the word lists, as TOML data.

`auto` finds the template by the headings of a document. The other profiles extend it and name the template.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ctxview.formats.kit.profiles import ProfileLoader
from ctxview.formats.workspace.markdown import MarkdownDocument

PROFILES = ("auto", "T1", "T1-strict", "T2", "Tmin", "Tadv")


class Template(Struct, frozen=True):
    """What a context document must look like."""

    sections: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    task: str = ""
    """The section that is one sentence; the others are lists."""
    pending: str = ""
    completed: str = ""
    keys: tuple[str, ...] = ()
    """The words that begin lines, in a template of `KEY: value` lines."""
    most_bullets: int = 10
    most_in_all: int | None = None
    heading: str = "Context"
    strict: bool = False
    """Whether the heading and the boxes of the source document are required."""


class EraBudgets(Struct, frozen=True):
    """The limit of each component by mode: numerator and denominator of the window, least and most tokens.

    A `most` of 0 is no upper bound.
    """

    fill: str = "lines"
    """How bootstrap files fill their budget: `whole` files, `lines`, or lines with a visible `marker`."""
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The components in prompt order by mode."""
    cloud: Mapping[str, tuple[int, int, int, int]] = field(default_factory=dict)
    local: Mapping[str, tuple[int, int, int, int]] = field(default_factory=dict)
    longest_fact: int | None = None

    def limit(self, component: str, window: int, mode: str) -> int | None:
        """Return the tokens that a component may take; None when it has no limit."""
        found = (self.local if mode == "local" else self.cloud).get(component)
        if found is None:
            return None
        above, below, least, most = found
        share = max(window * above // below, least)
        return min(share, most) if most else share


class InjectedText(Struct, frozen=True):
    """A text that the program puts into every prompt itself."""

    about: str
    text: str = ""
    """The words of the text; a statement that contains them repeats it."""
    heading: str = ""
    """The heading of a section that repeats it."""
    provenance: bool = False
    """Whether it is injected only while provenance is on."""


class WorkspaceWords(Struct, frozen=True):
    """The word lists of the rules."""

    meta_commentary: tuple[str, ...] = ()
    self_reference: tuple[str, ...] = ()
    placeholders: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    session_history: tuple[str, ...] = ()
    removed_layers: tuple[str, ...] = ()
    now_words: tuple[str, ...] = ()
    injected: tuple[InjectedText, ...] = ()


class Profile(Struct, frozen=True):
    """One template with the budgets of all eras and the word lists."""

    name: str
    title: str
    template: Template = Template()
    words: WorkspaceWords = WorkspaceWords()
    eras: Mapping[str, EraBudgets] = field(default_factory=dict)
    similar: int = 68
    """The score from which two statements are near duplicates."""
    stale_days: int = 180


_LOADER = ProfileLoader(Profile, "ctxview.formats.workspace", PROFILES)


def load_profile(name: str | None) -> Profile:
    """Return the profile of that name, in any case, or of that TOML file; raises `ProfileError`."""
    by_lower = {each.casefold(): each for each in PROFILES}
    return _LOADER.load(by_lower.get((name or "auto").casefold(), name))


def template_of(document: MarkdownDocument, profile: Profile) -> tuple[str, Template]:
    """Return the name and the template of a document: the chosen one, or the one that its headings show."""
    if profile.template.sections or profile.template.keys or profile.template.most_in_all:
        return profile.name, profile.template
    first, second = (load_profile(name).template for name in ("T1", "T2"))
    titles = {section.title.casefold() for section in document.sections if section.level == 2}
    own = {each.casefold() for each in second.sections} - {each.casefold() for each in first.sections}
    if titles & own:
        return "T2", second
    keyed = load_profile("Tmin").template
    starts = {line.partition(":")[0].strip() for line in document.prose if ":" in line}
    if not titles and len(starts & set(keyed.keys)) >= 3:
        return "Tmin", keyed
    bullets = [each for _, each in document.statements()]
    if not titles and bullets and all(each.kind == "bullet" for each in bullets):
        return "Tadv", load_profile("Tadv").template
    return "T1", first
