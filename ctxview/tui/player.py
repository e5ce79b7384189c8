"""Revisions going by: whether they do, how fast, and for how long each stays. No toolkit and no clock.

Somebody says how much time went by; what is to be shown next is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.analysis.captions import Caption
from ctxview.quick_dataclass import dataclass

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
LEAST = 1.6
"""Seconds that every revision stays, at speed 1."""
READING = 0.045
"""Seconds it takes to read a character."""
MOST = 9.0


@dataclass(frozen=True, slots=True)
class Show:
    """How something is played from the moment it opens.

    `stage` is for an audience: larger captions, and `opening` says what it is about. Without `ticking` time
    goes by only when somebody says so.
    """

    speed: float = 1.0
    loop: bool = False
    stage: bool = False
    opening: str = ""
    ticking: bool = True


class Player:
    """Counts the time one revision has been shown, once it is there to be seen."""

    def __init__(self, speed: float = 1.0, *, loop: bool = False) -> None:
        self.playing = False
        self.speed = speed
        self.loop = loop
        self._waited = 0.0

    def play(self) -> None:
        self.playing = True
        self._waited = 0.0

    def pause(self) -> None:
        self.playing = False

    def faster(self) -> None:
        self.speed = next((speed for speed in SPEEDS if speed > self.speed), self.speed)

    def slower(self) -> None:
        self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed), self.speed)

    def arrived(self) -> None:
        """Another revision is shown: its time begins."""
        self._waited = 0.0

    def is_over(self, seconds: float, told: Sequence[Caption]) -> bool:
        """Whether the revision that is shown has stayed long enough, after so many seconds more."""
        if not self.playing:
            return False
        self._waited += seconds * self.speed
        return self._waited >= stay(told)

    def after(self, revision: int, last: int) -> int | None:
        """What comes next; None at the end."""
        return revision + 1 if revision < last else 0 if self.loop else None


def stay(told: Sequence[Caption]) -> float:
    """Seconds it takes to read what is told first."""
    letters = sum(len(each.said) + len(each.why) for each in told[:1])
    letters += sum(len(each.said) for each in told[1:3]) // 2
    return min(MOST, LEAST + READING * letters)


def spelled_speed(speed: float) -> str:
    return f"{speed:g}×"
