"""The withheld byte spans of a file: redacted values, copies of them, and broken parts about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.analysis.text_rules import json_strings
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.values import path_pointer, walk
from ctxview.formats.envelope.parser import RecordFile
from ctxview.formats.envelope.redactions import objects_in, states_redaction, unescaped
from ctxview.formats.envelope.withheld import WithheldContent, shadowed_members

_QUOTED = re.compile(r"[\"']([^\"']{1,200})[\"']")


def withheld_spans(withheld: WithheldContent, file: RecordFile) -> tuple[tuple[int, int], ...]:
    """The withheld byte spans of a file, in order and not overlapping."""
    found: list[tuple[int, int]] = []
    for prefix, document in file.documents:
        for pointer in withheld.pointers.get((file.file, prefix), ()):
            found += _every_span(document, pointer)
        found += _spans_of_copies(withheld, document) if withheld else ()
        found += (document.tree.span(node) for _, _, node in shadowed_members(document))
    for stray in file.strays:
        inside = objects_in("", "", stray.value)
        if any(each.redaction or withheld.is_named(each.names) for each in inside):
            found.append((stray.origin.start or 0, stray.origin.end or len(file.data)))
    found += _spans_of_broken_parts(withheld, file)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def _spans_of_copies(withheld: WithheldContent, document: JsonDocument) -> Iterator[tuple[int, int]]:
    """Yield the spans of copies in numbers, strings and keys; a string with escapes is withheld whole."""
    for path, value in walk(document.value):
        if isinstance(value, int | float) and withheld.copy_of_number(value) is not None:
            yield from filter(None, [document.span(path_pointer(path))])
    for path, words in json_strings(document.value):
        if not withheld.copies(words):
            continue
        pointer = path_pointer(path)
        for span in (document.span(pointer), document.key_span(pointer)):
            literal = document.data[slice(*span)].decode("utf-8", "surrogateescape") if span else ""
            found = withheld.copies(literal[1:-1])
            if span is None or not found:
                continue
            if "\\" in literal:
                yield span
                continue
            for start, end, _ in found:
                before, inside = literal[: start + 1], literal[start + 1 : end + 1]
                first = span[0] + len(before.encode("utf-8", "surrogateescape"))
                yield first, first + len(inside.encode("utf-8", "surrogateescape"))


def _spans_of_broken_parts(withheld: WithheldContent, file: RecordFile) -> Iterator[tuple[int, int]]:
    """Yield the parts that are not JSON and name a redaction or a redacted record, and copies."""
    for start, end, words in file.broken_parts:
        plain = unescaped(words)
        if states_redaction(plain) or withheld.is_named(_QUOTED.findall(plain)):
            yield start, end
        for first, last, _ in withheld.copies(words):
            before = start + len(words[:first].encode("utf-8", "surrogateescape"))
            yield before, before + len(words[first:last].encode("utf-8", "surrogateescape"))


def _every_span(document: JsonDocument, pointer: str) -> Iterator[tuple[int, int]]:
    """Yield the span of a value and of duplicates of its member: a JSON reader returns only the last."""
    tree = document.tree
    path = tree.path(pointer)
    if path is None:
        return
    yield tree.span(path[-1])
    key = tree.key(path[-1])
    for node in tree.children(path[-2]) if len(path) > 1 and key is not None else ():
        if tree.key(node) == key:
            yield tree.span(node)
