"""`ctxview prompt PATH`: print the literal text that the model is given. Exit 1 when there is none.

Other programs get exactly the bytes of the text, also its secrets. On a terminal it is made harmless.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.analysis.secrets import mask_secrets
from ctxview.commands.arguments import add_reading_arguments, lens_from, open_only_source, revision_index
from ctxview.core.origin import JsonValue
from ctxview.core.prompt import PromptError
from ctxview.files.visible_text import visible
from ctxview.formats.revisions import REVISION_HELP
from ctxview.reports.console import print_error, print_lines, print_masked
from ctxview.reports.prompt import messages_json, note_lines, text_bytes

EXIT_NO_PROMPT = 1


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, session or folder")
    parser.add_argument("--at", metavar="REV", help=f"{REVISION_HELP} (default: the latest)")
    parser.add_argument("--to", metavar="TARGET", help="the receiver of an envelope (default: model)")
    parser.add_argument(
        "--as",
        dest="form",
        metavar="FORM",
        choices=("text", "messages", "json"),
        default="text",
        help="text: byte for byte, but harmless and masked on a terminal; messages: all messages of the "
        "call; json: each part with block, tier, tokens and origin (default: text)",
    )
    parser.add_argument("--sha256", action="store_true", help="print the SHA-256 of the output instead of it")
    add_reading_arguments(parser, format_option="--read-as")


def run(arguments: Namespace) -> int:
    source = open_only_source(arguments.path, arguments)
    revision = revision_index(source, arguments.at)
    lens = lens_from(arguments, shows_figures=arguments.form == "json")
    ability = source.abilities.prompt
    try:
        if ability is None:
            raise PromptError(f"no prompt is known for the format {source.format}")
        prompt = ability.prompt(revision, lens, arguments.to)
    except PromptError as error:
        print_error(f"{arguments.path}: {error}")
        return EXIT_NO_PROMPT
    if arguments.form == "json":
        from ctxview.reports.prompt import prompt_json

        output = _document(prompt_json(prompt, source.revisions[revision].label, arguments.to, lens.counter))
    else:
        for line in note_lines(prompt):
            print_error(f"note: {mask_secrets(line)}")
        output = text_bytes(prompt.text) if arguments.form == "text" else _document(messages_json(prompt))
    if arguments.sha256:
        import hashlib

        print_lines([hashlib.sha256(output).hexdigest()])
    elif arguments.form == "text" and sys.stdout.isatty():
        print_masked([visible(output.decode(), keep_layout=True)])
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(output)
    return 0


def _document(value: JsonValue) -> bytes:
    from ctxview.reports.json_output import dumps

    return f"{dumps(value)}\n".encode()
