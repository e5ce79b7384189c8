"""Signatures of records by `ssh-keygen -Y`, in the namespace `ctxview`, checked as git checks its own.

The signature of `X` lies in `X.sig`. A signer is known when an `allowed_signers` file names the key for the
reviewer of the record.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from ctxview.files.create import create
from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.visible_text import visible
from ctxview.review.record import ReviewStatement
from ctxview.review.words import SignatureState

PROGRAM = "ssh-keygen"
NAMESPACE = "ctxview"
LARGEST_SIGNATURE = 64 * 1024
_LONGEST_WAIT = 60
_FINGERPRINT = re.compile(rb"SHA256:[A-Za-z0-9+/]{43}")


class SigningFailed(Exception):
    """A record that was not signed, with the reason."""


class SignatureCheck(Struct, frozen=True):
    """The state of a signature and what `ssh-keygen` said about it."""

    state: SignatureState
    note: str = ""
    key: str = ""
    """The fingerprint of the key that made it."""


def signature_file(record: Path) -> Path:
    return record.with_name(f"{record.name}.sig")


def sign(data: bytes, key: Path) -> bytes:
    """Return the signature of a record by a key, or by the agent that holds it; raises `SigningFailed`."""
    with TemporaryDirectory(prefix="ctxview-sign-") as folder:
        file = Path(folder) / "record"
        file.write_bytes(data)
        command = [PROGRAM, "-Y", "sign", "-f", str(key.expanduser()), "-n", NAMESPACE, str(file)]
        # A key with a passphrase asks for it on the terminal.
        done = _run(command, timeout=None)
        if done is None:
            raise SigningFailed(f"{PROGRAM} is not installed")
        if done.returncode:
            raise SigningFailed(_said(done) or f"{PROGRAM} failed")
        return signature_file(file).read_bytes()


def sign_command(record: Path) -> str:
    """Return the command with which a person signs a record that was written without a signature."""
    return f"{PROGRAM} -Y sign -n {NAMESPACE} -f ~/.ssh/id_ed25519 {shlex.quote(str(record))}"


def write_signature(record: Path, signature: bytes) -> None:
    """Create the signature file beside a record; raises `CreateRefused`."""
    file = signature_file(record)
    create(file.parent, file.name, signature, mode=0o644)


def check_signature(
    record: Path, digest: str, statement: ReviewStatement, allowed_signers: Path | None
) -> SignatureCheck:
    """Check the signature beside a record: of the bytes with this SHA-256, and for the reviewer it names."""
    file = signature_file(record)
    if not file.exists() and not file.is_symlink():
        return SignatureCheck(SignatureState.UNSIGNED)
    try:
        data, signature = read_bytes(record), read_bytes(file, LARGEST_SIGNATURE)
    except ReadError as error:
        return SignatureCheck(SignatureState.BAD, error.reason)
    if sha256(data).hexdigest() != digest:
        return SignatureCheck(SignatureState.BAD, "the record changed while it was read")
    with TemporaryDirectory(prefix="ctxview-verify-") as folder:
        # The signature is copied so that the checked bytes are those that were read.
        copied = Path(folder) / "signature"
        copied.write_bytes(signature)
        given = ["-n", NAMESPACE, "-s", str(copied)]
        done = _run([PROGRAM, "-Y", "check-novalidate", *given], data)
        if done is None:
            return SignatureCheck(SignatureState.UNKNOWN_SIGNER, f"{PROGRAM} is not installed")
        if done.returncode:
            return SignatureCheck(SignatureState.BAD, _said(done))
        fingerprint = _FINGERPRINT.search(done.stdout + done.stderr)
        key = fingerprint[0].decode() if fingerprint is not None else ""
        if allowed_signers is None:
            return SignatureCheck(SignatureState.UNVERIFIED, _said(done), key)
        # As git does: a key counts if it was valid when the record says that it was made.
        when = statement.predicate.time.astimezone().strftime("%Y%m%d%H%M%S")
        known = ["-f", str(allowed_signers), "-I", statement.predicate.reviewer, f"-Overify-time={when}"]
        done = _run([PROGRAM, "-Y", "verify", *known, *given], data)
    if done is None or done.returncode:
        who = f"no key of {statement.predicate.reviewer} in {allowed_signers.name} made the signature"
        return SignatureCheck(SignatureState.UNKNOWN_SIGNER, visible(who))
    return SignatureCheck(SignatureState.GOOD, _said(done), key)


def _run(
    command: list[str], data: bytes | None = None, timeout: int | None = _LONGEST_WAIT
) -> subprocess.CompletedProcess[bytes] | None:
    """Run `ssh-keygen`; None when it is not installed. One that hangs has failed."""
    try:
        return subprocess.run(command, input=data, capture_output=True, timeout=timeout, check=False)
    except FileNotFoundError:
        return None
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, b"", f"{PROGRAM} did not end".encode())


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that the program printed, without characters that act."""
    lines = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").split("\n")
    return visible(next((line.strip() for line in reversed(lines) if line.strip()), ""))
