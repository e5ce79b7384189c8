"""The rules about statements that are no longer true: paths, commands, layers, versions (WSP011 to WSP014).

Everything is looked up below the opened folder only. Examples change the sound home of the tests, as in
`template`; those that begin with `repository` change an ordinary repository with the file that follows.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.workspace.facts import WorkspaceFacts, phrase_pattern
from ctxview.formats.workspace.markdown import MarkdownDocument
from ctxview.formats.workspace.model import Role, WorkspaceFile
from ctxview.formats.workspace.parser import IMPORT
from ctxview.formats.workspace.repository import contradicts

_TYPES = (
    "md|mdc|txt|ts|tsx|js|jsx|mjs|cjs|py|pyi|rs|go|json|jsonc|toml|yaml|yml|sh|sql|css|scss|html|java|kt|rb|c|h|cc|cpp"
    "|hpp|proto|swift|vue|svelte|cs|php|ex|exs|gradle|xml|cfg|ini|lua|zig|dart|tf|graphql|prisma"
)
PATH = re.compile(rf"(?<![\w@:/~$.{{<*-])(?:\./)?(?:[\w.-]+/)+[\w.-]+\.(?:{_TYPES})\b(?![\w/*<{{])")
_MADE_UP = re.compile(
    r"path[/_-]to|(?i:example|xxx|template)|\.\.\.|NNN|YYYY"
    r"|(?<![^\W_])(?i:foo|bar|your|my|some)(?![^\W_])|(?:Foo|Bar|Your|My|Some)(?=[A-Z])"
)
_FUTURE = re.compile(
    r"\b(?:creat|add|new|generat|writ|output|produc|gitignor|cop(?:y|ied)|mov|renam|delet|remov|would|example|e\.g"
    r"|like|such as|instead|former|legacy|deprecat|no longer|not exist|never|don't|optional"
    r"|if (?:it|there|present))",
    re.IGNORECASE,
)
_SCRIPT = re.compile(
    r"\b(npm|pnpm|bun) run ([A-Za-z][\w:.-]*)(?![\w./*<{-])|\b(npm|pnpm) (test)\b"
    r"|\b(yarn|pnpm|bun) ([a-z][\w-]*:[\w:-]+)(?![\w./*<{-])"  # Only a script has a colon in its name.
)
_MAKE = re.compile(r"(?:^|[\s`&;(])make ([a-z][\w-]*)(?![\w./*=<{-])")
_JUST = re.compile(r"(?:^|[`&;])\s*just ([a-z][\w-]*)(?![\w./*=<{-])")
_SHELL = ("", "sh", "bash", "shell", "console", "zsh", "terminal", "text")
_VERSION = re.compile(
    r"\b(Node(?:\.js)?|Python|Go|Rust|[A-Z]\w+(?:\.js)?) v?(\d{1,6}(?:\.\d{1,6})?)"
    r"(?:\.\d+|\.x)*(\+?)(?![\w-])"
)
_MODEL = re.compile(
    r"\b(?:claude|gpt|gemini|qwen|llama|mistral|glm|deepseek|gemma|phi)[\w.]*(?:[-:][\w.]+)*\b", re.IGNORECASE
)
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_TOOL = re.compile(r"^`([A-Za-z_][\w-]*)(?:\([^`]*\))?`")


@rule("WSP011", name="stale-path", severity=Severity.WARNING)
def stale_path(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A file of the prompt names a path that does not exist.

    ## Why
    The model opens it, fails, and searches: turns and tokens for a file that was moved long ago.
    ## Bad
    AGENTS.md += - The clock is in `src/clock.cpp`.
    ## Good
    AGENTS.md += - The tone is in `workspace/SOUL.md`.
    ## Fix
    Correct the path, or remove the statement.
    ## Source
    Source document, TOOLS.md fixes: stale layers.
    """
    for file in _looked_at(facts):
        for number, text in _lines(file.document):
            if _FUTURE.search(IMPORT.sub("", re.sub(r"`[^`]*`", "", text))):
                continue
            missing = [path for path in PATH.findall(text) if _is_missing(facts, path)]
            missing += _missing_imports(facts, file, text)
            if missing:
                yield Hit(
                    file.document.origin(number), f"there is no {listed(missing)} below the opened folder"
                )


@rule("WSP012", name="stale-command", severity=Severity.INFO)
def stale_command(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A tool of TOOLS.md was never used, or a command of a repository does not exist in it.

    ## Why
    The model tries what the file promises. A script that is not in package.json, or a target that no Makefile
    has, costs a failed turn.
    ## Bad
    TOOLS.md += - `teleport`: moves the user.
    ## Good
    TOOLS.md += - `read_file`: reads a file.
    ## Fix
    Name the command as it is called now, or remove it.
    ## Source
    Source document, TOOLS.md fixes.
    """
    if facts.era is not None:
        yield from _unused_tools(facts)
        return
    for file in _looked_at(facts):
        for number, text in _commands(file.document):
            if (missing := _missing_command(facts, text)) is not None:
                yield Hit(file.document.origin(number), missing, Severity.WARNING)


@rule("WSP013", name="removed-layer", severity=Severity.WARNING)
def removed_layer(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A file describes a layer of memory that the program no longer has.

    ## Why
    The model looks for notes that are not there, or believes that something is remembered.
    ## Bad
    TOOLS.md += - Semantic retrieval finds old notes.
    ## Good
    TOOLS.md += - The raw history finds old notes.
    ## Fix
    Remove the statement. The list of layers is `words.removed_layers` of the profile.
    ## Source
    Source document, TOOLS.md fixes: Observations and Semantic retrieval.
    """
    pattern = phrase_pattern(facts.profile.words.removed_layers)
    if pattern is None or facts.era is None:
        return
    for file in facts.prompt_files:
        for _, statement in file.document.statements():
            found = pattern.search(statement.text)
            if found is not None and not re.search(
                r"\bremov|\bno longer|\bgone\b", statement.text, re.IGNORECASE
            ):
                place = file.document.origin(statement.line, statement.last)
                yield Hit(place, f"{quoted(found[0])} was removed from the program")


@rule("WSP014", name="stale-version", severity=Severity.INFO)
def stale_version(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A version, model or date is not the one that is in use.

    ## Why
    The model writes code for the version that it reads, and asks for models that are not configured.
    ## Bad
    AGENTS.md += - As of 2019-05-04 the clock runs in one process.
    ## Good
    AGENTS.md += - The clock was born on 2019-05-04.
    ## Fix
    Correct the statement, or remove it: package.json, pyproject.toml and config.json say it anyway.
    ## Source
    ctxview's own.
    """
    if facts.era is None:
        yield from _versions(facts)
        return
    words = phrase_pattern(facts.profile.words.now_words)
    models = facts.workspace.settings.models
    for file in facts.prompt_files:
        for _, statement in file.document.statements():
            place = file.document.origin(statement.line, statement.last)
            if words is not None and words.search(statement.text):
                for date in _DATE.findall(statement.text):
                    time = parse_time(f"{date}T00:00:00Z")
                    if time is not None and (facts.now - time).days > facts.profile.stale_days:
                        yield Hit(place, f"{date} is {(facts.now - time).days:,} days ago")
            for name in _MODEL.findall(statement.text) if models else ():
                known = any(name.casefold() in each or each in name.casefold() for each in models)
                if re.search(r"\d", name) and not known:
                    yield Hit(place, f"the model {excerpt(name)} is not in config.json")


def _looked_at(facts: WorkspaceFacts) -> Iterator[WorkspaceFile]:
    return facts.workspace.of(Role.BOOTSTRAP, Role.INSTRUCTIONS, Role.MEMORY, Role.ON_DEMAND)


def _lines(document: MarkdownDocument) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code blocks, without addresses; of a link the target is left."""
    for number, line in enumerate(document.prose, 1):
        if "/" in line or "@" in line:
            yield number, re.sub(r"\w+://\S+|\]\(#[^)]*\)", " ", line).replace("](", "] ")


def _is_missing(facts: WorkspaceFacts, path: str) -> bool:
    first = path.removeprefix("./").partition("/")[0]
    # A path that goes up is outside, where nothing is looked up.
    if first == ".." or _MADE_UP.search(path) or ("." in first.lstrip(".") and not first.startswith(".")):
        return False
    return not facts.repository.has_path(path)


def _missing_imports(facts: WorkspaceFacts, file: WorkspaceFile, text: str) -> Iterator[str]:
    """Yield the Markdown files that a line imports with `@name` and that do not exist."""
    if "Claude Code" not in file.readers:
        return
    for name in IMPORT.findall(re.sub(r"`[^`]*`", "", text)):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(file.name), name))
        outside = place.startswith(("../", "/"))
        if name.endswith((".md", ".txt")) and not outside and not facts.repository.has_path(place):
            yield f"@{name}"


def _commands(document: MarkdownDocument) -> Iterator[tuple[int, str]]:
    """Yield code: the spans in backticks, and the lines of blocks that are shell code."""
    for number, line in enumerate(document.prose, 1):
        if not _FUTURE.search(re.sub(r"`[^`]*`", "", line)):
            for span in re.findall(r"`([^`]+)`", line):
                yield number, span
    for block in document.code:
        if block.language.split(" ")[0].lower() in _SHELL:
            for at, line in enumerate(block.text.split("\n")):
                yield block.line + 1 + at, line.partition(" #")[0]


def _missing_command(facts: WorkspaceFacts, text: str) -> str | None:
    repository = facts.repository
    for found in _SCRIPT.finditer(text):
        program, name = (each for each in found.groups() if each is not None)
        if repository.scripts is not None and name not in repository.scripts:
            return f"no package.json has the script {excerpt(name)} of {program}"
    for pattern, known, where in (
        (_MAKE, repository.targets, "Makefile has the target"),
        (_JUST, repository.recipes, "justfile has the recipe"),
    ):
        for name in pattern.findall(text):
            if known is not None and name not in known:
                return f"no {where} {excerpt(name)}"
    return None


def _unused_tools(facts: WorkspaceFacts) -> Iterator[Hit]:
    survey = facts.survey
    if survey is None or not survey.complete or not survey.tools:
        return
    if survey.problems or facts.workspace.folder.seen.closed:
        # A log that cannot be read may tell of any tool.
        return
    for file in facts.workspace.bootstrap:
        if file.short != "TOOLS.md":
            continue
        for section in file.document.sections:
            named = [(section.title, section.line)] + [(each.text, each.line) for each in section.bullets]
            for text, line in named:
                found = _TOOL.match(text)
                if found is not None and found[1] not in survey.tools:
                    yield Hit(file.document.origin(line or 1), f"the tool {found[1]} was never used")


def _versions(facts: WorkspaceFacts) -> Iterator[Hit]:
    stated = facts.repository.versions if any(True for _ in _looked_at(facts)) else {}
    for file in _looked_at(facts):
        for _, statement in file.document.statements():
            if _FUTURE.search(statement.text) or re.search(
                r"\bdrop|\bmigrat|\bupgrad|\bsince\b|\bfrom\b|\bsupport|\bold", statement.text
            ):
                continue
            for name, version, _ in _VERSION.findall(statement.text):
                key = name.lower().removesuffix(".js")
                if key == "next" and not name.endswith(".js"):
                    continue
                ours, where = stated.get(key, stated.get(f"{key}.js", ("", "")))
                if ours and contradicts(ours, version):
                    place = file.document.origin(statement.line, statement.last)
                    text = f"{name} {version} is named here, but {where} has {excerpt(ours)}"
                    yield Hit(place, text, Severity.WARNING)
