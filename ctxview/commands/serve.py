"""`ctxview serve PATH …`: the inspector in a browser, on loopback."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.commands.arguments import add_reading_arguments, given_options
from ctxview.commands.inspect import add_screen_arguments
from ctxview.formats.path_hints import missing_path_reason
from ctxview.reports.console import UserError, print_lines


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="files, sessions or folders")
    parser.add_argument("--demo", action="store_true", help="play the bundled stories instead of a path")
    parser.add_argument("--port", metavar="N", type=int, default=0, help="the port (default: any free one)")
    parser.add_argument("--write", action="store_true", help="let viewers save (default: read-only)")
    parser.add_argument("--viewers", metavar="N", type=int, default=4, help="viewers at once (default: 4)")
    parser.add_argument("--open", action="store_true", help="open the page in your browser")
    add_screen_arguments(parser, read_only=False)
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    if bool(arguments.paths) == arguments.demo:
        raise UserError("name what to show, or --demo")
    for path in arguments.paths:
        if (why := missing_path_reason(path)) is not None:
            raise UserError(f"{path}: {why}")
    if not 0 <= arguments.port < 65536 or arguments.viewers < 1:
        raise UserError("a port is at most 65535, and there is at least one viewer")
    try:
        from ctxview.serve.server import InspectorServer
    except ModuleNotFoundError as error:
        raise UserError(f"serve needs {error.name}: pip install 'ctxview[serve]'") from None
    title = "demo" if arguments.demo else ", ".join(path.name or str(path) for path in arguments.paths)
    try:
        server = InspectorServer(
            viewer_command(arguments), title, port=arguments.port, most_viewers=arguments.viewers
        )
    except OSError as error:
        raise UserError(f"port {arguments.port} cannot be used: {error.strerror}") from None

    def ready() -> None:
        print_lines([server.access.address])
        sys.stdout.flush()
        if arguments.open:
            import webbrowser

            webbrowser.open(server.access.address)

    server.serve(ready)
    return 0


def viewer_command(arguments: Namespace) -> list[str]:
    """The words that start the inspector of one viewer; no shell reads them."""
    words = [sys.executable, "-m", "ctxview", *(["demo"] if arguments.demo else [])]
    words += [] if arguments.write else ["--read-only"]
    words += [] if arguments.follow is None else ["--no-follow"]
    given = {
        "--theme": arguments.theme,
        "--glyphs": arguments.glyphs,
        "--tokens": arguments.tokens,
        "--as": arguments.as_format,
        "--profile": arguments.profile,
        **{f"--{name}": value for name, value in given_options(arguments).items()},
    }
    words += [f"{name}={value}" for name, value in given.items() if value is not None]
    return [*words, "--", *(str(path.absolute()) for path in arguments.paths)] if arguments.paths else words
