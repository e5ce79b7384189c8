"""Ordinary repositories whose instructions are well kept, each in another style."""

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
REPOSITORIES |= {
    "workspaces of pnpm": {
        "AGENTS.md": """\
# Acme storefront

Turborepo monorepo. TypeScript everywhere, Node 20+, pnpm 9.

## Setup

```bash
corepack enable
pnpm install
cp .env.example .env.local
pnpm dev            # runs web and api
pnpm --filter web dev
pnpm --filter @acme/api test -- --watch
npx turbo run build --filter=web...
```

## Layout

| Path | What |
|---|---|
| `apps/web` | Next.js 14 app router |
| `apps/api/src/index.ts` | Fastify entry point |
| `packages/ui/src/Button.tsx` | shared components |
| `packages/config/eslint/base.cjs` | lint rules |

- Import UI with `@acme/ui`, local modules with `@/lib/utils.ts`.
- Route handlers live in `app/api/**/route.ts`.
- Server components by default; add `"use client"` only when needed.
- Do not import from `apps/*` inside `packages/*`.
- API responses: `application/json`, errors use RFC 9457 problem details.
- New pages go in `apps/web/app/<segment>/page.tsx`.
- Run `pnpm lint && pnpm test` before you push.

## Testing

- Unit tests sit next to the code: `Button.test.tsx`.
- E2E: `pnpm run test:e2e` needs `docker compose up -d db`.
- Coverage report is written to `coverage/lcov.info`.
""",
        "CLAUDE.md": """\
@AGENTS.md

## Claude specifics

- Use plan mode for changes that touch more than one package.
- Ask before running database migrations.
""",
        "package.json": '{"private": true, "packageManager": "pnpm@9.1.0",'
        ' "scripts": {"dev": "turbo dev", "lint": "turbo lint", "test": "turbo test",'
        ' "test:e2e": "playwright test"}, "engines": {"node": ">=20"}}',
        "apps/web/package.json": '{"name": "web", "dependencies": {"next": "14.2.3", "react": "^18.3.0"}}',
        "apps/web/app/page.tsx": "",
        "apps/web/lib/utils.ts": "",
        "apps/api/src/index.ts": "",
        "packages/ui/src/Button.tsx": "",
        "packages/config/eslint/base.cjs": "",
        ".env.example": "",
    },
    "make targets in prose": {
        "AGENTS.md": """\
# billing-service

Go 1.22, PostgreSQL, NATS.

Common tasks are Make targets: `make build`, `make test`, `make lint`, `make generate`. `make help` lists
all of them. Integration tests need Docker: `make test-integration`.

Package layout follows the standard: `cmd/billing/main.go`, `internal/...`, `api/proto/billing.proto`.

- Wrap errors with `fmt.Errorf("load invoice: %w", err)`.
- Context is the first parameter of every function that does I/O.
- Table-driven tests; use `t.Parallel()` unless the test touches the environment.
- Generated code (`*.pb.go`, `internal/mocks/store_mock.go`) is never edited.
- SQL lives in `internal/store/queries.sql` and is compiled by sqlc.
- HTTP timeouts: 5 seconds for clients, 30 seconds for servers.
- The service listens on 8080, metrics on 9090.
""",
        ".github/copilot-instructions.md": """\
Use the conventions of AGENTS.md. Prefer the standard library. Comments explain why, not what.
""",
        "Makefile": """\
.PHONY: build test lint generate help
build: generate
	go build ./...
test:
	go test ./...
test-integration:
	go test -tags integration ./...
lint:
	golangci-lint run
generate:
	go generate ./...
help:
	@grep : Makefile
""",
        "go.mod": "module x\n\ngo 1.22.1\n",
        "cmd/billing/main.go": "",
        "api/proto/billing.proto": "",
        "internal/store/queries.sql": "",
    },
    "guidelines of a framework": {
        "AGENTS.md": """\
This is a Phoenix 1.7 application.

## Project guidelines

- Use `mix precommit` alias when you are done with all changes and fix any pending issues
- Use the already included and available `:req` (`Req`) library for HTTP requests, **avoid** `:httpoison`,
  `:tesla`, and `:httpc`

### Elixir guidelines

- Elixir lists **do not support index based access via the access syntax**

  **Never do this (invalid)**:

      i = 0
      mylist[i]

- Elixir variables are immutable, but can be rebound
- **Never** nest multiple modules in the same file as it can cause cyclic dependencies
- Don't use `String.to_atom/1` on user input (memory leak risk)

### Ecto guidelines

- **Always** preload Ecto associations in queries when they'll be accessed in templates
- `Ecto.Schema` fields always use the `:string` type, even for `:text` columns
- You **must** use `Ecto.Changeset.get_field(changeset, :field)` to access changeset fields

### HEEx guidelines

- **Always** use the imported `Phoenix.Component.form/1` to build forms
- **Never** use `<% Enum.each %>` for generating template content, instead **always** use `<%= for item <-
  @collection do %>`
- HEEx HTML comments use `<%!-- comment --%>`
""",
        "mix.exs": "defmodule X do\nend\n",
    },
    "the same rule for two parts": {
        "AGENTS.md": """\
# Conventions

## Front end
- Run `npm run lint` in `web/`.
- Tests live in `web/tests`.
- The front end listens on port 5173.
- Timeouts for front-end requests are 10 seconds.

## Back end
- Run `npm run lint` in `server/`.
- Tests live in `server/tests`.
- The back end listens on port 8000.
- Timeouts for back-end requests are 30 seconds.

## Staging
- Deploy with `make deploy ENV=staging`.
- Staging needs one approval.

## Production
- Deploy with `make deploy ENV=production`.
- Production needs two approvals.
""",
        "package.json": '{"scripts": {"lint": "eslint ."}}',
        "Makefile": "deploy:\n\t./deploy.sh $(ENV)\n",
        "web/tests/a.ts": "",
        "server/tests/a.ts": "",
    },
    "imports and scoped rules": {
        "CLAUDE.md": """\
# Payments

## Commands
- `yarn test` runs unit tests, `yarn test:watch` keeps running.
- `yarn workspace @pay/api start`

## Principles
- Amounts are BigInt minor units.
- Idempotency keys are required on every POST.
- Logs never contain card numbers.

See docs/architecture.md for the big picture, and @docs/style.md for style.
""",
        "docs/architecture.md": "# Architecture\n",
        "docs/style.md": "- Two spaces, single quotes.\n- No default exports.\n",
        ".claude/rules/api.md": """\
---
paths:
  - packages/api/**/*.ts
---
- Validate bodies with zod.
- Return 422 for invalid bodies.
""",
        ".claude/rules/db.md": """\
---
paths:
  - packages/db/**/*.ts
---
- Validate rows with zod.
- Return null for missing rows.
""",
        ".claude/commands/fix-issue.md": "Fix issue $ARGUMENTS. Write a failing test first.\n",
        ".claude/settings.json": "{}",
        "package.json": '{"workspaces": ["packages/*"],'
        ' "scripts": {"test": "vitest run", "test:watch": "vitest"}}',
        "packages/api/index.ts": "",
        "packages/db/index.ts": "",
    },
    "one file for Gemini": {
        "GEMINI.md": """\
# Playbooks

- Inventory: `inventories/prod/hosts.yml`, `inventories/stage/hosts.yml`.
- Run `ansible-lint` before a commit.
- Roles are documented in their own README.md.
- Use `ansible-playbook -i inventories/stage site.yml --check` first.
- Variables with secrets are encrypted with `ansible-vault`.
""",
        "inventories/prod/hosts.yml": "",
        "inventories/stage/hosts.yml": "",
        "site.yml": "",
    },
    "numbers by environment": {
        "AGENTS.md": """\
# Infrastructure

Terraform 1.7 modules for AWS. State is in S3; never run `terraform apply` locally.

## Workflow
1. Branch from `main`: `infra/<ticket>`.
2. `terraform fmt -recursive && tflint`.
3. Open a pull request; Atlantis posts the plan.
4. A second person approves production plans.

## Structure
- `modules/vpc/main.tf` and `modules/eks/main.tf` are shared.
- `envs/dev`, `envs/staging` and `envs/prod` only set variables.
- CIDR ranges: dev 10.10.0.0/16, staging 10.20.0.0/16, prod 10.30.0.0/16.
- Instances: dev uses `t3.small`, prod uses `m6i.large`.
- Secrets come from SSM (`/acme/prod/db/password`), never from tfvars.
""",
        "modules/vpc/main.tf": "",
        "modules/eks/main.tf": "",
        "envs/dev/main.tf": "",
    },
    "modules of gradle": {
        "AGENTS.md": """\
# Android client

Kotlin 2.0, Compose, minSdk 26, targetSdk 34.

- Build: `./gradlew assembleDebug`
- Unit tests: `./gradlew testDebugUnitTest`
- Lint: `./gradlew ktlintCheck detekt`

Modules: `:app`, `:core:network`, `:core:database`, `:feature:login`, `:feature:feed`.

- ViewModels expose one `StateFlow<UiState>`.
- Composables are stateless; previews live beside them.
- Network models never leave `:core:network`; map them to domain models.
- Strings go to `app/src/main/res/values/strings.xml`.
- The release is signed in CI; the key store is not in the repository (`keystore/release.jks`).
""",
        "app/src/main/res/values/strings.xml": "",
        "settings.gradle.kts": "",
        "gradlew": "",
    },
    "do and don't with presets": {
        "CLAUDE.md": """\
# Engine

C++20, CMake presets, vcpkg.

```sh
cmake --preset debug
cmake --build --preset debug -j
ctest --preset debug --output-on-failure
```

## Style
- clang-format decides; see `.clang-format`.
- Headers: `include/engine/renderer.hpp`; sources: `src/renderer.cpp`.
- No exceptions in the hot path, no RTTI.
- `std::span` over pointer and length.
- Ownership: `std::unique_ptr`; `std::shared_ptr` needs a reason in the review.

## Do
- Add a benchmark for every change of the renderer.
- Add a test for every fixed bug.

## Don't
- Don't include `<windows.h>` in headers.
- Don't add global state.
""",
        "include/engine/renderer.hpp": "",
        "src/renderer.cpp": "",
        ".clang-format": "",
        "CMakePresets.json": "{}",
        "CMakeLists.txt": "",
    },
    "data that is not committed": {
        "AGENTS.md": """\
# Churn model

We predict churn for the telco data set. Python 3.11, managed with `conda env create -f environment.yml`.

Notebooks (`notebooks/01-explore.ipynb`, `notebooks/02-model.ipynb`) are for exploration only; anything
reused moves to `src/churn/features.py`.

Data is not in git. `make data` downloads it to `data/raw/telco.csv`; processed files appear in
`data/processed/train.parquet`.

Random seed is 42 everywhere. Report ROC AUC with five-fold cross-validation; the baseline is 0.81 and the
current best is 0.87 (gradient boosting, depth 6, 300 trees). Please do not tune on the test split.

Plots: matplotlib, 300 dpi, saved as PDF to `reports/figures`.
""",
        "Makefile": "data:\n\tpython -m churn.download\n",
        "environment.yml": "",
        "src/churn/features.py": "",
        "notebooks/01-explore.ipynb": "{}",
        "notebooks/02-model.ipynb": "{}",
        ".gitignore": "data/\n",
    },
}
