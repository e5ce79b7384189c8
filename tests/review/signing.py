"""Reviewers with real SSH keys, and signed-off copies of a sample."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from ctxview.core.findings import Finding
from ctxview.formats import open_source
from ctxview.review.decisions import DecisionKind
from ctxview.review.rules import judge
from ctxview.review.sign_off import SignOffRequest, open_review, sign_off
from ctxview.review.verification import VerifyOptions, verify_path
from ctxview.review.words import SignOff
from tests.review.building import LENS, sample
from tests.running import LIMIT


def make_key(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    key = folder / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True, timeout=LIMIT
    )
    return key


def allow(file: Path, **keys: Path) -> Path:
    """Write the file of allowed signers."""
    lines = [f"{name} {key.with_suffix('.pub').read_text('utf-8')}" for name, key in keys.items()]
    file.write_text("".join(lines), "utf-8")
    return file


@dataclass(frozen=True)
class Reviewed:
    """A folder that was reviewed, the record, and the key and name of the reviewer."""

    path: Path
    record: Path
    key: Path
    allowed: Path
    options: VerifyOptions

    def findings(self, options: VerifyOptions | None = None) -> tuple[Finding, ...]:
        return judge(verify_path(self.path, LENS, options or self.options))

    def rules(self, options: VerifyOptions | None = None) -> set[str]:
        return {finding.rule for finding in self.findings(options)}


def sign(
    path: Path,
    reviewer: str = "ines",
    decision: SignOff = SignOff.APPROVED,
    key: Path | None = None,
    to: Path | None = None,
) -> Path:
    """Decide every point, and sign off."""
    sources = [open_source(path)]
    review = open_review(sources, LENS)
    for point in review.undecided:
        review = review.with_decision(point, DecisionKind.ACCEPTED, "known", reviewer)
    request = SignOffRequest(decision, reviewer, "because of the patch", to, key)
    return sign_off(review, sources, request)[0]


def reviewed(folder: Path, decision: SignOff = SignOff.APPROVED, *, signed: bool = True) -> Reviewed:
    path = sample("handoff", folder)
    key = make_key(folder / "keys", "ines")
    record = sign(path, decision=decision, key=key if signed else None)
    allowed = allow(folder / "allowed_signers", ines=key)
    return Reviewed(path, record, key, allowed, VerifyOptions(allowed_signers=allowed))
