"""Runs the rules of this format, and for a file those about strict JSON, deceptive text and secrets.

`source` decides which snapshots of several files are checked together.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.json_rules import check_json
from ctxview.core.findings import Finding, rules_of, run
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.formats.kit.general_checks import CheckedFile, general_findings
from ctxview.formats.snapshot.model import AgentStore, Reply, SavedLog, Snapshot
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind
from ctxview.formats.snapshot.profile import Profile


def check_file(file: SnapshotFile, profile: Profile) -> Iterator[Finding]:
    """Check one file by itself."""
    if file.reply is not None:
        yield from check_reply(file.reply, profile)
    if file.log is not None:
        yield from check_log(file.log, profile)
    for each in file.snapshots():
        yield from check_snapshot(each, profile)
    document = _whole_json(file) if file.kind is SnapshotFileKind.PROMPT else file.document
    if file.reply is None and document is None and file.kind is not SnapshotFileKind.PROMPT:
        yield from check_json(file.file, file.data)
    # In a log with the stored snapshot, the injected one is a copy of it.
    injected = file.log.injected if file.log is not None and file.log.stored is not None else None
    checked: set[str] = set()

    def already_checked(pointer: str, string: str) -> bool:
        if injected is not None and pointer.startswith(f"{injected.pointer}/") and string in checked:
            return True
        checked.add(string)
        return False

    yield from general_findings(
        CheckedFile(
            file.file,
            file.data,
            documents=(("", document),) if document is not None else (),
            strict=file.reply is None,
            already_checked=already_checked,
        )
    )


def _whole_json(file: SnapshotFile) -> JsonDocument | None:
    """Return the JSON that contains a prompt; None when the file is plain text."""
    try:
        return parse(file.data)
    except JsonError:
        return None


def check_reply(reply: Reply, profile: Profile) -> Iterator[Finding]:
    """Check the text of a reply. Its snapshot is checked separately."""
    yield from run(REPLY_RULES, reply, profile)


def check_snapshot(snapshot: Snapshot, profile: Profile) -> Iterator[Finding]:
    yield from run(SNAPSHOT_RULES, snapshot, profile)


def check_log(log: SavedLog, profile: Profile) -> Iterator[Finding]:
    """Check a saved log for contradictions."""
    yield from run(LOG_RULES, log, profile)


def check_exchange(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Finding]:
    """Check the effects of a reply on the snapshot it answers."""
    yield from run(EXCHANGE_RULES, received, emitted, profile)


def check_succession(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Finding]:
    """Check that a stored snapshot can follow the previous one."""
    yield from run(SUCCESSION_RULES, previous, following, profile)


def check_store(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Finding]:
    """Check an agent's memory store, queue and todo list against its newest snapshot."""
    yield from run(STORE_RULES, store, latest, profile)


# A source rarely needs all of them.
SNAPSHOT_RULES = rules_of(__name__, "block_state", "blocks", "snapshot", "task", "todo", "visibility")
REPLY_RULES = rules_of(__name__, "payload", "reply")
LOG_RULES = rules_of(__name__, "log")
EXCHANGE_RULES = rules_of(__name__, "exchange", "tampering")
SUCCESSION_RULES = rules_of(__name__, "succession")
STORE_RULES = rules_of(__name__, "store")
