"""A redacted text is planted in every place and spelling, and is in no output."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ctxview.cli import main
from ctxview.formats import open_source
from ctxview.formats.masked_bytes import showable_bytes
from tests.formats.envelope import builders as b

SECRET = "Zebra Quartz 4417 sleeps under the third flowerpot"
ENCODED = base64.b64encode(SECRET.encode()).decode()
HEX = SECRET.encode().hex()
SPELLINGS = {
    "plain": SECRET,
    "capitals": SECRET.upper(),
    "spaces": SECRET.replace(" ", " \n "),
    "inside a word": f"x{SECRET.replace(' ', '')}x",
    "base64": ENCODED,
    "base64 for addresses": base64.urlsafe_b64encode(f"?? {SECRET}".encode()).decode().rstrip("="),
    "base64 of more": base64.b64encode(f"they said: {SECRET}!".encode()).decode(),
    "hexadecimal": HEX,
    "hexadecimal pairs": SECRET.encode().hex(" "),
    "percent": quote(SECRET),
    "percent everywhere": "".join(f"%{ord(char):02X}" for char in SECRET),
    "form": SECRET.replace(" ", "+"),
    "json escapes": "".join(f"\\u{ord(char):04x}" for char in SECRET),
    "json in json": json.dumps(json.dumps(f"{SECRET}\n")),
    "html": "".join(f"&#{ord(char)};" for char in SECRET),
    "base64 of percent": base64.b64encode(quote(SECRET).encode()).decode(),
    "invisible characters": SECRET.replace("e", "e\u200b"),
    "full width": "".join(chr(ord(char) + 0xFEE0) if char != " " else char for char in SECRET),
    "accents": SECRET.replace("e", "é"),
    "accents apart": SECRET.replace("e", "e\u0301"),
    "the beginning": "Zebra Quartz 4417 sleeps under the",
}
REMOVED: b.Members = {"redaction_state": "removed"}
Members = dict[str, Any]


def leaks(text: str, spelling: str = SECRET) -> bool:
    """Whether a text holds the secret, or this spelling of it, as it is or as JSON writes it."""
    bare = "".join(text.lower().split())
    return any(
        "".join(each.lower().split())[:24] in bare for each in (SECRET, spelling, json.dumps(spelling)[1:-1])
    )


def outputs(folder: Path, *more: Sequence[str], capsys: pytest.CaptureFixture[str]) -> Mapping[str, str]:
    """Everything that the commands print about the envelopes in a folder, and the bytes that may be shown."""
    path = str(folder)
    commands = [
        ["show", path],
        ["show", path, "--json"],
        ["check", path],
        ["check", path, "--format", "json"],
        ["check", path, "--format", "sarif"],
        ["check", path, "--format", "github"],
        ["diff", path],
        ["diff", path, "--json"],
        *(["export", path, "--to", form] for form in ("html", "md", "json")),
        *more,
    ]
    source = open_source(folder, "envelope")
    for revision in source.revisions:
        commands += [["show", path, "--at", revision.label], ["show", path, "--json", "--at", revision.label]]
    found = {}
    for command in commands:
        with suppress(SystemExit):
            main([*command, "--as", "envelope"])
        captured = capsys.readouterr()
        found[" ".join(command)] = captured.out + captured.err
    for file in folder.iterdir():
        found[file.name] = showable_bytes(source, str(file), file.read_bytes()).data.decode(
            "utf-8", "replace"
        )
    return found


def write(folder: Path, files: Mapping[str, Sequence[Members] | str]) -> Path:
    for name, content in files.items():
        lines = content if isinstance(content, str) else "\n".join(map(json.dumps, content)) + "\n"
        (folder / name).write_text(
            lines if name.endswith("l") or isinstance(content, str) else json.dumps(content)
        )
    return folder


def envelope(name: str = "ctx-1", before: str | None = None, **more: Any) -> Members:
    note = {"metadata": {"ctxview": {"revision_of": before}}} if before else {}
    minute = 1 if before is None else 30
    return {
        **b.VERSION,
        "context_id": name,
        "scope": "turn",
        "lifecycle": "injected",
        "created_at": b.at(minute),
        "item_refs": ["i1", "i2"],
        **note,
        **more,
    }


def one(*records: Members) -> Mapping[str, Sequence[Members]]:
    return {"a.json": [envelope(), b.item("i2", "nothing"), *records]}


def later(first: Members, second: Members) -> Mapping[str, Sequence[Members]]:
    return {
        "b.json": [envelope(), first, b.item("i2", "nothing")],
        "b.r2.json": [envelope("ctx-1.r2", "ctx-1"), second, b.item("i2", "nothing")],
    }


EVENT: Members = {
    **b.VERSION,
    "event_id": "e1",
    "event_type": "context.item.updated",
    "source": "x",
    "time": b.at(5),
}
DIGEST = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()
PLACES: Mapping[str, Mapping[str, Sequence[Members] | str]] = {
    "a later revision removes it": later(b.item("i1", SECRET), b.item("i1", None, **REMOVED)),
    "a later revision masks it": later(
        b.item("i1", SECRET), b.item("i1", "[masked]", redaction_state="masked")
    ),
    "an earlier revision removes it": later(b.item("i1", None, **REMOVED), b.item("i1", SECRET)),
    "a later revision blocks it": later(
        b.item("i1", SECRET), b.item("i1", None, redaction_state="policy_blocked")
    ),
    "a later revision names a field": later(
        b.item("i1", "x", metadata={"mail": SECRET}),
        b.item("i1", "x", redaction_state="masked", redacted_fields=["metadata.mail"]),
    ),
    "a duplicate of the id": one(b.item("i1", None, **REMOVED), b.item("i1", SECRET)),
    "an event says so": one(
        b.item("i1", SECRET),
        {**b.VERSION, "event_id": "e1", "event_type": "context.redaction.applied", "source": "x"}
        | {"time": b.at(5), "subject": "i1"},
    ),
    "a redaction record elsewhere": {
        "a.json": [
            envelope(redactions=[{"redaction_state": "removed", "item_ref": "i1"}]),
            b.item("i1", SECRET),
        ]
    },
    "nested in metadata": one(
        b.item("i1", "x", metadata={"copy": {"redaction_state": "removed", "text": SECRET}})
    ),
    "an unknown list": {
        "a.json": [envelope(archive=[{"item_id": "i9", "redaction_state": "removed", "content": SECRET}])]
    },
    "event data": one(
        {**b.VERSION, "event_id": "e1", "event_type": "context.item.updated", "source": "x", "time": b.at(5)}
        | {"data": {"item_id": "i9", "redaction_state": "removed", "content": SECRET}}
    ),
    "event data about a removed item": one(
        b.item("i1", None, **REMOVED),
        {**b.VERSION, "event_id": "e1", "event_type": "context.item.updated", "source": "x", "time": b.at(5)}
        | {"subject": "i1", "data": {"before": SECRET, "content": SECRET}},
    ),
    "an omission that quotes": one(
        b.item("i1", None, **REMOVED),
        b.selection(["i2"], {}, omitted_item_refs=[{"item_ref": "i1", "reason": "x", "text": SECRET}]),
    ),
    "original_ref": one(b.item("i1", "x", redaction_state="masked", original_ref="i3"), b.item("i3", SECRET)),
    "original_item_ref": one(
        b.item("i1", "x", redaction_state="masked", original_item_ref="i3"), b.item("i3", SECRET)
    ),
    "original_item_ref as an object": one(
        b.item("i1", "x", redaction_state="masked", original_item_ref={"item_id": "i3"}), b.item("i3", SECRET)
    ),
    "original_ref that embeds": one(
        b.item("i1", "x", redaction_state="masked", original_ref={"item_id": "i3", "content": SECRET})
    ),
    "original_ref that embeds without an id": one(
        b.item("i1", "x", redaction_state="masked", original_refs=[{"uri": "v:1", "text": SECRET}])
    ),
    "original_digest": one(
        b.item("i1", "x", redaction_state="masked", original_digest=DIGEST), b.item("i3", SECRET)
    ),
    "content_digest": one(b.item("i1", None, content_digest=DIGEST, **REMOVED), b.item("i3", SECRET)),
    "digest in metadata": one(
        b.item("i1", None, metadata={"content_digest": DIGEST}, **REMOVED), b.item("i3", SECRET)
    ),
    "content_ref with content": one(
        b.item("i1", None, content_ref={"uri": "v:1", "content": SECRET}, **REMOVED)
    ),
    "content_ref with data": one(
        b.item("i1", None, content_ref=f"data:text/plain;base64,{ENCODED}", **REMOVED), b.item("i3", SECRET)
    ),
    "content_ref object with data": one(
        b.item("i1", None, content_ref={"uri": f"data:,{quote(SECRET)}"}, **REMOVED), b.item("i3", SECRET)
    ),
    "a quote in the selector": one(
        b.item("i1", None, **REMOVED)
        | {"source_refs": [b.source("s1", selector={"type": "text_quote", "exact": SECRET})]}
    ),
    "camel case": one(b.item("i1", SECRET, redactionState="removed")),
    "camel case fields": one(
        b.item(
            "i1", "x", redactionState="masked", redactedFields=["metadata.mail"], metadata={"mail": SECRET}
        )
    ),
    "camel case raw": one(b.item("i1", "x", redaction_state="masked", rawContent=SECRET)),
    "camel case beside none": one(b.item("i1", SECRET, redactionState="removed", redaction_state="none")),
    "camel case id": one({"itemId": "i1", "redactionState": "removed", "content": SECRET}),
    "a record without id": one({"redaction_state": "removed", "content": SECRET}),
    "a record with a number as id": one({"item_id": 7, "redaction_state": "removed", "content": SECRET}),
    "a block": one(
        b.assembly([["i2"]]) | {"ordered_blocks": [{"block_id": "k", "content": SECRET, **REMOVED}]}
    ),
    "a block of a later revision": later(
        b.assembly([["i2"]]) | {"ordered_blocks": [{"block_id": "k", "content": SECRET}]},
        b.assembly([["i2"]]) | {"ordered_blocks": [{"block_id": "k", **REMOVED}]},
    ),
    "a redaction record in the item": one(b.item("i1", SECRET, redaction={"state": "removed"})),
    "a broken line": {
        "a.jsonl": json.dumps(envelope())
        + f'\n{{"item_id": "i1", "redaction_state": "removed", "content": "{SECRET}",,}}\n'
    },
    "a broken line about a removed item": {
        "a.jsonl": "\n".join(
            (
                json.dumps(envelope()),
                json.dumps(b.item("i1", None, **REMOVED)),
                f'{{"item_id": "i1", "content": "{SECRET}",,}}',
            )
        )
    },
    "a broken line with escapes": {
        "a.jsonl": json.dumps(envelope())
        + f'\n{{"item_id": "i1", "r\\u0065daction_state": "removed", "content": "{SECRET}",,}}\n'
    },
    **{
        f"{name} of a removed {kind}": one(b.item("i1", "x"), {**record, **REMOVED, name: value})
        for kind, record, fields in (
            (
                "gap",
                b.missing(),
                (
                    "question",
                    "needed_for",
                    "blocked_actions",
                    "candidate_sources",
                    "requested_from",
                    "status",
                ),
            ),
            ("compaction", b.compaction(["i1"], "s1"), ("method", "loss_notes")),
            ("budget", b.budget(), ("target", "overflow_strategy")),
            ("event", EVENT, ("subject", "actor", "data")),
            ("item", b.item("i3"), ("trust_level", "tags")),
        )
        for name in fields
        for value in ([SECRET] if name in ("blocked_actions", "candidate_sources", "loss_notes") else SECRET,)
    },
    "the reason of a removed selection": one(b.item("i1", "x"), b.selection([], {"i1": SECRET}, **REMOVED)),
    "a named field of a gap": one(b.missing(redacted_fields=["blocked_actions"], blocked_actions=[SECRET])),
    "a gap that a later revision removes": later(
        b.missing(question=SECRET, blocked_actions=[SECRET]), b.missing(question="gone", **REMOVED)
    ),
    **{
        f"an event {more}": one(b.item("i1", SECRET), EVENT | more)
        for more in (
            *(
                {"event_type": "context.redaction.applied", "data": data}
                for data in (
                    {"item_refs": ["i1"]},
                    {"items": ["i1"]},
                    {"item_ref": {"kind": "item", "id": "i1"}},
                    {"record": {"item_id": "i1"}},
                )
            ),
            {"event_type": "context.redaction.applied", "subject": "item:i1"},
            {"subject": "i1", "data": {"redaction_state": "removed"}},
            {"event_type": "context.item.redacted", "subject": "i1"},
        )
    },
    "a redaction record with references": one(
        b.item("i1", SECRET), {"redaction_id": "r1", "redaction_state": "removed", "item_refs": ["i1"]}
    ),
    "redacted fields as an object": one(
        b.item("i1", SECRET, redaction_state="removed", redacted_fields={"content": "removed"})
    ),
    "redacted fields as an object alone": one(b.item("i1", SECRET, redacted_fields={"content": "removed"})),
    "a part of a text": one(b.item("i1", SECRET, redacted_fields=["$.content.a"])),
    "a state in metadata": one(b.item("i1", SECRET, metadata={"redaction_state": "removed"})),
    "a removed envelope": {"a.json": [envelope(**REMOVED), b.item("i1", SECRET)]},
    "a torn line of a later revision": {
        "b.json": [envelope(), b.item("i1", SECRET)],
        "b.r2.jsonl": json.dumps(envelope("ctx-1.r2", "ctx-1"))
        + '\n{"item_id": "i1", "redaction_state": "removed", "con',
    },
    "a torn object": {"a.json": json.dumps([envelope(), b.item("i1", SECRET, **REMOVED)])[:-5]},
    "a torn list": {
        "a.json": json.dumps([envelope(), b.item("i1", None, **REMOVED) | {"content": SECRET}])[:-8]
    },
    "an earlier member of the same name": {
        "a.json": json.dumps([envelope(), b.item("i1", None, **REMOVED)]).replace(
            '"item_id"', f'"content": "{SECRET}", "content": null, "item_id"'
        )
    },
    "an earlier redaction state of the same name": {
        "a.json": json.dumps([envelope(), b.item("i1", SECRET, redaction_state="none")]).replace(
            '"redaction_state"', '"redaction_state": "removed", "redaction_state"'
        )
    },
    **{
        f"the field {field}": one(
            b.item(
                "i1",
                "x",
                redaction_state="masked",
                redacted_fields=[field],
                metadata={"mail": SECRET, "list": [{"name": SECRET}]},
            )
        )
        for field in ("metadata", "$.metadata", "$['metadata']", "#/metadata", "item.metadata", "/metadata/")
    },
    **{
        f"the field {field}": one(
            b.item(
                "i1",
                "x",
                redaction_state="masked",
                redacted_fields=[field],
                metadata={"list": [{"name": SECRET}]},
            )
        )
        for field in (
            "metadata.list[0].name",
            "metadata.list.0.name",
            "$.metadata.list[*].name",
            "/metadata/list/0/name",
            "metadata.list[-1].name",
            "metadata['list'][0]",
            "name",
        )
    },
    "a redaction record with the state null": one(
        b.item("i1", SECRET, redaction={"redaction_state": None, "method": "by hand"})
    ),
    **{
        f"the state {state!r}": one(b.item("i1", SECRET, redaction_state=state))
        for state in (
            "redacted",
            "Removed",
            "deleted",
            "custom",
            ["removed"],
            {"state": "removed"},
            True,
            1,
            "None",
            "",
            " ",
            None,
        )
    },
}


@pytest.mark.parametrize("place", PLACES)
def test_no_output_shows_it_wherever_it_is(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, PLACES[place])
    assert [name for name, text in outputs(folder, capsys=capsys).items() if leaks(text)] == []


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_output_shows_a_copy_however_it_is_spelled(
    spelling: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = SPELLINGS[spelling]
    files = one(
        b.item("i1", SECRET, **REMOVED),
        b.item("i3", f"they said {copy} yesterday", title=copy, metadata={copy: [copy]}),
        {**b.VERSION, "missing_id": "m1", "scope": "turn", "question": copy, "severity": "low"}
        | {"status": "open", "created_at": b.at(3)},
    )
    found = outputs(write(tmp_path, files), capsys=capsys)
    assert [name for name, text in found.items() if leaks(text, copy)] == []
    assert any("they said" in text for text in found.values())


@pytest.mark.parametrize("short", ["hunter2", "4711", "k9Q"])
def test_a_short_text_is_withheld_as_a_word(
    short: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = one(b.item("i1", short, **REMOVED), b.item("i3", f"the pin is {short}, they said", title=short))
    found = outputs(write(tmp_path, files), capsys=capsys)
    assert [name for name, text in found.items() if f"pin is {short}" in text or f'"{short}"' in text] == []


@pytest.mark.parametrize(
    ("content", "copy"),
    [
        (77411234, "77411234"),
        ({"account": 77411234}, "77411234"),
        ({SECRET: 1}, SECRET),
        ({"acct-77411234": True}, "acct-77411234"),
        (
            "Das Café Übergrößenträger öffnet",
            "Das Cafe\u0301 U\u0308bergro\u0308ßentra\u0308ger o\u0308ffnet",
        ),
        (
            "Das Cafe\u0301 U\u0308bergro\u0308ßentra\u0308ger o\u0308ffnet",
            "Das Café Übergrößenträger öffnet",
        ),
    ],
)
def test_numbers_keys_and_other_forms_of_letters_are_withheld(
    content: Any, copy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    removed = {**b.item("i1", None, **REMOVED), "content": content}
    files = one(removed, b.item("i3", f"they said {copy} yesterday", title=copy))
    found = outputs(write(tmp_path, files), capsys=capsys)
    written = (copy, json.dumps(copy)[1:-1])
    assert [name for name, text in found.items() if any(each in text for each in written)] == []
    assert any("they said" in text for text in found.values())


@pytest.mark.parametrize("number", [471199, 4711.25, -471199])
def test_a_number_is_withheld_where_it_is_written_as_a_number(
    number: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    removed = {**b.item("i1", None, **REMOVED), "content": number}
    files = one(removed, b.item("i3", "they said so", metadata={"pin": number, "near": 471198, "few": 3}))
    found = outputs(write(tmp_path, files), capsys=capsys)
    assert [name for name, text in found.items() if json.dumps(number) in text] == []
    assert any("471198" in text for text in found.values())


def test_single_sentences_are_withheld(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = one(
        b.item("i1", "Good morning. The vault is 99-Zebra. Ring twice!\nThen wait for me.", **REMOVED),
        b.item("i3", "We know that the vault is 99-zebra"),
        b.item("i4", "then wait for me"),
    )
    for text in outputs(write(tmp_path, files), capsys=capsys).values():
        assert "99-zebra" not in text.lower()
        assert "then wait for" not in text.lower()


def test_two_sources_are_compared_without_what_either_redacts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_, other = tmp_path / "one", tmp_path / "other"
    one_.mkdir()
    other.mkdir()
    write(one_, {"x.json": [envelope(), b.item("i1", SECRET)]})
    write(other, {"y.json": [envelope("ctx-9"), b.item("i1", None, **REMOVED)]})
    for command in (["diff", str(one_), str(other)], ["diff", str(other), str(one_), "--json"]):
        main(command)
        assert not leaks(capsys.readouterr().out)


OTHER = [envelope("ctx-7", item_refs=["i9"]), b.item("i9", f"They said: {SECRET}!")]
BESIDE: Mapping[str, Mapping[str, Sequence[Members]]] = {
    "a revision between": {
        **later(b.item("i1", SECRET), b.item("i1", None, **REMOVED)),
        "b.r3.json": [envelope("ctx-1.r3", "ctx-1.r2"), b.item("i1", SECRET), b.item("i2", "nothing")],
    },
    "a copy of an earlier revision": {
        "b.json": [envelope(), b.item("i1", SECRET)],
        "b.r2.json": [
            envelope("ctx-1.r2", "ctx-1"),
            b.item("i1", None, **REMOVED),
            b.item("i2", f"They said: {SECRET}!"),
        ],
    },
    "a file of items": {
        "b.json": [envelope(), b.item("i1", SECRET)],
        "items.jsonl": [b.item("i1", None, **REMOVED)],
    },
    "a file of events": {
        "b.json": [envelope(), b.item("i1", SECRET)],
        "events.jsonl": [EVENT | {"event_type": "context.redaction.applied", "subject": "i1"}],
    },
    "a copy in another envelope": {"b.json": [envelope(), b.item("i1", SECRET, **REMOVED)], "zz.json": OTHER},
}


@pytest.mark.parametrize("place", BESIDE)
def test_a_single_file_knows_the_redactions_beside_it(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, BESIDE[place])
    files = [str(tmp_path / name) for name in BESIDE[place]]
    pairs = [["diff", one_, other] for one_ in files for other in files if one_ != other]
    for command in (
        *(["show", file] for file in files),
        *(["show", file, "--json"] for file in files),
        *pairs,
    ):
        with suppress(SystemExit):
            main(command)
        captured = capsys.readouterr()
        assert not leaks(captured.out + captured.err), command
    for file in files:
        data = Path(file).read_bytes()
        assert not leaks(showable_bytes(open_source(Path(file)), file, data).data.decode())


def test_a_single_file_is_whole_when_no_file_beside_it_redacts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"b.json": [envelope(), b.item("i1", "plain")], "zz.json": OTHER})
    main(["show", str(tmp_path / "zz.json"), "--json"])
    assert leaks(capsys.readouterr().out)
