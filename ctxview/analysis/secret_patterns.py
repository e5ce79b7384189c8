"""Patterns of keys, tokens and passwords, and the places in a text where each could match.

Each kind of secret has one bounded pattern, tried only where one of its hints occurs. Findings and masks are
in `secrets`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from msgspec import Struct

from ctxview.analysis.characters import SUSPECT
from ctxview.core.lazy import lazy_pattern


class SecretPattern(Struct, frozen=True, dict=True):
    """One kind of secret: the group `secret` of the pattern, or the whole match.

    Every match has one of the `hints` (in lower case where case does not matter) as many characters after its
    start as `leads` says. So most texts need no pattern, and a pattern is compiled only when its hint was
    found. A match counts only if no letter or digit comes before it.
    """

    rule: str
    kind: str
    hints: tuple[bytes, ...]
    expression: str
    flags: re.RegexFlag
    leads: range
    loose: bool
    """Whether a match may lack a row of `RUN` letters, digits, `_` or `-`, or may be in any case."""
    around: bytes = b""
    """An expression that every match has at its hint, in UTF-8; for hints that are common otherwise."""

    @property
    def any_case(self) -> bool:
        return re.IGNORECASE in self.flags

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.expression, self.flags | re.ASCII)


RUN: Final = 20
"""Length of the row of letters, digits, `_` or `-` in every match that is not `loose`."""

REACH: Final = 64
"""Such a row begins at most so many characters after the start of the match."""


def _pattern(
    rule: str,
    kind: str,
    hints: str,
    expression: str,
    flags: re.RegexFlag = re.NOFLAG,
    leads: range = range(1),
    *,
    loose: bool = False,
    around: bytes = b"",
) -> SecretPattern:
    return SecretPattern(
        rule, kind, tuple(hints.encode().split(b"|")), expression, flags, leads, loose, around
    )


# The first pattern that matches a span keeps it, so the special ones come before the general ones.
SECRET_PATTERNS: Final = (
    _pattern("SEC005", "private key", "-----BEGIN ",
             r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
             r"(?:(?:[^-]|-(?!----)){0,20000}+-----END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?",
             loose=True),
    _pattern("SEC005", "age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}"),
    _pattern("SEC001", "AWS access key id", "AKIA", r"AKIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _pattern("SEC001", "AWS temporary access key id", "ASIA", r"ASIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _pattern("SEC001", "AWS secret key", "aws_secret_access_key",
             r"aws_secret_access_key[\"']?[\s=:]{1,8}[\"']?"
             r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])", re.IGNORECASE, loose=True),
    _pattern("SEC001", "Google API key", "AIza", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _pattern("SEC001", "Google OAuth token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,512}"),
    _pattern("SEC001", "Google OAuth client secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _pattern("SEC001", "Azure storage key", "accountkey=",
             r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)", re.IGNORECASE, loose=True),
    _pattern("SEC001", "DigitalOcean token", "doo_v1_|dop_v1_|dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _pattern("SEC002", "GitHub token", "ghp_|gho_|ghu_|ghs_|ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _pattern("SEC002", "GitHub fine-grained token", "github_pat_", r"github_pat_[A-Za-z0-9_]{40,255}"),
    _pattern("SEC002", "GitLab token", "glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-",
             r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,64}"),
    _pattern("SEC002", "npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _pattern("SEC002", "PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,512}"),
    _pattern("SEC002", "Docker token", "dckr_pat_|dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{24,64}"),
    _pattern("SEC003", "Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{24,255}"),
    _pattern("SEC003", "OpenAI key", "sk-proj-|sk-svcacct-|sk-admin-|sk-None-",
             r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{24,255}"),
    _pattern("SEC003", "OpenRouter key", "sk-or-v", r"sk-or-v\d-[0-9a-f]{32,128}"),
    _pattern("SEC003", "model provider key", "sk-", r"sk-[A-Za-z0-9]{32,128}(?![A-Za-z0-9])"),
    _pattern("SEC003", "Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,64}(?![A-Za-z0-9])"),
    _pattern("SEC003", "Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,80}"),
    _pattern("SEC003", "xAI key", "xai-", r"xai-[A-Za-z0-9]{60,128}"),
    _pattern("SEC003", "Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])"),
    _pattern("SEC003", "Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    _pattern("SEC004", "Slack token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}", loose=True),
    _pattern("SEC004", "Slack app token", "xapp-", r"xapp-\d-[A-Z0-9]{6,20}-[A-Za-z0-9-]{10,255}"),
    _pattern("SEC004", "Slack webhook", "hooks.slack.com/",
             r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_+-]{24,128})", loose=True),
    _pattern("SEC004", "Discord webhook", "discord",
             r"discord(?:app)?\.com/api/webhooks/\d{17,20}/(?P<secret>[A-Za-z0-9_-]{60,80})"),
    _pattern("SEC004", "Telegram bot token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
             leads=range(8, 11)),
    _pattern("SEC004", "Stripe key", "rk_live_|sk_live_", r"[rs]k_live_[A-Za-z0-9]{20,255}"),
    _pattern("SEC004", "Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,128}", loose=True),
    _pattern("SEC004", "SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _pattern("SEC008", "JSON web token", "eyJ",
             # A part ends before the next start, so that many starts in a row take linear time.
             r"(?<![A-Za-z0-9])eyJ(?:(?![_-]eyJ)[A-Za-z0-9_-]){8,2048}+\."
             r"eyJ[A-Za-z0-9_-]{4,4096}+\.[A-Za-z0-9_-]{16,1024}",
             loose=True),
    _pattern("SEC006", "password in a URL", "://",
             r"(?<=[A-Za-z])://[^\s/:@\"'<>]{0,64}:(?P<secret>[^\s/:@\"'<>]{3,128})@[A-Za-z0-9\[]",
             loose=True, around=rb"://[^\s/@\"'<>]{3,800}@"),
    _pattern("SEC007", "Authorization header", "authorization",
             r"Authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:Bearer|Basic|Token|Digest|ApiKey)\s{1,4}"
             r"(?P<secret>[A-Za-z0-9._~+/=-]{8,4096})", re.IGNORECASE, loose=True),
    _pattern("SEC007", "API key header", "x-api-key|x-auth-token|x-goog-api-key",
             r"x-(?:api-key|auth-token|goog-api-key)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
             r"(?P<secret>[A-Za-z0-9._~+/=-]{16,512})", re.IGNORECASE, loose=True),
    _pattern("SEC007", "bearer token", "bearer",
             r"Bearer\s{1,4}(?=[A-Za-z._~+/=-]{0,512}\d)(?P<secret>[A-Za-z0-9._~+/=-]{20,4096})",
             re.IGNORECASE, loose=True),
    _pattern("SEC009", "secret setting",
             "secret_key|secretkey|client_secret|api_key|apikey|access_key|private_key|auth_token|access_token",
             r"(?:secret_?key|client_secret|api_?key|access_key|private_key|auth_token|access_token)"
             r"[\"']?[\s=:]{1,8}[\"']?(?=[A-Za-z+/_=-]{0,512}\d)(?=[\d+/_=-]{0,512}[A-Za-z])"
             r"(?P<secret>[A-Za-z0-9+/_=-]{32,512})", re.IGNORECASE, loose=True),
)  # fmt: skip

_PLACEHOLDER: Final = lazy_pattern(
    r"example|placeholder|redacted|your[-_]?|x{4}|\*{3}|\.{3}|0{8}|^\W*$"
    r"|^(?:pass(?:word|wd)?|pwd|secret|token|changeme)$|^\$|^%|^\{|^<",
    re.IGNORECASE,
)


def is_example_secret(secret: str) -> bool:
    """Whether this is a placeholder for a secret: `sk-xxxx…`, `${TOKEN}`, `AKIAIOSFODNN7EXAMPLE`."""
    return _PLACEHOLDER.search(secret) is not None or (len(secret) >= 16 and len(set(secret)) < 6)


_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_IN_ROW = bytes(ord("a") if byte in _WORD else 0 for byte in range(256))
_ROW = b"a" * RUN

_TIGHT = [(hint, pattern) for pattern in SECRET_PATTERNS if not pattern.loose for hint in pattern.hints]
_LOOSE = [
    (hint, pattern)
    for pattern in SECRET_PATTERNS
    if pattern.loose and not pattern.any_case
    for hint in pattern.hints
]
_ANY_CASE = [(hint, pattern) for pattern in SECRET_PATTERNS if pattern.any_case for hint in pattern.hints]
_ENDINGS = [
    (ending, tuple(hint.rstrip(b"=") for hint, _ in group), group)
    for ending in (b"key", b"token", b"client_secret", b"authorization", b"bearer")
    for group in [[each for each in _ANY_CASE if each[0].rstrip(b"=").endswith(ending)]]
]
"""The hints in any case by the letters at their end: one search for these excludes all hints of a group."""
# Escapes may hide a hint: those of ASCII, of invisible characters, and of a slash in a hint.
_HIDING_ESCAPE: Final = lazy_pattern(
    rb"\\(?:u(?:00|034[fF]|115[fF]|1160|17[bB][45]|180[b-fB-F]|20(?:0[b-dB-D]|6[0-5a-fA-F])|2800|3164"
    rb"|[fF](?:[eE](?:0|[fF]{2})|[fF](?:[aA]0|[fF][0-9abAB])))|(?<=[:m]\\)\\{0,63}/)"
)


def secret_starts(data: bytes) -> list[tuple[SecretPattern, list[int]]]:
    """Return every pattern that may match, in order, with the sorted offsets where a match could begin.

    `data` must have one byte for each character; which byte a character beyond ASCII has does not matter.
    """
    found: dict[str, list[int]] = {}
    for pattern, place in _hints(data):
        found.setdefault(pattern.kind, []).extend(place - lead for lead in pattern.leads if place >= lead)
    return (
        [(pattern, sorted(found[pattern.kind])) for pattern in SECRET_PATTERNS if found.get(pattern.kind)]
        if found
        else []
    )


def could_hold_secret(data: bytes) -> bool:
    """Whether `data` may hold a secret, as text or in JSON strings; False is certain."""
    if next(_hints(data), None) is not None or b"<U+" in data or _HIDING_ESCAPE.search(data):
        return True
    # Every invisible character is suspect.
    return not data.isascii() and SUSPECT.search(data.decode("utf-8", "replace")) is not None


def _hints(data: bytes) -> Iterator[tuple[SecretPattern, int]]:
    """Yield every place where a hint of a pattern occurs."""
    for hint, pattern in _LOOSE:
        if (place := data.find(hint)) >= 0:
            yield from _occurrences(data, hint, pattern, place, len(data))
    lowered = data.lower()
    for ending, hints, group in _ENDINGS:
        end = lowered.find(ending) + len(ending)
        while end >= len(ending) and not lowered.endswith(hints, 0, end):
            end = lowered.find(ending, end) + len(ending)
        for hint, pattern in group if end >= len(ending) else ():
            if (place := lowered.find(hint)) >= 0:
                yield from _occurrences(lowered, hint, pattern, place, len(data))
    spans = _near_rows(data)
    together = b"\0".join([data[start:end] for start, end in spans])
    tight = [(hint, pattern) for hint, pattern in _TIGHT if hint in together] if together else []
    for start, end in spans if tight else ():
        for hint, pattern in tight:
            if (place := data.find(hint, start, end)) >= 0:
                yield from _occurrences(data, hint, pattern, place, end)


def _occurrences(
    data: bytes, hint: bytes, pattern: SecretPattern, place: int, end: int
) -> Iterator[tuple[SecretPattern, int]]:
    while place >= 0:
        if not pattern.around or re.compile(pattern.around).match(data, place):
            yield pattern, place
        place = data.find(hint, place + 1, end)


def _near_rows(data: bytes) -> list[tuple[int, int]]:
    """Separate spans that together hold every possible secret with a long row."""
    rows = data.translate(_IN_ROW)
    near: list[tuple[int, int]] = []
    start = rows.find(_ROW)
    while start >= 0:
        end = rows.find(b"\0", start)
        end = len(data) if end < 0 else end
        first = max(0, start - REACH)
        if near and near[-1][1] >= first:
            near[-1] = near[-1][0], end
        else:
            near.append((first, end))
        start = rows.find(_ROW, end)
    return near
