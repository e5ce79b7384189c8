"""Many jobs in several processes: results in order, crashes as results, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.formats.session.builders import sound
from tests.running import LIMIT, default_signals

POOL = """
import os, signal, sys, time
from ctxview.commands.processes import WorkerError, in_order

def work(job):
    {work}

for result in in_order(work, range({jobs}), {processes}):
    print("error:", result) if isinstance(result, WorkerError) else print(result)
"""


def pool(work: str, jobs: int = 40, processes: int = 3) -> list[str]:
    script = POOL.format(work=work, jobs=jobs, processes=processes)
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert run.stderr == ""
    assert run.returncode == 0
    return run.stdout.splitlines()


def test_results_come_in_the_order_of_the_jobs() -> None:
    assert pool("time.sleep(0.002 * (job % 5 == 0)); return job * job") == [str(job**2) for job in range(40)]


def test_every_process_takes_a_part_of_the_jobs() -> None:
    slow = "time.sleep(0.05); return os.getpid()"

    assert len(set(pool(slow, jobs=12, processes=3))) == 3


def test_one_process_does_the_work_itself() -> None:
    assert len(set(pool("return os.getppid()", processes=1))) == 1


def test_large_results_arrive_whole() -> None:
    lines = pool("return len('x' * (job * 300_000)) and hash('x' * (job * 300_000)) is not None", jobs=12)

    assert lines == ["0"] + ["True"] * 11


def test_a_process_that_is_killed_costs_only_its_own_job() -> None:
    lines = pool("if job in (3, 4, 17): os.kill(os.getpid(), signal.SIGKILL)\n    return job")

    killed = "error: the process that read it was ended by SIGKILL"
    assert lines == [killed if job in (3, 4, 17) else str(job) for job in range(40)]


def test_a_process_that_ends_itself_costs_only_its_own_job() -> None:
    lines = pool("if job == 5: os._exit(7)\n    return job", jobs=8)

    assert lines[5] == "error: the process that read it ended with code 7"
    assert [line for line in lines if not line.startswith("error")] == ["0", "1", "2", "3", "4", "6", "7"]


def test_an_error_in_the_work_is_the_result_of_its_job() -> None:
    lines = pool("return 1 // (job - 2)", jobs=4)

    assert lines == ["-1", "-1", "error: ZeroDivisionError: integer division or modulo by zero", "1"]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(what: str, condition) -> None:
    give_up = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < give_up, what
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_all_processes_end_with_the_first_one(tmp_path: Path, number: signal.Signals) -> None:
    work = f"open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'x').close(); time.sleep(600 * (job > 2))"
    script = POOL.format(work=work, jobs=6, processes=3)
    program = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=default_signals,
        start_new_session=True,
    )
    try:
        wait_until("three processes work", lambda: len(list(tmp_path.iterdir())) == 3)
        workers = [int(path.name) for path in tmp_path.iterdir()]
        # A terminal sends Ctrl-C to all of them.
        os.killpg(program.pid, number) if number is signal.SIGINT else program.send_signal(number)
        program.wait(LIMIT)
        wait_until("no process is left", lambda: not any(map(alive, workers)))
    finally:
        program.kill()
        program.wait(LIMIT)


def test_many_sources_give_the_same_bytes_with_any_number_of_processes(tmp_path: Path) -> None:
    for number in range(12):
        build = sound(tmp_path / "tree" / f"s{number}")
        if number % 3 == 0:
            build.add("messages.jsonl", '{"role": "nobody"}')
        build.write()
    (tmp_path / "tree" / "broken.json").write_text("{")
    (tmp_path / "tree" / "locked").mkdir(mode=0o000)
    command = [sys.executable, "-m", "ctxview", "check", "--format", "json", str(tmp_path / "tree")]

    def check(cores: set[int], state: str) -> tuple[int, str, str]:
        env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / state)}
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
            env=env,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        return run.returncode, run.stdout, run.stderr

    cores = os.sched_getaffinity(0)
    assert check({min(cores)}, "one") == check(cores, "all")
