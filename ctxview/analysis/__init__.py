"""Analyses of a context in any format: tokens, differences, captions, text safety.

Import the modules by name: a command pays only for the analyses it uses.
"""

from __future__ import annotations
