"""What `gc.policy` asks for, read so that a mistake in it never removes anything."""

from __future__ import annotations

from ctxview.formats.session.model import Session
from ctxview.formats.session.names import duration
from ctxview.formats.session.profile import Profile
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """A time to live in seconds, or a number; None where the policy is mistaken, and so nothing may go."""

    pack_ttl: int | None
    swap_ttl: int | None
    dedup_min_refs: int | None
    keep_messages: bool
    keep_events: bool
    written: dict[str, str]
    """The values as somebody wrote them, defaults included."""
    problems: tuple[str, ...] = ()

    def told(self, key: str) -> str:
        return f"{key}={self.written.get(key, '?')}"


def read_policy(session: Session, profile: Profile) -> Policy:
    """The session's policy, with the profile's values where it says nothing."""
    part = session.gc.part
    if part.exists and part.data is None:
        problem = f"gc.policy cannot be read ({part.problem}), so nothing is collected"
        return Policy(None, None, None, True, True, {}, (problem,))
    written = dict(profile.gc_defaults or {})
    problems: list[str] = []
    known = profile.words.gc_keys
    for setting in session.gc.settings:
        if not setting.key or (known and setting.key not in known):
            problems.append(f"line {setting.line} of gc.policy is not understood and has no effect")
        else:
            written[setting.key] = setting.value

    def refuse(key: str, what: str) -> None:
        if key in written:
            problems.append(f"{key}={written[key]} is no {what}: nothing is collected by it")

    times: dict[str, int | None] = {}
    for key in ("pack_ttl", "swap_ttl"):
        times[key] = duration(written.get(key, ""))
        if times[key] is None:
            refuse(key, "duration such as 30d")
    refs = written.get("dedup_min_refs", "")
    least = int(refs) if refs.isascii() and refs.isdigit() and len(refs) < 10 else None
    if least is None:
        refuse("dedup_min_refs", "number")
    return Policy(
        pack_ttl=times["pack_ttl"],
        swap_ttl=times["swap_ttl"],
        dedup_min_refs=least,
        keep_messages=written.get("keep_messages") != "0",
        keep_events=written.get("keep_events") != "0",
        written=written,
        problems=tuple(problems),
    )
