"""Ordinary repositories: no alarm about well-kept instructions, and every planted fault is found."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES, TokenCounter, exact_counter
from ctxview.cli import main
from ctxview.core.findings import Severity
from ctxview.formats import open_source
from ctxview.formats.interface import Lens
from ctxview.formats.workspace import parser, repository
from ctxview.formats.workspace.repository import contradicts
from tests.formats.workspace.builders import changed_home, findings, write
from tests.formats.workspace.well_kept import REPOSITORIES


@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_well_kept_repository_has_no_alarm(name: str, tmp_path: Path) -> None:
    write(tmp_path, {**REPOSITORIES[name], ".git/HEAD": "ref: refs/heads/main\n"})
    source = open_source(tmp_path)

    alarms = [each for each in findings(tmp_path) if each.severity is not Severity.INFO]
    assert source.format == "workspace"
    assert [f"{each.rule} {each.message}" for each in alarms] == []


def found(folder: Path, files: dict[str, str]) -> list[tuple[str, str, int | None]]:
    write(folder, {**files, ".git/HEAD": "ref: refs/heads/main\n"})
    return [
        (each.rule, Path(each.origin.file).name, each.origin.line)
        for each in findings(folder)
        if each.severity is not Severity.INFO
    ]


def test_a_statement_of_two_files_that_one_agent_loads_is_said_twice(tmp_path: Path) -> None:
    text = "# A\n\n- Money is an integer in cents.\n"
    assert found(
        tmp_path, {"AGENTS.md": text, "CLAUDE.md": "@AGENTS.md\n\n- Money is an integer in cents.\n"}
    ) == [("WSP001", "CLAUDE.md", 3)]


def test_imports_that_were_not_read_are_a_finding_and_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser, "MOST_IMPORTS", 3)
    names = [f"docs/part{number}.md" for number in range(1, 6)]
    write(tmp_path, {name: f"# Part {name}\n" for name in names})
    write(tmp_path, {"CLAUDE.md": "".join(f"@{name}\n" for name in (*names, names[-1]))})

    why = "3 more files that it imports were not read"
    (finding,) = (each for each in findings(tmp_path) if each.rule == "RAW003")
    assert (finding.message, Path(finding.origin.file).name) == (why, "CLAUDE.md")
    state = open_source(tmp_path).reading(0, Lens(ESTIMATES["bytes/4"])).state
    assert any(why in gap.why for gap in state.missing)


def test_a_copy_that_no_agent_loads_together_is_only_a_note(tmp_path: Path) -> None:
    text = "# A\n\n- Money is an integer in cents.\n"
    assert found(tmp_path, {"AGENTS.md": text, "CLAUDE.md": text}) == []
    assert "WSP001" in {each.rule for each in findings(tmp_path)}


def test_a_link_to_agents_md_is_one_text_with_two_readers(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "# A\n\n- Money is an integer in cents.\n"})
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    source = open_source(tmp_path)
    state = source.reading(0, Lens(exact_counter())).state

    assert [block.tags for block in state.blocks()] == [("Codex", "Cursor", "Copilot", "Claude Code")]
    assert findings(tmp_path) == []


def test_a_link_in_a_folder_is_read_by_the_agents_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"docs/agents.md": "# A\n\n- Money is an integer in cents.\n", "CLAUDE.md": "- Plan.\n"})
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "copilot-instructions.md").symlink_to("../docs/agents.md")
    state = open_source(tmp_path).reading(0, Lens(exact_counter())).state

    assert {block.id.partition("#")[0]: block.tags for block in state.blocks()} == {
        "CLAUDE.md": ("Claude Code",),
        "docs/agents.md": ("Copilot",),
    }
    assert findings(tmp_path) == []


def test_a_field_with_a_short_value_is_about_its_heading(tmp_path: Path) -> None:
    field = "- **Auto Apply**: Yes, always\n"
    text = f"# Rules\n\n## One\n\n{field}\n## Two\n\n{field}"
    assert found(tmp_path, {"AGENTS.md": text}) == []
    assert found(tmp_path, {"AGENTS.md": text.replace(field, "- Money is an integer in cents.\n")}) == [
        ("WSP001", "AGENTS.md", 9)
    ]


def test_a_folder_of_a_repository_may_name_paths_from_its_top(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", "core/clock.ts": "", "web/main.ts": ""})
    write(tmp_path, {"web/AGENTS.md": "- The clock is in `core/clock.ts`.\n"})
    assert findings(tmp_path / "web") == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The API listens on port 3000.", "The API listens on port 3001."),
        ("Run tests with `npm test` before pushing.", "Run tests with `pnpm test` before pushing."),
        ("Use tabs for indentation in Go files.", "Use spaces for indentation in Go files."),
        ("Use tabs for indentation in all files.", "Use spaces for indentation in all files."),
        ("Keep request bodies below 10,000 bytes.", "Keep request bodies below 50,000 bytes."),
        ("Never force-push to shared branches.", "Force-push to shared branches."),
    ],
)
def test_two_files_that_contradict_each_other_are_an_error(first: str, second: str, tmp_path: Path) -> None:
    files = {
        "AGENTS.md": f"# A\n\n- {first}\n",
        ".cursor/rules/a.mdc": f"---\nalwaysApply: true\n---\n\n- {second}\n",
    }
    assert [rule for rule, _, _ in found(tmp_path, files)] == ["WSP003"]


def test_paths_commands_and_versions_that_do_not_exist_are_stale(tmp_path: Path) -> None:
    package = {"scripts": {"dev": "vite"}, "dependencies": {"react": "^18.0.0"}, "engines": {"node": ">=20"}}
    text = (
        "- The clock is in `src/clock.ts`.\n- Check with `npm run types`.\n- Seed with `make seed`.\n"
        "- React 17 only.\n- Node 16 runs it.\n"
    )
    stale = found(
        tmp_path, {"AGENTS.md": text, "package.json": json.dumps(package), "Makefile": "test:\n\ttrue\n"}
    )
    assert sorted(stale) == [
        ("WSP011", "AGENTS.md", 1),
        ("WSP012", "AGENTS.md", 2),
        ("WSP012", "AGENTS.md", 3),
        ("WSP014", "AGENTS.md", 4),
        ("WSP014", "AGENTS.md", 5),
    ]


@pytest.mark.parametrize("name", ["packages/a/package.json", "Makefile", "justfile", ".gitignore"])
@pytest.mark.parametrize("what", ["pipe", "link", "too large"])
def test_nothing_is_called_missing_because_a_file_cannot_be_read(
    name: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = {"Makefile": "make seed", "justfile": "just seed", ".gitignore": "notes/today.md"}
    text = f"- Use `{command.get(name, 'npm run seed')}`.\n"
    files = {"AGENTS.md": text, "package.json": "{}", "packages/a/index.js": "", "src/main.go": ""}
    assert len(found(tmp_path, files)) == (0 if name == "justfile" else 1)
    file = tmp_path / name
    match what:
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to("src/main.go")
        case _:
            monkeypatch.setattr(repository, "LARGEST_MANIFEST", 100)
            file.write_text(" " * 101)
    assert found(tmp_path, {}) == []


@pytest.mark.parametrize("name", ["package.json", "Makefile", "justfile"])
def test_nothing_is_called_missing_because_there_are_too_many_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOST_MANIFESTS", 2)
    command = {"Makefile": "make seed", "justfile": "just seed"}.get(name, "npm run seed")
    content = "{}" if name == "package.json" else "other:\n"
    files = {"AGENTS.md": f"- Use `{command}`.\n", f"a/{name}": content, f"b/{name}": content}
    assert len(found(tmp_path, files)) == 1
    assert found(tmp_path, {f"c/{name}": content}) == []


def test_a_short_rule_with_the_same_command_is_nearly_said_twice(tmp_path: Path) -> None:
    files = {
        "AGENTS.md": "# A\n\n- Run `pnpm lint && pnpm test` before you push.\n",
        "CLAUDE.md": "@AGENTS.md\n\n- Before pushing, run `pnpm lint && pnpm test`.\n",
    }
    assert found(tmp_path, files) == [("WSP002", "CLAUDE.md", 3)]


def test_only_a_name_with_a_colon_must_be_a_script_of_yarn(tmp_path: Path) -> None:
    text = "- `yarn eslint`, `yarn test:unit` and `yarn test:ci` check it.\n"
    package = json.dumps({"scripts": {"test:unit": "vitest"}})
    assert found(tmp_path, {"AGENTS.md": text, "package.json": package}) == [("WSP012", "AGENTS.md", 1)]


def test_stale_statements_of_every_kind_are_missing_and_contradictions_have_both_places(
    tmp_path: Path,
) -> None:
    stale = "- See `src/clock.ts`.\n- Seed with `make seed`.\n- React 17 only.\n"
    text = f"# A\n\n{stale}- The API listens on port 1.\n"
    package = json.dumps({"dependencies": {"react": "^18.0.0"}})
    other = "@AGENTS.md\n\n- The API listens on port 2.\n"
    write(
        tmp_path,
        {"AGENTS.md": text, "CLAUDE.md": other, "package.json": package, "Makefile": "test:\n\ttrue\n"},
    )
    state = open_source(tmp_path).reading(0, Lens(exact_counter())).state
    assert [(gap.id, gap.question) for gap in state.missing] == [
        ("AGENTS.md:3", "a path that does not exist"),
        ("AGENTS.md:4", "a command that does not exist"),
        ("AGENTS.md:5", "a version that is not in use"),
    ]
    assert [each.message for each in findings(tmp_path) if each.rule == "WSP003"] == [
        'CLAUDE.md:3 says 2, AGENTS.md:6 says 1: "The API listens on port 1."'
    ]


def test_nothing_is_looked_up_outside_the_opened_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "outside/clock.ts": "",
            "repo/main.ts": "",
            "repo/AGENTS.md": "- The clock is in `../outside/clock.ts`.\n- Also `outside/clock.ts`.\n",
        },
    )
    (tmp_path / "repo" / "outside").symlink_to(tmp_path / "outside")
    lines = [each.origin.line for each in findings(tmp_path / "repo") if each.rule == "WSP011"]
    assert lines == [2]


@pytest.mark.parametrize(
    "text",
    [
        "- The toolbar is `src/parts/Toolbar.tsx`.",
        "- The footer is `src/footer/view.ts`.",
        "- Read [the guide](docs/guide.md) first.",
        "@docs/rules.txt",
    ],
)
def test_a_path_is_looked_up_in_links_and_with_every_name(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, {"CLAUDE.md": text + "\n", "src/app.ts": ""}) == [("WSP011", "CLAUDE.md", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "- Name it `src/your-part/view.ts`, or `src/foo/bar.ts`, or `src/MyPart.tsx`.",
        "- Read [the guide](https://example.org/docs/guide.md) or [this](#part/one.md) first.",
        "- Read [the site](/docs/guide.md), or [the other one](../site/docs/guide.md).",
    ],
)
def test_a_placeholder_or_a_link_that_leaves_the_folder_is_not_stale(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, {"CLAUDE.md": text + "\n", "src/app.ts": ""}) == []


def test_a_secret_in_a_rule_that_is_loaded_on_demand_reaches_the_prompt(tmp_path: Path) -> None:
    text = "---\nglobs: '*.ts'\n---\n\n- The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a.\n"
    files = {"AGENTS.md": "- Be brief.\n", ".cursor/rules/a.mdc": text}
    assert found(tmp_path, files) == [("WSP019", "a.mdc", 5)]


@pytest.mark.parametrize("counter", [exact_counter(), ESTIMATES["bytes/4"]])
def test_the_prompt_is_the_files_with_a_blank_line_between_by_any_counter(
    tmp_path: Path, counter: TokenCounter
) -> None:
    write(tmp_path, {"AGENTS.md": "# A\n\n- Be brief.\n", "CLAUDE.md": "# C\n\n- Plan first.\n"})
    ability = open_source(tmp_path).abilities.prompt

    assert ability is not None
    assert ability.prompt(0, Lens(counter), None).text == "# A\n\n- Be brief.\n\n# C\n\n- Plan first."


def test_the_cost_in_every_turn_is_exact_and_by_agent(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "# A\n\n- Be brief.\n", "CLAUDE.md": "# C\n\n- Plan first.\n"})
    state = open_source(tmp_path).reading(0, Lens(exact_counter())).state
    counts = {
        name: exact_counter().count((tmp_path / name).read_text().rstrip("\n"))
        for name in ("AGENTS.md", "CLAUDE.md")
    }

    assert state.assembly is not None
    assert {part.name: part.tokens for part in state.assembly.components} == counts
    used = {budget.target: budget.used for budget in state.budgets}
    assert used["every turn"] == sum(counts.values())
    assert used["Claude Code"] == counts["CLAUDE.md"]
    assert all(budget.used == sum(each.used for each in budget.segments) for budget in state.budgets)


@pytest.mark.parametrize(
    ("stated", "mentioned", "wrong"),
    [
        (">=3.11", "3.9", True),
        (">=3.11", "3.12", False),
        (">=18 <21", "22", True),
        ("^18.2.0", "18", False),
        ("^18.2.0", "17", True),
        ("20", "20.11", False),
        ("latest", "17", False),
        (">=16 || ^18", "14", False),
    ],
)
def test_a_version_contradicts_only_when_it_is_ruled_out(stated: str, mentioned: str, wrong: bool) -> None:
    assert contradicts(stated, mentioned) is wrong


def test_an_import_of_a_missing_file_is_stale(tmp_path: Path) -> None:
    text = (
        "@docs/style.md\n@docs/gone.md\n@../outside.md\n@~/own.md\n\nMail me@site.md, or `@docs/code.md`.\n"
    )
    assert found(tmp_path, {"CLAUDE.md": text, "docs/style.md": "- Two spaces.\n"}) == [
        ("WSP011", "CLAUDE.md", 2)
    ]


def test_a_folder_inside_a_repository_may_mean_the_paths_of_the_repository(tmp_path: Path) -> None:
    text = "# Orders\n\n- See `tests/test_orders.py`.\n- Run `make check`.\n"
    write(
        tmp_path, {"CLAUDE.md": "# Shop\n", "orders/CLAUDE.md": text, "orders/Makefile": "build:\n\ttrue\n"}
    )
    assert findings(tmp_path / "orders") == []

    (tmp_path / "CLAUDE.md").unlink()
    assert [each.rule for each in findings(tmp_path / "orders")] == ["WSP011", "WSP012"]


def test_numbers_of_any_length_are_no_versions(tmp_path: Path) -> None:
    many = "1" * 5000
    package = json.dumps({"engines": {"node": many}})
    assert found(tmp_path, {"AGENTS.md": f"# A\n\n- Node {many} is used.\n", "package.json": package}) == []


def test_the_cost_of_a_draft_is_counted_as_that_of_the_file(tmp_path: Path) -> None:
    text = "# A\n\n- Money is an integer in cents.\n"
    write(tmp_path, {"AGENTS.md": text, "CLAUDE.md": "@AGENTS.md\n\n- Money is an integer in cents.\n"})
    source = open_source(tmp_path)
    same = {str(tmp_path / "AGENTS.md"): text.encode()}

    lens = Lens(ESTIMATES["bytes/4"])
    assert list(source.findings_of(0, lens, same)) == list(source.reading(0, lens).findings)


def test_a_recording_of_a_repository_has_only_its_instructions(tmp_path: Path) -> None:
    files = {"AGENTS.md": "# A\n\n- See `src/app.py`.\n", ".cursor/rules/a.mdc": "- Be brief.\n"}
    write(tmp_path / "repo", {**files, "src/app.py": "", ".env": "KEY=value\n"})
    out = tmp_path / "out.ctxrec"
    assert main(["record", str(tmp_path / "repo"), "-o", str(out), "--for", "0.01"]) == 0

    recorded = open_source(out)
    state = recorded.reading(0, Lens(exact_counter())).state
    assert {block.id for block in state.blocks()} == {"AGENTS.md", ".cursor/rules/a.mdc"}
    assert recorded.findings(Lens(exact_counter())) == ()
    assert b"KEY=value" not in out.read_bytes()
    assert [str(path.relative_to(tmp_path / "repo")) for path in _recorded(tmp_path / "repo")] == [
        ".cursor/rules",
        "AGENTS.md",
    ]


def test_a_recording_of_a_home_leaves_out_its_config(tmp_path: Path) -> None:
    write(tmp_path, changed_home(""))
    assert [path.name for path in _recorded(tmp_path)] == ["sessions", "workspace"]


def test_a_recording_of_a_home_without_a_workspace_folder_leaves_out_its_config(tmp_path: Path) -> None:
    files = {name.removeprefix("workspace/"): text for name, text in changed_home("").items()}
    write(tmp_path, {**files, "config.json": '{"providers": {"one": {"apiKey": "key"}}}'})
    names = {path.name for path in _recorded(tmp_path)}
    assert "config.json" not in names
    assert names >= {"AGENTS.md", "CONTEXT-cli.md", "memory", "sessions"}


def _recorded(folder: Path) -> list[Path]:
    scope = open_source(folder).abilities.file_scope
    assert scope is not None
    return [path for path in scope.made_of if path.exists()]
