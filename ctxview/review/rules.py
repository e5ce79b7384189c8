"""Rules about reviews: whether a path is approved, and whether its records can be trusted (REV001 to REV010).

Examples start from a reviewed folder with one approval of `ines`, signed with a key that the file of allowed
signers has; `options` are those of `ctxview review --verify`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ctxview.analysis.wording import counted, excerpt, listed
from ctxview.core.findings import Finding, Hit, Severity, rule, rules_in, run
from ctxview.core.origin import Origin
from ctxview.review.words import SignatureState, SignOff

if TYPE_CHECKING:
    from ctxview.review.verification import CheckedPath, CheckedRecord

EXIT_CODES = {
    "REV001": 2,
    "REV005": 2,
    "REV006": 2,
    "REV007": 6,
    "REV008": 6,
    "REV004": 5,
    "REV003": 4,
    "REV002": 3,
    "REV009": 3,
}
"""The exit code of `review --verify` by rule. The first rule in this order that has a finding decides."""
MOST_NAMED = 12


def judge(checked: CheckedPath) -> tuple[Finding, ...]:
    """Return the findings about the reviews of a path."""
    return tuple(run(rules_in(__name__), checked))


def exit_code(findings: tuple[Finding, ...]) -> int:
    """Return the exit code for the findings of all paths; 0 when everything is approved."""
    found = {finding.rule for finding in findings}
    return next((code for rule_id, code in EXIT_CODES.items() if rule_id in found), 0)


@rule("REV001", name="not-covered-by-review", severity=Severity.ERROR)
def not_covered(checked: CheckedPath) -> Iterator[Hit]:
    """A file of the reviewed path cannot be read, so no review can cover it.

    ## Why
    An approval holds for bytes. What cannot be read now may be anything later, and the receiver may be able
    to read it.
    ## Bad
    file content/more.txt = (a pipe)
    ## Good
    file content/more.txt = text
    ## Fix
    Make the file readable or take it out, then review again. A reviewer may also accept it with a reason: the
    record then names it, and it is no longer reported.
    ## Source
    Ours.
    """
    known = {name for record in checked.latest if record.predicate for name in record.predicate.not_covered}
    for name, why in checked.subject.unread.items():
        if name not in known:
            yield Hit(Origin(str(checked.subject.root / name)), f"no review covers it: {why}")


@rule("REV002", name="not-reviewed", severity=Severity.ERROR)
def not_reviewed(checked: CheckedPath) -> Iterator[Hit]:
    """No approval of the path is there.

    ## Why
    What was not approved must not be handed on as if it were. A record whose reviewer only asked for
    context, or that is older than `--not-before`, approves nothing.
    ## Bad
    record = (absent)
    ## Good
    decision = approved
    ## Fix
    Run `ctxview review PATH` and decide.
    ## Source
    Ours.
    """
    about = [each for each in checked.records if each.is_about]
    approved = [each for each in about if each.decides(SignOff.APPROVED)]
    if any(map(checked.is_too_old, approved)) and not checked.approvals:
        yield Hit(_place(checked), "its approval is older than --not-before allows")
    elif not checked.is_decided and not (approved and approved[-1].file_changes):
        asked = [each for each in about if each.decides(SignOff.ASKED)]
        who = listed(_reviewer(each) for each in asked)
        yield Hit(
            _place(checked), f"it waits for context that {who} asked for" if asked else "it is not reviewed"
        )


@rule("REV003", name="changed-since-review", severity=Severity.ERROR)
def changed_since_review(checked: CheckedPath) -> Iterator[Hit]:
    """The path was approved and has changed since.

    ## Why
    An approval holds for exactly the bytes that were reviewed. One changed byte, a new file and a removed
    file end it; a changed file time does not. The message names the parts that changed in meaning.
    ## Bad
    file content/fix.patch += one more line
    ## Good
    file content/fix.patch = (touched)
    ## Fix
    Look at what changed, and review again: decisions about points that did not change are kept.
    ## Source
    Ours.
    """
    if checked.is_decided:
        return
    approved = [each for each in checked.records if each.is_about and each.decides(SignOff.APPROVED)]
    if approved and (last := approved[-1]).file_changes:
        files = [each for each in last.file_changes if each not in last.changes]
        parts = listed([*last.changes, *files], MOST_NAMED)
        yield Hit(_place(checked), f"it changed since {_reviewer(last)} approved it: {parts}")


@rule("REV004", name="review-rejected", severity=Severity.ERROR)
def review_rejected(checked: CheckedPath) -> Iterator[Hit]:
    """A reviewer rejected the path as it is now.

    ## Why
    One rejection counts more than any number of approvals by others; the same reviewer can replace it by a
    later decision.
    ## Bad
    decision = rejected
    ## Good
    decision = approved
    ## Fix
    Read the comment in the record, change what it names, and ask for another review.
    ## Source
    Ours.
    """
    for each in checked.latest:
        if each.decides(SignOff.REJECTED) and each.predicate is not None:
            comment = f": {excerpt(each.predicate.comment, 200)}" if each.predicate.comment else ""
            yield Hit(Origin(str(each.path)), f"{_reviewer(each)} rejected it{comment}")


@rule("REV005", name="broken-review-record", severity=Severity.ERROR)
def broken_record(checked: CheckedPath) -> Iterator[Hit]:
    """A review record cannot be read as one.

    ## Why
    It may have been a rejection. A record that is broken, has members twice or unknown members is not used.
    ## Bad
    record = {"_type": "https://in-toto.io/Statement/v1", "subject": []}
    ## Good
    decision = approved
    ## Fix
    Restore the record from where it was published, or remove it and review again.
    ## Source
    Ours; in-toto Statement v1.
    """
    for each in checked.records:
        if each.file.problem and not each.file.other_version:
            yield Hit(
                Origin(str(each.path)), f"this is not a review record: {excerpt(each.file.problem, 200)}"
            )


@rule("REV006", name="unknown-review-version", severity=Severity.ERROR)
def unknown_version(checked: CheckedPath) -> Iterator[Hit]:
    """A review record has a version that this ctxview does not know.

    ## Why
    A later version may say something that must not be overlooked, so the record is not used.
    ## Bad
    record = {"predicateType": "urn:ctxview:review:v9"}
    ## Good
    decision = approved
    ## Fix
    Verify with the version of ctxview that wrote it.
    ## Source
    Ours.
    """
    for each in checked.records:
        if each.file.other_version:
            yield Hit(Origin(str(each.path)), each.file.problem)


@rule("REV007", name="bad-review-signature", severity=Severity.ERROR)
def bad_signature(checked: CheckedPath) -> Iterator[Hit]:
    """The signature of a review record does not fit its bytes.

    ## Why
    The record was changed after it was signed, or the signature was made for something else: another file,
    another namespace.
    ## Bad
    record += (a space at its end)
    ## Good
    decision = approved
    ## Fix
    Do not trust the record. Get it again from the reviewer.
    ## Source
    Ours; `ssh-keygen -Y verify`.
    """
    for each in checked.records:
        if each.signature.state is SignatureState.BAD:
            yield Hit(Origin(str(each.path)), f"the signature is bad: {excerpt(each.signature.note, 200)}")


@rule("REV008", name="unknown-review-signer", severity=Severity.ERROR)
def unknown_signer(checked: CheckedPath) -> Iterator[Hit]:
    """An approval is not signed by a key that the file of allowed signers has for its reviewer.

    ## Why
    Everyone can write a record that names another reviewer. Only the signature proves who decided. Without
    `--require-signature` an unsigned record counts, and a signature by an unknown key never does.
    ## Bad
    signature = (another key)
    ## Good
    decision = approved
    ## Fix
    Add the key of the reviewer to the file of allowed signers, or have a known reviewer sign.
    ## Source
    Ours; ALLOWED SIGNERS in ssh-keygen(1).
    """
    for each in checked.records:
        state, required = each.signature.state, checked.options.require_signature
        wanted = each.is_current and each.decides(SignOff.APPROVED) and required
        if state is SignatureState.UNKNOWN_SIGNER:
            yield Hit(Origin(str(each.path)), excerpt(each.signature.note, 200))
        elif wanted and state is SignatureState.UNSIGNED:
            yield Hit(Origin(str(each.path)), f"the approval by {_reviewer(each)} is not signed")
        elif wanted and state is SignatureState.UNVERIFIED:
            yield Hit(Origin(str(each.path)), "name the known signers with --allowed-signers FILE")


@rule("REV009", name="too-few-reviewers", severity=Severity.ERROR)
def too_few_reviewers(checked: CheckedPath) -> Iterator[Hit]:
    """Fewer reviewers approved the path than are required.

    ## Why
    `--reviewers 2` asks for two people; two records of one reviewer are one approval, and so are two names
    that sign with one key.
    ## Bad
    options = --reviewers 2
    ## Good
    options = --reviewers 1
    ## Fix
    Ask another reviewer.
    ## Source
    Ours.
    """
    people = checked.approving_people
    if 0 < people < checked.options.reviewers:
        who = listed(_reviewer(each) for each in checked.approvals)
        key = ", with one key" if people < len(checked.approvals) else ""
        need = counted(checked.options.reviewers, "reviewer")
        yield Hit(_place(checked), f"only {who} approved it{key}, and {need} must")


@rule("REV010", name="missing-earlier-review", severity=Severity.INFO)
def missing_earlier_review(checked: CheckedPath) -> Iterator[Hit]:
    """A review follows an earlier one that is not here.

    ## Why
    The earlier record may have been a rejection. Every record has the digest of the one before it.
    ## Bad
    follows = 0000000000000000000000000000000000000000000000000000000000000000
    ## Good
    decision = approved
    ## Fix
    Publish all records of a path together.
    ## Source
    Ours.
    """
    known = {each.file.digest for each in checked.records}
    for each in checked.records:
        follows = each.predicate.follows if each.predicate is not None else None
        if follows is not None and follows not in known:
            yield Hit(Origin(str(each.path)), f"it follows the review {follows[:12]}, which is not here")


def _place(checked: CheckedPath) -> Origin:
    return Origin(str(checked.path))


def _reviewer(record: CheckedRecord) -> str:
    return record.predicate.reviewer if record.predicate is not None else "?"
