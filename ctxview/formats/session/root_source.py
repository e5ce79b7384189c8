"""The `Source` of a folder of sessions: what its index says, beside the sessions that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ctxview.edits import WritePolicy
from ctxview.files.reading import Unreadable, read_beneath
from ctxview.findings import Finding, worst_first
from ctxview.formats.block_counts import count_blocks
from ctxview.formats.file_rules import report_partly_read
from ctxview.formats.interface import AS_ON_DISK, CannotOpen, Lens, Reading, Revision
from ctxview.formats.session.finding_tally import tallied
from ctxview.formats.session.profiles import PROFILES, load_profile
from ctxview.formats.session.root import SINGLE_NAMES, KnownSession, SessionRoot, read_root
from ctxview.formats.session.state import FORMAT
from ctxview.state import Block, ContextState, Gap, Origin, Ref, RefStatus, Tier


class RootSource:
    """A folder of sessions, or its `index`."""

    format = FORMAT
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, root: Path) -> None:
        self._path = path
        self._root: SessionRoot = read_root(root)

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        folder = self._root.folder.root.absolute()
        return (
            f"sessions of {folder.parent.name}" if folder.name == "session" else f"sessions in {folder.name}"
        )

    @property
    def revisions(self) -> Sequence[Revision]:
        return (Revision("now", "index", self._root.folder.root / "index" / "list"),)

    def bytes_of(self, file: str) -> bytes:
        name = self._root.folder.name_of(file)
        if name is None:
            raise Unreadable(Path(file), "this file is no part of the folder")
        return read_beneath(self._root.folder.root, name)

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - only the runtime writes an index
        return None

    @property
    def watched(self) -> Sequence[Path]:
        root, index = self._root.folder.root, self._root.folder.root / "index"
        pointers = (Path(part.file) for part in (*self._root.pointers, *self._root.channels))
        states = (root / each.name / word for each in self._root.sessions for word in ("state", "updated_at"))
        folders = (root, index, *(index / name for name in (*SINGLE_NAMES, "channel")))
        return (index / "list", index / "current", *folders, *states, *pointers)

    def again(self) -> RootSource:
        root = self._root.folder.root
        if not root.is_dir():
            raise CannotOpen(f"{root}: there is no such folder any more")
        made = RootSource(self._path, root)
        return self if made._root == self._root else made

    def reading(
        self,
        revision: int,  # noqa: ARG002 - there is only one
        lens: Lens,
        overlay: Mapping[str, bytes] = AS_ON_DISK,  # noqa: ARG002 - nothing here can be drafted
    ) -> Reading:
        return Reading(self._state(lens), tuple(self.findings(lens)))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        from ctxview.formats.session import rules

        found = [*rules.check_root(self._root, load_profile(lens.profile))]
        if self._root.left_out:
            folder = str(self._root.folder.root)
            found += report_partly_read(folder, f"{self._root.left_out:,} more sessions were not looked at")
        return worst_first(tallied(found))

    def _state(self, lens: Lens) -> ContextState:
        tiers = (Tier("sessions", tuple(self._block(each) for each in self._root.sessions)),)
        refs = tuple(self._refs())
        return ContextState(
            format=FORMAT,
            title=self.title,
            source=str(self._path),
            revision="now",
            tiers=tiers,
            refs=refs,
            missing=tuple(_gaps(refs)),
            counts=count_blocks(tiers, lens.counter),
            extra={"kind": "session index", "current": self._root.current.value or "none"},
        )

    def _block(self, session: KnownSession) -> Block:
        listed = {each.name for each in self._root.listed}
        current = session.name == self._root.current.value
        words = (session.cwd, f"updated {session.updated_at}" if session.updated_at is not None else None)
        return Block(
            id=session.name,
            tier="sessions",
            type="session" if session.complete else "no messages",
            text="\n".join(filter(None, words)),
            tags=("current",) if current else (),
            visible=session.name in listed if self._root.list.exists else None,
            reason=None if session.name in listed or not self._root.list.exists else "it is not in the list",
            state=session.state,
            origin=Origin(self._root.folder.file(session.name)),
        )

    def _refs(self) -> Iterator[Ref]:
        for each in self._root.listed:
            yield self._ref("list", f"line {each.origin.line}", each.name, each.origin)
        for part in (self._root.current, *self._root.pointers):
            if part.value is not None:
                kind, _, key = part.name.removeprefix("index/").rpartition("/")
                yield self._ref(kind or key, key, part.value, self._root.origin(part))
        for part in self._root.channels:
            if part.readable:
                name = part.name.rpartition("/")[2]
                origin = self._root.origin(part)
                text = part.text[:4000]
                yield Ref(name, "channel", part.name, RefStatus.RESOLVED, None, len(text), (), origin, text)

    def _ref(self, kind: str, name: str, target: str, origin: Origin) -> Ref:
        known = self._root.session(target) is not None
        status = RefStatus.RESOLVED if known else RefStatus.DANGLING
        return Ref(name, kind, target, status, None, None, (f"index/{kind}",), origin)


def _gaps(refs: Sequence[Ref]) -> Iterator[Gap]:
    for ref in refs:
        if ref.status is RefStatus.DANGLING:
            why = f"there is no session {ref.target}"
            yield Gap(ref.target, "a session", "error", "dangling", ref.used_by, why, ref.origin)
