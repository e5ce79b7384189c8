"""Generated sessions of any size for the benchmarks: always the same bytes, and as mixed as real ones.

Nineteen of twenty records are small; the rest, most of the bytes, are tool outputs of 20 to 200 KB, a tenth
of them exact repeats. One text in twelve is Chinese. Three marks occur in the history once each.
"""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser
from bisect import bisect_left
from dataclasses import dataclass
from hashlib import md5
from itertools import accumulate
from pathlib import Path

FIRST = "FIRST-RECORD"
LAST = "LAST-RECORD"
NEEDLE = "NEEDLE-5e7a1b-RARE"
"""Occurs at 99 % of the history."""

SEED = 20260412
SIZES = {"10MB": 10_000_000, "100MB": 100_000_000, "1GB": 1_000_000_000}

_CREATED = 1_776_000_000
_SMALL = (200, 2000)
_LARGE = (20_000, 200_000)
_REPEATED = 12
_VOCABULARY = """
agent answer append argument array assert async backup batch block branch buffer build byte cache call
change check child chunk class clean client clock code column command commit compare config context copy
count cursor debug decision default delete depth diff digest directory disk document draft edge editor empty
entry error event exact fact failed field file filter finding fixture flag folder format frame function
garbage gone group handle hash header history index inner input item join journal kernel key layout length
level limit line link list load lock loop mark match memory merge message meta method mode model module name
needle node note number object offset open option order origin output owner pack page pane parent parse part
path pattern pause piece pipe plan pointer policy position prefix process profile prompt proof queue range
rank ratio read record ref release render repeat report result retry review role root round route rule run
sample save schema scope scroll search section select session shape shell signal size slice source span
split stack stage start state status step stop store stream string summary swap symbol table tail target
task temp test text theme thread tier time todo token tool trace tree type undo unit update user value
verify version view watch width window word worker write a and are as at be because but by can does for from
had has if in into is it its more must never no not of on once one only or so than that the then there they
this to two under until was we were what when where which while with without
"""
_WORDS = _VOCABULARY.split()
_CHINESE = (
    "会话历史只能追加，不能改写。工具的输出很长，所以只把摘要放进上下文。预算不够的时候，先换出旧的消息，再检查引用是否完整。"
    "测试失败的原因是缓存没有更新；修复以后重新运行，全部通过。请确认计划中的下一步，然后继续处理剩下的文件。"
)


@dataclass(frozen=True, slots=True)
class Written:
    """A written session: its folder, the number of messages and their bytes."""

    folder: Path
    messages: int
    size: int


def write_session(folder: Path, size: int, seed: int = SEED) -> Written:
    """Make `folder` a session with about `size` bytes of messages."""
    history = _History(seed)
    (folder / "context").mkdir(parents=True)
    with (folder / "messages.jsonl").open("wb") as messages, (folder / "events.jsonl").open("wb") as events:

        def write(run: _Run) -> int:
            messages.writelines(run.messages)
            events.writelines(run.events)
            return sum(map(len, run.messages))

        written = write(history.run(FIRST))
        while written < size * 0.99:
            written += write(history.run())
        written += write(history.run(NEEDLE))
        while written < size:
            written += write(history.run())
        ending = history.run(answer=LAST)
        written += write(ending)
    _write_other_files(folder, history.messages, ending.messages[-1])
    return Written(folder, history.messages, written)


@dataclass(frozen=True, slots=True)
class _Run:
    """The lines that one question adds to the two histories."""

    messages: list[bytes]
    events: list[bytes]


class _History:
    """Generates one run after the other, from texts that are made and escaped for JSON beforehand."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._prose = _Stock([self._sentence() + " " for _ in range(20_000)])
        self._log = _Stock([self._log_line() + "\n" for _ in range(40_000)])
        self._code = _Stock([self._code_line() + "\n" for _ in range(40_000)])
        self._chinese = _Stock([_CHINESE[start:] + _CHINESE[:start] for start in range(len(_CHINESE))] * 40)
        self._earlier: list[bytes] = []
        self._runs = 0
        self.messages = 0

    def run(self, question: str = "", answer: str = "") -> _Run:
        """One run: a question, some tool calls, an answer. The given texts are put at the start."""
        self._runs += 1
        run = b"ctx-%s" % md5(b"%d" % self._runs, usedforsecurity=False).hexdigest().encode()
        messages = [b'{"role":"user","content":"%s","run":"%s"}\n' % (self._small(question), run)]
        events = [
            b'{"type":"start","id":"%s","run":"%s","client_id":"bench-%d","scope":"private"}\n'
            % (run, run, self._runs)
        ]
        for number in range(self._chance.randrange(8)):
            call = b"call-%d-%d" % (self._runs, number)
            messages += [self._assistant_message(self._small(), run), self._tool_result(call, run)]
            events.append(
                b'{"type":"tool_call","id":"%s","name":"shell","arguments":{"command":"run"},"run":"%s"}\n'
                % (call, run)
            )
        messages.append(self._assistant_message(self._small(answer), run))
        events.append(
            b'{"type":"usage","input_tokens":%d,"output_tokens":200,"run":"%s"}\n' % (len(messages), run)
        )
        events.append(b'{"type":"done","status":"ok","run":"%s"}\n' % run)
        self.messages += len(messages)
        return _Run(messages, events)

    def _assistant_message(self, text: bytes, run: bytes) -> bytes:
        return b'{"role":"assistant","content":[{"type":"text","text":"%s"}],"run":"%s"}\n' % (text, run)

    def _tool_result(self, call: bytes, run: bytes) -> bytes:
        output = self._large() if self._chance.random() < 0.12 else self._small()
        return (
            b'{"role":"tool","name":"shell","content":[{"type":"tool_result","tool_call_id":"%s","content":"%s"}],'
            b'"run":"%s"}\n' % (call, output, run)
        )

    def _small(self, start: str = "") -> bytes:
        stock = self._chinese if self._chance.random() < 1 / 12 else self._prose
        return start.encode() + b" " * bool(start) + stock.cut(self._chance, self._chance.randint(*_SMALL))

    def _large(self) -> bytes:
        if len(self._earlier) == _REPEATED and self._chance.random() < 0.1:
            return self._chance.choice(self._earlier)
        length = int(_LARGE[0] * (_LARGE[1] / _LARGE[0]) ** self._chance.random())
        stock = self._chance.choice((self._log, self._log, self._code, self._code, self._chinese))
        output = stock.cut(self._chance, length)
        if len(self._earlier) < _REPEATED:
            self._earlier.append(output)
        return output

    def _sentence(self) -> str:
        words = " ".join(self._chance.choices(_WORDS, k=self._chance.randint(5, 20)))
        return f"{words.capitalize()}."

    def _log_line(self) -> str:
        one, other = self._chance.choices(_WORDS, k=2)
        seconds, number = self._chance.randrange(86_400), self._chance.randrange(10**6)
        time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{time} INFO {one}.{other}: took {number} us"

    def _code_line(self) -> str:
        one, other, third = self._chance.choices(_WORDS, k=3)
        indent = "    " * self._chance.randrange(4)
        return f'{indent}{one} = {other}("{third}", {self._chance.randrange(1000)})'


class _Stock:
    """Pieces of text as JSON strings, joined, to be cut between any two of them."""

    def __init__(self, pieces: list[str]) -> None:
        escaped = [json.dumps(piece, ensure_ascii=False)[1:-1].encode() for piece in pieces]
        self._ends = [0, *accumulate(map(len, escaped))]
        self._text = b"".join(escaped)

    def cut(self, chance: random.Random, length: int) -> bytes:
        """About `length` bytes from a random place."""
        start = chance.randrange(bisect_left(self._ends, len(self._text) - length))
        end = bisect_left(self._ends, self._ends[start] + length)
        return self._text[self._ends[start] : self._ends[end]]


def _write_other_files(folder: Path, messages: int, last: bytes) -> None:
    files = {
        "latest.md": json.loads(last)["content"][0]["text"] + "\n",
        "state": "done\n",
        "cwd": "/srv/bench\n",
        "created_at": f"{_CREATED}\n",
        "updated_at": f"{_CREATED + messages}\n",
        "meta.json": '{"client":"ctx","model":"bench","scope":"private"}\n',
        "context/budget": "32000\n",
        "context/summary.md": "A long session in which an agent ran one command after the other.\n",
        "context/todo.md": "- [ ] measure it\n",
        "context/facts.jsonl": '{"id":"f1","text":"The first question comes first.","source":"messages:1"}\n',
        "context/decisions.jsonl": '{"id":"d1","decision":"Go on.","source":"messages:1-2"}\n',
        "context/refs.jsonl": '{"id":"r1","path":"context/todo.md","kind":"file","summary":"open work"}\n',
        "context/pinned/system.md": "You are a patient agent.\n",
        "context/swap/index.jsonl": "",
        "context/dedup/index.jsonl": "",
    }
    for name in ("context/pinned", "context/swap/chunk", "context/dedup/blob", "context/child"):
        (folder / name).mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def main() -> None:
    parser = ArgumentParser(description="Write a generated session.")
    parser.add_argument("folder", type=Path, help="the folder to write; it must not exist")
    parser.add_argument("--size", choices=SIZES, default="100MB")
    arguments = parser.parse_args()
    written = write_session(arguments.folder, SIZES[arguments.size])
    print(f"{written.folder}: {written.messages:,} messages, {written.size:,} bytes")


if __name__ == "__main__":
    main()
