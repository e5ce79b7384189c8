"""The commands, one module each, so that running one imports nothing for the others.

Each module named in `parser.COMMANDS` has two functions: `configure(parser)` adds the arguments, and
`run(arguments)` does the work and returns the exit code. Expected errors are raised as `UserError`.
Output that several commands print is in `ctxview.reports`.
"""

from __future__ import annotations
