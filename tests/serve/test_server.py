"""`ctxview serve`: who may reach it, what a viewer may do, and that no process is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from ctxview.samples import samples_folder
from tests.running import Run
from tests.serve.serving import RunningServer, Viewer, children_of, serving, until, viewing, visiting
from tests.tui.fakes import block, memory

LIGHTHOUSE = samples_folder() / "snapshot" / "lighthouse"
READ = "bytes/3,"
"""In the header when everything is read."""
TAB, APPLY, CLEAR = "\t", "\x13", "\x15"
NEW_DECAY = f"2ge{TAB}{TAB}{CLEAR}0.33{APPLY}"
"""Memory, the first block, its form, the third field, and apply."""


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    file = tmp_path / "typed.json"
    file.write_text(json.dumps(memory(core=[block("a", "one")])), "utf-8")
    return file


async def test_a_connection_needs_the_cookie_and_the_own_origin() -> None:
    with serving(LIGHTHOUSE) as server:
        other_origins = "http://example.org", "null", "http://127.0.0.1:1", None
        async with visiting(server) as visitor, ClientSession() as stranger:
            for origin in (server.origin, *other_origins):
                wanted = 101 if origin == server.origin else 403
                assert await handshake(visitor, f"{server.origin}/ws", origin) == wanted, origin
                assert await handshake(stranger, f"{server.origin}/ws", origin) == 403, origin


async def handshake(session: ClientSession, address: str, origin: str | None) -> int:
    try:
        async with session.ws_connect(address, origin=origin):
            return 101
    except WSServerHandshakeError as error:
        return error.status


async def test_pages_need_the_cookie_and_the_own_host() -> None:
    with serving(LIGHTHOUSE) as server:
        async with visiting(server) as visitor, ClientSession() as stranger:
            for path in ("/", "/static/js/textual.js", "/page/page.js"):
                async with visitor.get(server.origin + path) as answer:
                    assert answer.status == 200
                    policy = answer.headers["Content-Security-Policy"]
                    assert "default-src 'none'" in policy
                    assert "frame-ancestors 'none'" in policy
                    assert answer.headers["Cache-Control"] == "no-store"
                async with stranger.get(server.origin + path) as answer:
                    assert answer.status == 403
                async with visitor.get(server.origin + path, headers={"Host": "evil.example"}) as answer:
                    assert answer.status == 421
                async with visitor.get(
                    server.origin + path, headers={"Origin": "http://evil.example"}
                ) as answer:
                    assert answer.status == 403
            async with stranger.get(f"{server.origin}/?token={server.token[:-1]}x") as answer:
                assert answer.status == 403
            for path in ("/static/", "/download/x", "/page/../server.py"):
                async with visitor.get(server.origin + path) as answer:
                    assert answer.status in (403, 404)


async def test_the_token_is_exchanged_for_a_strict_cookie_and_leaves_the_address() -> None:
    with serving(LIGHTHOUSE) as server:
        async with ClientSession() as session, session.get(server.address, allow_redirects=False) as answer:
            assert answer.status == 303
            assert answer.headers["Location"] == "/"
            assert {"HttpOnly", "SameSite=Strict"} <= set(answer.headers["Set-Cookie"].split("; "))
            assert server.token not in answer.headers["Set-Cookie"]


async def test_a_viewer_sees_true_colours_at_the_size_of_its_page() -> None:
    with serving(LIGHTHOUSE) as server:
        async with viewing(server, "width=80&height=24") as viewer:
            await viewer.read_until("38;2;")
            await viewer.read_until("rev 29 of 29")
            viewer.output = b""
            await viewer.send(["resize", {"width": 120, "height": 36}])
            await viewer.read_until("\x1b[36;1H")


async def test_a_save_is_refused_unless_writing_was_allowed(snapshot: Path) -> None:
    before = snapshot.read_bytes()
    with serving(snapshot) as server:
        async with viewing(server) as viewer:
            await viewer.read_until(READ)
            await viewer.press("2ge")
            await viewer.read_until("opened to read only")
            await viewer.press("wy")
            await viewer.read_until("nothing to save")
    assert snapshot.read_bytes() == before

    with serving("--write", snapshot) as server:
        async with viewing(server) as viewer:
            await viewer.read_until(READ)
            await viewer.press(NEW_DECAY + "wy")
            await viewer.read_until("Saved")
    assert json.loads(snapshot.read_bytes())["memory"]["core"][0]["decay"] == 0.33


async def test_the_page_is_informed_of_unsaved_changes(snapshot: Path) -> None:
    with serving("--write", snapshot) as server:
        async with viewing(server) as viewer:
            await viewer.read_until(READ)
            await viewer.press(NEW_DECAY)
            await viewer.read_until('["draft", true]')
            await viewer.press("u")
            await viewer.read_until('["draft", false]')


async def test_viewers_have_processes_of_their_own_and_are_limited() -> None:
    with serving("--viewers", "2", LIGHTHOUSE) as server:
        async with viewing(server) as one, viewing(server) as other:
            await one.read_until("Overview")
            await other.read_until("Overview")
            assert len(server.viewers) == 2
            async with visiting(server) as third:
                assert await handshake(third, f"{server.origin}/ws", server.origin) == 503
        await until(lambda: not server.viewers, "the processes have ended")
        async with asyncio.timeout(60):
            while not await has_overview(server):
                await asyncio.sleep(0.01)


async def has_overview(server: RunningServer) -> bool:
    """Whether there is room for a viewer: the server counts one until it knows that its process has ended."""
    try:
        async with viewing(server) as viewer:
            await viewer.read_until("Overview")
            return True
    except WSServerHandshakeError as error:
        if error.status != 503:
            raise
        return False


async def test_a_killed_viewer_closes_its_connection_and_no_other() -> None:
    with serving(LIGHTHOUSE) as server:
        async with viewing(server) as one:
            await one.read_until("Overview")
            (process,) = server.viewers
            async with viewing(server) as other:
                await other.read_until("Overview")
                os.kill(process, signal.SIGKILL)
                await closed(one)
                await other.press("2")
                await other.read_until("shown")


async def closed(viewer: Viewer) -> None:
    while not viewer.socket.closed:
        await viewer.socket.receive()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_no_viewer_outlives_the_server(number: signal.Signals) -> None:
    with serving(LIGHTHOUSE) as server:
        async with viewing(server) as viewer:
            await viewer.read_until("Overview")
            processes = [each for viewer_ in server.viewers for each in (viewer_, *children_of(viewer_))]
            server.program.process.send_signal(number)
            await until(lambda: server.program.process.poll() is not None, "the server ends")
            await until(lambda: not any(map(alive, processes)), "its viewers end")
        if number is not signal.SIGKILL:
            assert server.program.process.returncode == 0


@pytest.mark.parametrize("ending", ["closed page", "SIGTERM"])
async def test_a_viewer_that_hangs_is_killed_even_when_much_input_waits(ending: str) -> None:
    with serving(LIGHTHOUSE) as server:
        async with viewing(server) as viewer:
            await viewer.read_until("Overview")
            (process,) = server.viewers
            os.kill(process, signal.SIGSTOP)
            for _ in range(40):
                await viewer.press("x" * 50_000)
            if ending == "SIGTERM":
                server.program.process.terminate()
                await until(lambda: server.program.process.poll() == 0, "the server ends")
        await until(lambda: not alive(process), "its process is killed")


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_a_path_reaches_no_shell(tmp_path: Path) -> None:
    folder = tmp_path / "a 'b' \"c\" $(touch proof) `touch proof`; touch proof &"
    folder.mkdir()
    file = folder / "--snapshot.json"
    file.write_text(json.dumps(memory(core=[block("a", "one")])), "utf-8")
    with serving("--", file) as server:
        async with viewing(server) as viewer:
            await viewer.read_until("Overview")
    assert not list(tmp_path.rglob("proof"))
    assert not Path("proof").exists()


async def test_the_page_spells_out_a_name_that_no_text_can_hold(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"a\xff<i>@websocket@\n.json")
    file.write_text(json.dumps(memory(core=[block("a", "one")])), "utf-8")
    with serving("--", file) as server:
        async with visiting(server) as visitor, visitor.get(server.origin) as answer:
            assert answer.status == 200
            page = await answer.text()
    assert "&lt;i&gt;@websocket@^J.json · ctxview</title>" in page


async def test_an_unknown_message_is_ignored() -> None:
    with serving(LIGHTHOUSE) as server:
        async with viewing(server, "width=99999&height=-1") as viewer:
            await viewer.read_until("Overview")
            for text in ("", "{", "[]", '["resize", {"width": "x"}]', '["stdin", 7]', "[[]]", '{"a": 1}'):
                await viewer.socket.send_str(text)
            await viewer.press("2")
            await viewer.read_until("shown")


async def test_a_message_that_is_too_large_ends_the_viewer() -> None:
    with serving(LIGHTHOUSE) as server:
        async with viewing(server) as viewer:
            await viewer.read_until("Overview")
            await viewer.press("x" * 70_000)
            await closed(viewer)
        await until(lambda: not server.viewers, "its process ends")


async def test_the_demo_is_served() -> None:
    with serving("--demo") as server:
        async with viewing(server) as viewer:
            await viewer.read_until("play this story")


def test_what_cannot_be_served_is_said_in_one_line(
    ctxview: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ctxview("serve").complaint == "name what to show, or --demo"
    assert "there is no such file" in ctxview("serve", tmp_path / "absent").complaint
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = ctxview("serve", LIGHTHOUSE, "--port", str(port))
        assert (ran.code, ran.complaint) == (2, f"port {port} cannot be used: Address already in use")
    for name in [each for each in sys.modules if each.startswith("ctxview.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert ctxview("serve", LIGHTHOUSE).complaint == "serve needs textual_serve: pip install 'ctxview[serve]'"
