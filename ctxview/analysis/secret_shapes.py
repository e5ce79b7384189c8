"""What keys, tokens and passwords look like: one bounded pattern for each kind, tried where its hint occurs.

Shapes only. Where they could begin in a text is `secret_openings`; what is told about a find, and how it is
masked, is `secrets`.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True)
class Shape:
    """One kind of secret: the group `secret` of the pattern, or all of it.

    Every match has one of the `hints` (in small letters where case does not matter) behind as many characters
    as `leads` tells, so that most texts need no pattern at all, and a pattern is compiled only when its hint
    was seen. A match counts only where no letter or digit stands before it.
    """

    rule: str
    kind: str
    hints: tuple[bytes, ...]
    expression: str
    flags: re.RegexFlag
    leads: range
    loose: bool
    """Whether a match may do without `RUN` letters, digits, `_` or `-` in a row, or may be in any case."""

    @property
    def any_case(self) -> bool:
        return re.IGNORECASE in self.flags

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.expression, self.flags | re.ASCII)


RUN: Final = 20
"""So many letters, digits, `_` or `-` in a row are in every match that is not `loose`."""

REACH: Final = 64
"""Such a row begins at most so many characters behind the match."""


def _shape(
    rule: str,
    kind: str,
    hints: str,
    expression: str,
    flags: re.RegexFlag = re.NOFLAG,
    leads: range = range(1),
    *,
    loose: bool = False,
) -> Shape:
    return Shape(rule, kind, tuple(hints.encode().split(b"|")), expression, flags, leads, loose)


# The first shape that matches a stretch keeps it, so the special ones come before the general ones.
SHAPES: Final = (
    _shape("SEC005", "private key", "-----BEGIN ",
           r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
           r"(?:(?:[^-]|-(?!----)){0,20000}+-----END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?",
           loose=True),
    _shape("SEC005", "age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}"),
    _shape("SEC001", "AWS access key id", "AKIA", r"AKIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _shape("SEC001", "AWS temporary access key id", "ASIA", r"ASIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _shape("SEC001", "AWS secret key", "aws_secret_access_key",
           r"aws_secret_access_key[\"']?\s{0,4}[=:]\s{0,4}[\"']?"
           r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])", re.IGNORECASE, loose=True),
    _shape("SEC001", "Google API key", "AIza", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _shape("SEC001", "Google OAuth token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,512}"),
    _shape("SEC001", "Google OAuth client secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _shape("SEC001", "Azure storage key", "accountkey=",
           r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)", re.IGNORECASE, loose=True),
    _shape("SEC001", "DigitalOcean token", "doo_v1_|dop_v1_|dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _shape("SEC002", "GitHub token", "ghp_|gho_|ghu_|ghs_|ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _shape("SEC002", "GitHub fine-grained token", "github_pat_", r"github_pat_[A-Za-z0-9_]{40,255}"),
    _shape("SEC002", "GitLab token", "glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-",
           r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,64}"),
    _shape("SEC002", "npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _shape("SEC002", "PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,512}"),
    _shape("SEC002", "Docker token", "dckr_pat_|dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{24,64}"),
    _shape("SEC003", "Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{24,255}"),
    _shape("SEC003", "OpenAI key", "sk-proj-|sk-svcacct-|sk-admin-|sk-None-",
           r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{24,255}"),
    _shape("SEC003", "OpenRouter key", "sk-or-v", r"sk-or-v\d-[0-9a-f]{32,128}"),
    _shape("SEC003", "model provider key", "sk-", r"sk-[A-Za-z0-9]{32,128}(?![A-Za-z0-9])"),
    _shape("SEC003", "Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,64}(?![A-Za-z0-9])"),
    _shape("SEC003", "Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,80}"),
    _shape("SEC003", "xAI key", "xai-", r"xai-[A-Za-z0-9]{60,128}"),
    _shape("SEC003", "Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])"),
    _shape("SEC003", "Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    _shape("SEC004", "Slack token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}", loose=True),
    _shape("SEC004", "Slack app token", "xapp-", r"xapp-\d-[A-Z0-9]{6,20}-[A-Za-z0-9-]{10,255}"),
    _shape("SEC004", "Slack webhook", "hooks.slack.com/",
           r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_+-]{24,128})", loose=True),
    _shape("SEC004", "Discord webhook", "discord",
           r"discord(?:app)?\.com/api/webhooks/\d{17,20}/(?P<secret>[A-Za-z0-9_-]{60,80})"),
    _shape("SEC004", "Telegram bot token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
           leads=range(8, 11)),
    _shape("SEC004", "Stripe key", "rk_live_|sk_live_", r"[rs]k_live_[A-Za-z0-9]{20,255}"),
    _shape("SEC004", "Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,128}", loose=True),
    _shape("SEC004", "SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _shape("SEC008", "JSON web token", "eyJ",
           r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2048}+\.eyJ[A-Za-z0-9_-]{4,4096}+\.[A-Za-z0-9_-]{16,1024}",
           loose=True),
    _shape("SEC006", "password in a URL", "://",
           r"(?<=[A-Za-z])://[^\s/:@\"'<>]{0,64}:(?P<secret>[^\s/:@\"'<>]{3,128})@[A-Za-z0-9\[]", loose=True),
    _shape("SEC007", "Authorization header", "authorization",
           r"Authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:Bearer|Basic|Token|Digest|ApiKey)\s{1,4}"
           r"(?P<secret>[A-Za-z0-9._~+/=-]{8,4096})", re.IGNORECASE, loose=True),
    _shape("SEC007", "API key header", "x-api-key|x-auth-token|x-goog-api-key",
           r"x-(?:api-key|auth-token|goog-api-key)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
           r"(?P<secret>[A-Za-z0-9._~+/=-]{16,512})", re.IGNORECASE, loose=True),
)  # fmt: skip

_MADE_UP: Final = re.compile(
    r"example|placeholder|redacted|your[-_]?|x{4}|\*{3}|\.{3}|0{8}|^\W*$"
    r"|^(?:pass(?:word|wd)?|pwd|secret|token|changeme)$|^\$|^%|^\{|^<",
    re.IGNORECASE,
)


def is_made_up(secret: str) -> bool:
    """Whether this only stands where a secret would: `sk-xxxx…`, `${TOKEN}`, `AKIAIOSFODNN7EXAMPLE`."""
    return _MADE_UP.search(secret) is not None or (len(secret) >= 16 and len(set(secret)) < 6)
