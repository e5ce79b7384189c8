"""The last gate before a state leaves the format: every text in it once more without what is withheld.

The parts mask what they take from records before they cut or join it; this catches whatever they forgot.
Addresses (files, pointers, byte spans) stay: they lead to places, and the places are withheld themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TypeVar, cast

from ctxview.findings import Finding, worst_first
from ctxview.formats.envelope.withheld import Withheld
from ctxview.later import Later
from ctxview.state import ContextState, Field, Form, Move, Origin

T = TypeVar("T")
WITHHELD = "It holds what is withheld."


def masked_state(state: ContextState, withheld: Withheld) -> ContextState:
    if not withheld:
        return state
    return replace(_masked(state, withheld), source=state.source, format=state.format)


def masked_findings(findings: Iterable[Finding], withheld: Withheld) -> tuple[Finding, ...]:
    """In order, each once: a record that belongs to two envelopes is judged in both."""
    masked = (replace(each, message=withheld.mask(each.message)) if withheld else each for each in findings)
    return worst_first(dict.fromkeys(masked))


def _masked(value: T, withheld: Withheld) -> T:
    """The same value, of the same type, with other texts."""
    return cast(T, _replaced(value, withheld))


def _replaced(value: object, withheld: Withheld) -> object:
    if isinstance(value, Enum | Origin | Move):
        return value
    if isinstance(value, str):
        return withheld.mask(value)
    if isinstance(value, Form):
        return _form(value, withheld)
    if isinstance(value, tuple):
        return tuple(_replaced(each, withheld) for each in value)
    if isinstance(value, list):
        return [_replaced(each, withheld) for each in value]
    if isinstance(value, dict):
        return {_replaced(key, withheld): _replaced(each, withheld) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changes = {each.name: _replaced(getattr(value, each.name), withheld) for each in fields(value)}
        return replace(value, **changes)
    return value


def _form(form: Form, withheld: Withheld) -> Form:
    """Its fields are masked when somebody looks at them; until then nobody has seen them."""
    return replace(form, fields=Later(lambda: [_field(each, form.file, withheld) for each in form.fields]))


def _field(field: Field, file: str, withheld: Withheld) -> Field:
    """One that holds something withheld cannot be edited: nobody would see what they write over."""
    shown = withheld.shown(file, field.pointer, field.value)
    if shown == field.value:
        return field
    return replace(field, value=shown, shape=None, why=WITHHELD)
