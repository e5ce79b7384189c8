"""The rules about a folder of sessions and its index (ABI008 and 011).

Examples change what lies around a sound session called default, as in `layout`; `../` is the folder it is in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from ctxview.analysis.wording import excerpt, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.session.grammar import cwd_key
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.root import SessionRoot, channel_session


@rule("ABI008", name="context-outside-session", severity=Severity.WARNING)
def context_outside_session(root: SessionRoot, profile: Profile) -> Iterator[Hit]:
    """A folder of context is beside the sessions instead of in one.

    ## Why
    Context belongs to the session that owns it. Folders such as history, memory or swap further up are not
    read, and their content is lost when sessions are moved or archived.
    ## Bad
    ../memory/notes.md = remember this
    ## Good
    context/pinned/notes.md = remember this
    ## Fix
    Move the content into the session it belongs to.
    ## Source
    Source document, Summary Rules: context files stay under the owning session, not the root ABI.
    """
    for name in root.outside:
        # Relative to the path that the user gave, so that no other path of the machine is shown.
        place = os.path.normpath(root.folder.file(name))
        yield Hit(Origin(place), f"{quoted(name)} is outside of any session; nothing reads it")


@rule("ABI011", name="session-index", severity=Severity.ERROR)
def session_index(root: SessionRoot, profile: Profile) -> Iterator[Hit]:
    """The index names a session that is not there, or is out of date.

    ## Why
    Clients find the session to go on with through the index. A name that leads nowhere starts an empty
    session instead. A list that is not newest first, a current session that is not listed, a working
    directory under the wrong key, or an entry that names no session is warned about. Links are not followed.
    ## Bad
    ../index/current = gone
    ../index/list = default
    ## Good
    ../index/current = default
    ../index/list = default
    ## Fix
    Let the runtime send one message to each session: it writes the index again.
    ## Source
    Runtime: session index files, by-cwd keys are the FNV-1a hash of the path.
    """
    for name in root.links:
        yield Hit(Origin(root.folder.file(name)), f"{quoted(name)} is a symbolic link; it is not followed")
    for each in root.listed:
        if root.session(each.name) is None:
            yield Hit(each.origin, f"the list names {quoted(each.name)}, but there is no such session")
    current = root.current.value
    if current is not None and root.session(current) is None:
        yield Hit(root.origin(root.current), f"the current session {quoted(current)} is not there")
    elif current is not None and current not in root.listed_names and root.list.readable:
        message = f"the current session {quoted(current)} is not in the list"
        yield Hit(root.origin(root.current), message, Severity.WARNING)
    times = [(each, session.updated_at) for each in root.listed if (session := root.session(each.name))]
    known = [(each, time) for each, time in times if time is not None]
    for (first, earlier), (second, later) in pairwise(known):
        if later > earlier:
            message = f"{excerpt(second.name)} is newer than {excerpt(first.name)}, which is listed before it"
            yield Hit(second.origin, message, Severity.WARNING)
            break
    for part in root.channels:
        target = channel_session(part)
        if target is None and part.readable:
            yield Hit(root.origin(part), "the channel names no session", Severity.WARNING)
        elif target is not None and root.session(target) is None:
            message = f"the channel leads to {quoted(target)}, but there is no such session"
            yield Hit(root.origin(part), message)
    for part in (root.current, *root.pointers):
        if part.readable and part.value is None:
            name = part.name.removeprefix("index/")
            yield Hit(root.origin(part), f"{excerpt(name)} names no session", Severity.WARNING)
    for part in root.pointers:
        folder, key = PurePosixPath(part.name).parts[-2:]
        session = root.session(part.value or "")
        origin = root.origin(part)
        if part.value is not None and session is None:
            yield Hit(origin, f"{folder} leads to {quoted(part.value)}, but there is no such session")
        elif folder == "by-cwd" and session is not None and key != cwd_key(session.cwd or ""):
            message = f"{excerpt(key)} leads to {excerpt(session.name)}, whose directory has another key"
            yield Hit(origin, f"{message}: {cwd_key(session.cwd or '')}", Severity.WARNING)
