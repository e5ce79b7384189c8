"""A dozen ordinary repositories whose instructions are well kept, each in another style."""

from __future__ import annotations

import json

PACKAGE = json.dumps(
    {
        "scripts": {
            "dev": "vite",
            "test": "vitest",
            "lint": "eslint .",
            "build": "vite build",
            "test:e2e": "pw",
        },
        "engines": {"node": ">=20"},
        "dependencies": {"react": "^18.2.0", "next": "14.1.0", "typescript": "^5.4.0"},
    }
)
REPOSITORIES: dict[str, dict[str, str]] = {
    "terse bullets": {
        "AGENTS.md": (
            "# Rules\n"
            "\n"
            "- Small diffs.\n"
            "- Tests first.\n"
            "- No new dependencies without asking.\n"
            "- Run `make test` before pushing.\n"
            "- Never edit `src/generated/api.ts` by hand.\n"
        ),
        "Makefile": ("test:\n\tpytest\nlint:\n\truff check\n"),
    },
    "two tools, one import": {
        "AGENTS.md": (
            "# Project\n"
            "\n"
            "A command line tool in Rust.\n"
            "\n"
            "## Build\n"
            "\n"
            "```bash\n"
            "cargo build\n"
            "cargo test\n"
            "```\n"
            "\n"
            "## Style\n"
            "\n"
            "- Errors are values; `unwrap` only in tests.\n"
            "- Public items have doc comments.\n"
        ),
        "CLAUDE.md": ("@AGENTS.md\n\n## For Claude Code\n\n- Plan before you edit more than three files.\n"),
        "Cargo.toml": ('[package]\nname = "tool"\nrust-version = "1.75"\n'),
    },
    "long guide with tables": {
        "CLAUDE.md": (
            "# Guide\n"
            "\n"
            "## Commands\n"
            "\n"
            "| command | what it does |\n"
            "| --- | --- |\n"
            "| `npm run dev` | starts the development server |\n"
            "| `npm run build` | makes the production build |\n"
            "| `npm run test` | runs the unit tests |\n"
            "| `npm run test:e2e` | runs the browser tests |\n"
            "\n"
            "## Layout\n"
            "\n"
            "- `src/api/`: HTTP handlers\n"
            "- `src/db/`: database models\n"
            "- `src/ui/app.tsx`: entry point\n"
            "\n"
            "## Conventions\n"
            "\n"
            "1. Use 2 spaces in TypeScript.\n"
            "2. Use 4 spaces in Python scripts.\n"
            "3. Components are named in PascalCase, hooks in camelCase.\n"
        ),
        "package.json": PACKAGE,
        "src/ui/app.tsx": "",
    },
    "cursor rules with scopes": {
        "AGENTS.md": ("# Shop\n\n- Money is in cents.\n- All times are in UTC.\n"),
        ".cursor/rules/base.mdc": (
            "---\ndescription: base\nalwaysApply: true\n---\n\n- Prefer small functions.\n"
        ),
        ".cursor/rules/py.mdc": (
            "---\n"
            "description: python\n"
            'globs: "**/*.py"\n'
            "alwaysApply: false\n"
            "---\n"
            "\n"
            "- Maximum line length is 100.\n"
            "- Indent with 4 spaces.\n"
        ),
        ".cursor/rules/ts.mdc": (
            "---\n"
            "description: typescript\n"
            'globs: "**/*.ts"\n'
            "alwaysApply: false\n"
            "---\n"
            "\n"
            "- Maximum line length is 120.\n"
            "- Indent with 2 spaces.\n"
        ),
    },
    "copilot and agents": {
        "AGENTS.md": (
            "# Service\n"
            "\n"
            "Go service with a Postgres database.\n"
            "\n"
            "- Run `go test ./...` before every commit.\n"
            "- Handlers are in `internal/http/handler.go`.\n"
            "- Migrations only add columns, they never drop them.\n"
        ),
        ".github/copilot-instructions.md": (
            "Follow AGENTS.md.\n\n- Suggest table-driven tests.\n- Use Go 1.22 features.\n"
        ),
        "go.mod": ("module example.org/service\n\ngo 1.22\n"),
        "internal/http/handler.go": "package http\n",
    },
    "prose": {
        "AGENTS.md": (
            "# About this repository\n"
            "\n"
            "This is the source of our documentation. Every page is a Markdown file under "
            "`docs/`. Pages are short: one idea each, with an example that a reader can run. We "
            "write in British English and avoid jargon.\n"
            "\n"
            "Before you open a pull request, build the site and read your page in the browser. "
            "Broken links fail the build. If a page moves, add a redirect so that old links keep "
            "working.\n"
            "\n"
            "Screenshots live next to the page that uses them. Please keep them under 200 "
            "kilobytes.\n"
        ),
        "docs/index.md": "# Home\n",
    },
    "monorepo": {
        "AGENTS.md": (
            "# Monorepo\n"
            "\n"
            "- `packages/web/src/main.ts` is the web client.\n"
            "- `packages/api/src/main.ts` is the API.\n"
            "- The web client runs on port 3000, the API on port 4000.\n"
            "- `pnpm run build` in the root builds all packages.\n"
            "- Shared types: `types/user.ts`.\n"
        ),
        "package.json": '{"scripts": {"build": "turbo build"}}',
        "packages/web/package.json": '{"scripts": {"dev": "vite"}}',
        "packages/web/src/main.ts": "",
        "packages/api/src/main.ts": "",
        "packages/shared/types/user.ts": "",
    },
    "generated files and examples": {
        "CLAUDE.md": (
            "# Notes\n"
            "\n"
            "- The build writes `dist/index.js`; it is not committed.\n"
            "- Create new pages as `src/pages/<name>/index.tsx`.\n"
            "- Name tests like `path/to/module.test.ts`.\n"
            "- Local settings are in `config/local.json`, which is ignored.\n"
            "- Logs go to `logs/dev.log`.\n"
            "- See https://example.org/docs/guide.md for the API.\n"
            "- MIME types such as `text/html` are constants.\n"
        ),
        ".gitignore": ("dist/\nconfig/local.json\n"),
    },
    "python project": {
        "AGENTS.md": (
            "# Library\n"
            "\n"
            "Python 3.11+ library without dependencies.\n"
            "\n"
            "- Format with `ruff format`, check with `ruff check`.\n"
            "- Types are checked with `mypy --strict`.\n"
            "- Tests: `pytest tests/unit` is fast, `pytest tests/slow` is not.\n"
            "- Support for Python 3.9 was dropped in version 4.\n"
        ),
        "pyproject.toml": ('[project]\nname = "library"\nrequires-python = ">=3.11"\n'),
        ".python-version": "3.11\n",
    },
    "claude folder": {
        "CLAUDE.md": (
            "# Game\n"
            "\n"
            "- The server is authoritative: clients only send inputs.\n"
            "- Tick rate is 20 per second.\n"
        ),
        ".claude/rules/network.md": ("---\npaths:\n  - src/net/**\n---\n\n- Messages are versioned.\n"),
        ".claude/commands/release.md": (
            "Write the notes, then tag the release.\n\n- Run the whole test suite.\n"
        ),
        ".claude/agents/reviewer.md": (
            "---\n"
            "name: reviewer\n"
            "description: reviews changes\n"
            "---\n"
            "\n"
            "- Run the whole test suite.\n"
            "- Be strict about names.\n"
        ),
        ".claude/skills/pdf/SKILL.md": ("---\nname: pdf\ndescription: makes a PDF\n---\n\nUse the script.\n"),
    },
    "do and do not": {
        "AGENTS.md": (
            "# Do\n"
            "\n"
            "- Do write tests for new features.\n"
            "- Do write docs for new features.\n"
            "- Do ask when a requirement is unclear.\n"
            "\n"
            "# Do not\n"
            "\n"
            "- Do not commit secrets.\n"
            "- Do not disable a failing test.\n"
            "- Do not use `any` in TypeScript.\n"
            "- Do not add a feature flag without an owner.\n"
        ),
        "CLAUDE.md": (
            "# Workflow\n"
            "\n"
            "- Start with the failing test, then the fix.\n"
            "- Explain a large change before making it.\n"
            "- TypeScript 5 is required.\n"
        ),
        "package.json": PACKAGE,
    },
    "justfile and commands": {
        "AGENTS.md": (
            "# Tooling\n"
            "\n"
            "Run `just` without arguments for the list of recipes.\n"
            "\n"
            "```sh\n"
            "just fmt     # format\n"
            "just test    # all tests\n"
            "just db up   # start the database\n"
            "```\n"
            "\n"
            "- Recipes are documented in the justfile.\n"
            "- Next.js 14 with the app router; React 18.\n"
        ),
        "justfile": (
            "default:\n"
            "  @just --list\n"
            "\n"
            "fmt:\n"
            "  dprint fmt\n"
            "\n"
            "test *args:\n"
            "  vitest {{args}}\n"
            "\n"
            "db action:\n"
            "  docker\n"
        ),
        "package.json": PACKAGE,
    },
    "memory and readme": {
        "CLAUDE.md": (
            "# Team\n"
            "\n"
            "- Commits are signed.\n"
            "- The main branch is protected; work on branches.\n"
            "- See README.md for the set-up and CONTRIBUTING.md for the review.\n"
        ),
        "MEMORY.md": (
            "- The staging database is refreshed every Sunday.\n"
            "- Flaky test: the clock test fails on leap days.\n"
        ),
        "README.md": "# Team\n",
        "CONTRIBUTING.md": "# Contributing\n",
    },
}
