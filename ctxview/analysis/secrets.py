"""Secrets in any text: find them, report them (SEC), and mask them.

A whole secret never leaves this module: messages and masks show its public prefix and its length.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

from msgspec import Struct

from ctxview.analysis.characters import INVISIBLE, SUSPECT, TAGS
from ctxview.analysis.secret_patterns import (
    SecretPattern,
    could_hold_secret,
    is_example_secret,
    secret_starts,
)
from ctxview.core.findings import Effect, Finding, Hit, Severity, rule, rules_in, run
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import Origin
from ctxview.files.visible_text import visible

SHORTEST = 8
"""Characters; shorter texts hold no secret."""
_LONGEST = 4096
"""Characters; a key in a PEM block is shorter."""
_REST_OF_WORD = lazy_pattern(r"\S*")


class Secret(Struct, frozen=True):
    """A secret found in a text: its span and kind. `masked` is the form that may be shown."""

    start: int
    end: int
    rule: str
    kind: str
    masked: str


def find_secrets(text: str) -> list[Secret]:
    """Return every secret in `text`, in order, without overlaps.

    Invisible characters do not hide one, and neither do escapes: the text is searched as it is written and
    as it reads once its escapes are decoded.
    """
    found = _search(_SpelledText(text, _HIDDEN))
    if _ESCAPED.search(text):
        found += _search(_SpelledText(text, _ESCAPED))
        found.sort(key=lambda secret: secret.start - secret.end)
        longest: list[Secret] = []
        for secret in found:
            if all(secret.end <= other.start or other.end <= secret.start for other in longest):
                longest.append(secret)
        found = longest
    return sorted(found, key=lambda secret: secret.start)


def mask_secrets(text: str) -> str:
    """Return `text` with every secret masked; the same object when there is none."""
    pieces: list[str] = []
    done = 0
    for secret in find_secrets(text):
        pieces += [text[done : secret.start], secret.masked]
        done = secret.end
    return "".join([*pieces, text[done:]]) if pieces else text


def mask_start(text: str, length: int) -> str:
    """Return the first `length` characters, masked. A secret that continues after them is masked as well."""
    most = length + _LONGEST
    word = _REST_OF_WORD.match(text, length, most)
    # Only keys of several lines have spaces.
    end = most if word is None or "PRIVATE KEY" in text[:length] else word.end()
    return mask_secrets(text[:end])[:length]


def secrets_in_bytes(data: bytes) -> list[tuple[int, int, bytes]]:
    """Return start, end and masked form of every secret in the bytes of a file."""
    if not could_hold_secret(data):
        return []
    text = data.decode("utf-8", "surrogateescape")
    found: list[tuple[int, int, bytes]] = []
    at = passed = 0
    for secret in find_secrets(text):
        start = passed + _size(text[at : secret.start])
        at, passed = secret.end, start + _size(text[secret.start : secret.end])
        found.append((start, passed, secret.masked.encode()))
    return found


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def mask(secret: str) -> str:
    """Return the first four characters, but never more than a quarter of the secret, and its length."""
    return f"{visible(secret[: min(4, len(secret) // 4)])}…({len(secret)} characters)"


def check_secrets(text: str, origin_at: Callable[[int, int], Origin]) -> Iterator[Finding]:
    """Run the SEC rules on `text`."""
    found = find_secrets(text)
    if found:
        yield from run(_RULES, found, origin_at)


@rule("SEC001", name="cloud-key", severity=Severity.ERROR, effect=Effect.LEAKED)
def cloud_key(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """The text contains a key of a cloud provider: AWS, Google, Azure, DigitalOcean.

    ## Why
    Anyone who reads the file can use the account: start machines, read buckets, run up bills. Agent memory is
    copied into prompts, logs and backups, and is sent to the model's provider with every turn.
    ## Bad
    Deploy with AKIAQ4ZTB7RNMC2VLDWX
    ## Good
    Deploy with the role of the build machine
    ## Fix
    Revoke the key first, then remove it here and wherever the snapshot was copied to. Keep keys in the
    environment.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC001", secrets, origin_at)


@rule("SEC002", name="repository-token", severity=Severity.ERROR, effect=Effect.LEAKED)
def repository_token(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """The text contains a token of a code host or package registry.

    ## Why
    It can push code or publish packages in someone's name: the first thing a supply-chain attacker looks
    for.
    ## Bad
    git clone with glpat-q3X7vB9mK2tR5wY8nL4c
    ## Good
    git clone with the credential helper
    ## Fix
    Revoke the token, then remove it. Give the agent a separate token with the least rights, outside its
    memory.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC002", secrets, origin_at)


@rule("SEC003", name="model-provider-key", severity=Severity.ERROR, effect=Effect.LEAKED)
def model_provider_key(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """The text contains an API key of a model provider.

    ## Why
    Anyone who finds it can ask the model at the owner's expense, and can often read the conversations kept
    under the account.
    ## Bad
    The key is gsk_q3X7vB9mK2tR5wY8nL4cD6fG1hJ0pS9aZxVuTiOePbMn
    ## Good
    The key is in GROQ_API_KEY
    ## Fix
    Revoke the key, then remove it. The agent needs the variable's name, never its value.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC003", secrets, origin_at)


@rule("SEC004", name="chat-or-payment-token", severity=Severity.ERROR, effect=Effect.LEAKED)
def chat_or_payment_token(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """The text contains a token of a chat, mail or payment service.

    ## Why
    It sends messages in a company's name, or moves its money.
    ## Bad
    Post to https://hooks.slack.com/services/Tq3X7vB9mK/Bt5wY8nL4c/D6fG1hJ0pS9aZxVuTiOePbMn
    ## Good
    Post to the hook in SLACK_WEBHOOK
    ## Fix
    Revoke the token, then remove it.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC004", secrets, origin_at)


@rule("SEC005", name="private-key", severity=Severity.ERROR, effect=Effect.LEAKED)
def private_key(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """The text contains a private key.

    ## Why
    It proves to servers that its holder is someone else: log-ins, signatures, certificates.
    ## Bad
    -----BEGIN OPENSSH PRIVATE KEY-----
    b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ
    -----END OPENSSH PRIVATE KEY-----
    ## Good
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
    -----END PUBLIC KEY-----
    ## Fix
    Replace the key pair everywhere it is trusted, then remove the text.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC005", secrets, origin_at)


@rule("SEC006", name="password-in-url", severity=Severity.ERROR, effect=Effect.LEAKED)
def password_in_url(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """An address carries a password.

    ## Why
    Addresses are copied, logged and shown in error messages without a second thought.
    ## Bad
    Connect to postgres://app:tr0ub4dor@db.internal/orders
    ## Good
    Connect to postgres://app@db.internal/orders
    ## Fix
    Change the password; give it through a file or the environment.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC006", secrets, origin_at)


@rule("SEC007", name="authorization-header", severity=Severity.ERROR, effect=Effect.LEAKED)
def authorization_header(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """The text contains an HTTP header with credentials.

    ## Why
    A captured request gives its reader the session of the sender, often until someone notices.
    ## Bad
    curl -H "Authorization: Bearer q3X7vB9mK2tR5wY8"
    ## Good
    curl -H "Authorization: Bearer $TOKEN"
    ## Fix
    End the session or revoke the token; store requests without this header.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC007", secrets, origin_at)


@rule("SEC008", name="json-web-token", severity=Severity.ERROR, effect=Effect.LEAKED)
def json_web_token(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """The text contains a signed web token (JWT).

    ## Why
    Until it expires it is a log-in, and its middle part can be read by anyone.
    ## Bad
    eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZ2VudC03In0.q3X7vB9mK2tR5wY8nL4cD6fG1hJ0
    ## Good
    The token comes from the login service.
    ## Fix
    Wait for it to expire or revoke the session, and remove it.
    ## Source
    The public shapes of these credentials; matched after invisible characters are removed, placeholders
    left out.
    """
    return _hits("SEC008", secrets, origin_at)


@rule("SEC009", name="secret-setting", severity=Severity.ERROR, effect=Effect.LEAKED)
def secret_setting(secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    """A setting whose name says that it is secret has its value written beside it.

    ## Why
    Session keys, client secrets and API keys of smaller services have no public shape, but their names give
    them away. Anyone who reads the file can sign sessions or call the service.
    ## Bad
    DJANGO_SECRET_KEY=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    ## Good
    DJANGO_SECRET_KEY=${DJANGO_SECRET_KEY}
    ## Fix
    Replace the key where it is used, then remove it here. The agent needs the setting's name, never its
    value.
    ## Source
    Names that end in secret key, client secret, API key, access key, private key or token, with a value of at
    least 32 letters and digits; placeholders left out.
    """
    return _hits("SEC009", secrets, origin_at)


_RULES = rules_in(__name__)


def _hits(rule_id: str, secrets: list[Secret], origin_at: Callable[[int, int], Origin]) -> Iterator[Hit]:
    for secret in secrets:
        if secret.rule == rule_id:
            yield Hit(origin_at(secret.start, secret.end), f"{secret.kind} {secret.masked}")


def _search(spelled: _SpelledText) -> list[Secret]:
    """Return the secrets of a text as it reads, with their places in the text as written."""
    text = spelled.text
    taken: list[tuple[int, int]] = []  # sorted
    found: list[Secret] = []
    for pattern, places in secret_starts(text.encode("latin-1", "replace")):
        group: str | int = "secret" if "secret" in pattern.pattern.groupindex else 0
        for match in _matches(pattern, text, places):
            around = text[match.start() - 1 : match.start() + 1] if match.start() else ""
            if around.isascii() and around.isalnum():
                continue  # the match is only the end of a longer word
            start, end = match.span(group)
            after = bisect(taken, (start, end))
            if (after and taken[after - 1][1] > start) or (after < len(taken) and taken[after][0] < end):
                continue
            taken.insert(after, (start, end))
            if is_example_secret(match[group]):
                continue
            secret = mask(match[group])
            found.append(Secret(*spelled.written(start, end), pattern.rule, pattern.kind, secret))
    return found


def _matches(pattern: SecretPattern, text: str, places: list[int]) -> Iterator[re.Match[str]]:
    """Yield all matches without overlaps, given every place where one could begin."""
    end = 0
    for place in places:
        match = pattern.pattern.match(text, place) if place >= end else None
        if match is not None:
            end = match.end()
            yield match


class _SpelledText:
    """A text as a reader or a parser reads it, with the place of each character in the text as written."""

    def __init__(self, written: str, spelled: re.Pattern[str]) -> None:
        plain = not SUSPECT.search(written)  # so no character is invisible
        if plain and spelled is _HIDDEN:
            self.text = written
        elif plain and not any(piece in written for piece in _RARE_ESCAPES):
            self.text = _decoded(written)
        else:
            self.text = spelled.sub(lambda match: _character(match[0]), written)
        self._escapes = spelled.finditer(written)

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the text as written of a span of `text` that is not empty."""
        read, places = self._breaks
        first, last = bisect(read, start) - 1, bisect(read, end - 1) - 1
        width = places[last + 1] - places[last] if last % 2 else 0  # odd breaks begin an escape
        return places[first] + start - read[first], places[last] + (width or end - read[last])

    @cached_property
    def _breaks(self) -> tuple[list[int], list[int]]:
        """Both sides of each escape: their indexes in the text as it reads, and their places as written."""
        read, places = [0], [0]
        for match in self._escapes:
            start = read[-1] + match.start() - places[-1]
            read += [start, start + len(_character(match[0]))]
            places += match.span()
        return read, places


def _decoded(written: str) -> str:
    """Decode all escapes, ten times as fast as `_ESCAPED`; in this order no result is decoded again."""
    text = _CARET.sub(lambda match: _character(match[0]), written)
    while "\\\\" in text:
        text = text.replace("\\\\", "\\")
    for letter in "\"'/bfnrt":
        text = text.replace(f"\\{letter}", _character(f"\\{letter}"))
    return _UNICODE.sub(lambda match: _character(match[0]), text)


@lru_cache(4096)
def _character(spelled: str) -> str:
    """Return the character that an escape stands for; an invisible character stands for nothing."""
    if spelled[0] == "^":
        return chr(ord(spelled[1]) ^ 0x40)
    if spelled.startswith("<U+"):
        return "" if _HIDDEN.match(character := chr(int(spelled[3:-1], 16))) else character
    if spelled[0] != "\\":
        return ""
    kind = spelled.lstrip("\\")
    if kind.startswith("u"):
        return "" if _HIDDEN.match(character := chr(int(kind[1:], 16))) else character
    return {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.get(kind, kind or "\\")


_RARE_ESCAPES = ("<U+", "\\" * 65)
_CARET, _UNICODE = lazy_pattern(r"\^[@-_?]"), lazy_pattern(r"\\u[0-9a-fA-F]{4}")
_HIDDEN = lazy_pattern(f"{INVISIBLE.pattern}|{TAGS.pattern}")
# Escapes of JSON at any depth (JSON inside a JSON string doubles the backslash), and the forms in which
# `visible` spells characters out. All letters and digits of a secret may be spelled so.
_ESCAPED = lazy_pattern(
    rf"\\{{1,64}}(?:u[0-9a-fA-F]{{4}}|[\"'/bfnrt])?|\^[@-_?]|<U\+[0-9A-F]{{4,5}}>|{_HIDDEN.pattern}"
)
