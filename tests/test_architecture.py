"""The structure that ARCHITECTURE.md describes: layers, unique class names, module sizes, plain words."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ctxview"
MODULES = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
}
ROLES = {"Profile", "Limits"}
"""Class names that every format defines for the same role."""
LARGEST_MODULE = 400
SMALLEST_MODULE = 40
SMALL_ON_PURPOSE = {
    "tui/panes/findings.py",  # each pane has a module
    "tui/panes/overview.py",
    "tui/panes/revisions.py",
    "formats/session/rules/gc_plan.py",  # each subject of rules has a module
}
VAGUE = re.compile(
    r"\b(somebody|nobody|whoever|anybody|told|whatever)\b|(?<!there )\bis no (?!longer|more)[a-z]",
    re.IGNORECASE,
)


def layers(contract: str) -> set[str]:
    return {name.strip() for layer in CONTRACTS[contract]["layers"] for name in layer.split("|")}


def parts_of(folder: Path) -> set[str]:
    """Every package and module directly in a folder, by its dotted name."""
    dotted = ".".join(folder.relative_to(ROOT).parts)
    modules = {path.stem for path in folder.glob("[!_]*.py")}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return {f"{dotted}.{name}" for name in modules | packages}


@pytest.mark.parametrize(
    ("contract", "folder"),
    [
        ("packages", PACKAGE),
        ("formats do not know each other", PACKAGE / "formats"),
        ("layers of the inspector", PACKAGE / "tui"),
    ],
    ids=["packages", "formats", "inspector"],
)
def test_every_folder_has_its_place_in_the_layers(contract: str, folder: Path) -> None:
    assert parts_of(folder) == layers(contract)


def test_a_public_class_name_is_used_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, text in MODULES.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(PACKAGE)))

    assert {name: found for name, found in places.items() if len(found) > 1 and name not in ROLES} == {}


def test_no_module_is_too_long_to_read_at_once() -> None:
    lengths = {path.relative_to(PACKAGE).as_posix(): text.count("\n") for path, text in MODULES.items()}

    assert {name: length for name, length in lengths.items() if length > LARGEST_MODULE} == {}


def test_a_module_that_serves_one_other_module_is_worth_its_file() -> None:
    importers: dict[Path, set[Path]] = defaultdict(set)
    for path, text in MODULES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    importers[ROOT / f"{name.replace('.', '/')}.py"].add(path)
    small = {
        path.relative_to(PACKAGE).as_posix()
        for path, text in MODULES.items()
        if len(importers[path]) == 1 and text.count("\n") < SMALLEST_MODULE
    }

    assert small <= SMALL_ON_PURPOSE


def test_docstrings_name_their_subject() -> None:
    """The first paragraph uses the words of the glossary, not pronouns for unnamed people and things."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    vague = [
        f"{path.relative_to(PACKAGE)}: {text}"
        for path, source in MODULES.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented)
        for text in [(ast.get_docstring(node) or "").split("\n\n")[0]]
        if VAGUE.search(text)
    ]

    assert vague == []


def test_every_type_in_a_style_rule_is_a_class() -> None:
    """The toolkit ignores a style rule for an unknown class, so a renamed class would lose its style."""
    known = {
        node.name
        for text in MODULES.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    }
    toolkit = {"Button", "Horizontal", "Input", "TextArea", "Toast", "Vertical", "VerticalScroll"}
    sheets = [path.read_text("utf-8") for path in (PACKAGE / "tui").rglob("*.tcss")]
    sheets += [
        sheet
        for text in MODULES.values()
        for pair in re.findall(r'DEFAULT_CSS = (?:"""(.*?)"""|"(.*?)")', text, re.DOTALL)
        for sheet in pair
    ]
    selectors = [
        selector
        for sheet in sheets
        for selector in re.findall(r"([^{};]+)\{", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))
    ]
    types = {name for selector in selectors for name in re.findall(r"(?<![\w.#$:-])_?[A-Z]\w+", selector)}

    assert len(types) > 20
    assert types - known - toolkit == set()


def calls_without(
    keyword: str, *functions: str, folders: Sequence[str] = ("tests", "benchmarks")
) -> list[str]:
    """The places of calls of these functions without this keyword."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in functions
        and not {keyword, None} & {each.arg for each in node.keywords}
    ]


def test_every_program_that_a_test_or_benchmark_runs_has_a_time_limit() -> None:
    assert not calls_without("timeout", "subprocess.run", "subprocess.check_output", "run_program")


def test_every_program_that_runs_beside_a_test_has_the_default_signal_handlers() -> None:
    assert not calls_without("preexec_fn", "subprocess.Popen", folders=["tests"])


STARTS_THREADS = {"Thread", "ThreadPoolExecutor", "run_in_executor", "start_new_thread", "to_thread"}
DIALOGUES = {
    "tui/input_order.py": "a dialogue opens screens and waits for them",
    "tui/actions/own_keys.py": "a decision of a review waits for `result_of`",
    "tui/actions/view.py": "the references of an item wait for `result_of`",
    "tui/screens/references.py": "a new graph waits for `result_of`",
}
"""Modules that start a coroutine on the thread of the interface, and why."""


def test_only_the_job_runner_starts_threads_in_the_inspector() -> None:
    threads, coroutines = set(), set()
    for path, text in MODULES.items():
        module = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(text)) if module.startswith("tui/") else ():
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in STARTS_THREADS or any(each.arg == "thread" for each in node.keywords):
                threads.add(module)
            elif name == "run_worker":
                coroutines.add(module)

    assert threads == {"tui/job_runner.py"}
    assert coroutines == set(DIALOGUES)
