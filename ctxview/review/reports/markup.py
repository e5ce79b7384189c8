"""HTML and SVG as values: text becomes harmless on its way in, and nothing else makes markup.

Text from files has its secrets masked, its control characters spelled out and its markup escaped. No function
here takes an address, a style or a script, so that content can neither link nor act.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from msgspec import Struct

from ctxview.analysis.secrets import mask_secrets
from ctxview.files.visible_text import visible

_VOID = frozenset({"br", "circle", "line", "meta", "rect"})
_ACTING = frozenset({"src", "srcset", "style", "action", "formaction", "xlink:href"})


class Markup(Struct, frozen=True):
    """Finished markup."""

    code: str

    def __bool__(self) -> bool:
        return bool(self.code)


Child: TypeAlias = Markup | str | None
NOTHING = Markup("")


def shown_text(text: str, keep_layout: bool = False) -> str:
    """Return a text that may be shown: secrets masked, unsafe characters spelled out."""
    return visible(mask_secrets(text), keep_layout)


def text_markup(text: str, keep_layout: bool = False) -> Markup:
    """Return text from a file as markup that shows it and does nothing else."""
    return Markup(escape(shown_text(text, keep_layout)))


def element(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """Return an element. A child that is text is shown as text; `class_` writes the attribute `class`."""
    written = []
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        acts = key in _ACTING or key.startswith("on") or (key == "href" and not str(value).startswith("#"))
        if acts:
            raise ValueError(f"the attribute {key} could act")
        if value is not None:
            number = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            written.append(f' {key}="{escape(shown_text(str(number)))}"')
    opening = f"<{name}{''.join(written)}>"
    if name in _VOID and not children:
        return Markup(f"{opening[:-1]}/>")
    return Markup(f"{opening}{joined(children).code}</{name}>")


def joined(children: Iterable[Child]) -> Markup:
    """Return all children one after the other."""
    parts = (each if isinstance(each, Markup) else text_markup(each) for each in children if each is not None)
    return Markup("".join(part.code for part in parts))
