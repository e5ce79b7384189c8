"""`ctxview demo`: the bundled samples in the inspector."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxview.commands.inspector import open_inspector
from ctxview.commands.looking import add_look


def configure(parser: ArgumentParser) -> None:
    add_look(parser)


def run(arguments: Namespace) -> int:
    from ctxview.samples import sample_paths

    return open_inspector(sample_paths(), arguments)
