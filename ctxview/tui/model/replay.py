"""The timing of a replay: whether it runs, how fast, and how long each revision is shown.

No toolkit and no system clock: the caller reports the time that passed and asks for the next revision.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ctxview.analysis.captions import Caption

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SHORTEST = 1.6
"""Seconds for which every revision is shown at least, at speed 1."""
PER_CHARACTER = 0.045
"""Seconds it takes to read a character."""
LONGEST = 9.0


class ReplayOptions(Struct, frozen=True):
    """How a source is replayed from the moment it opens.

    `stage` is for an audience: larger captions, and `opening` as the first one. Without `ticking` no timer
    runs, and the caller reports the time.
    """

    speed: float = 1.0
    loop: bool = False
    stage: bool = False
    opening: str = ""
    ticking: bool = True


class ReplayClock:
    """Counts how long the present revision has been shown."""

    def __init__(self, speed: float = 1.0, *, loop: bool = False) -> None:
        self.playing = False
        self.speed = speed
        self.loop = loop
        self._elapsed = 0.0

    def play(self) -> None:
        self.playing = True
        self._elapsed = 0.0

    def pause(self) -> None:
        self.playing = False

    def faster(self) -> None:
        self.speed = next((speed for speed in SPEEDS if speed > self.speed), self.speed)

    def slower(self) -> None:
        self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed), self.speed)

    def restart(self) -> None:
        """Start the time of the revision that is now shown."""
        self._elapsed = 0.0

    def is_over(self, seconds: float, captions: Sequence[Caption]) -> bool:
        """Add `seconds`; whether the revision has been shown long enough to read its `captions`."""
        if not self.playing:
            return False
        self._elapsed += seconds * self.speed
        return self._elapsed >= reading_time(captions)

    def after(self, revision: int, last: int) -> int | None:
        """The revision after `revision`; None at the end."""
        return revision + 1 if revision < last else 0 if self.loop else None


def reading_time(captions: Sequence[Caption]) -> float:
    """Seconds it takes to read the first captions."""
    letters = sum(len(each.text) + len(each.why) for each in captions[:1])
    letters += sum(len(each.text) for each in captions[1:3]) // 2
    return min(LONGEST, SHORTEST + PER_CHARACTER * letters)


def spelled_speed(speed: float) -> str:
    return f"{speed:g}×"
