"""The commands, one module each, so that running one imports nothing for the others.

Every module here that `ctxview.cli` names has two functions: `configure(parser)` adds its arguments, and
`run(arguments)` does the work and returns the exit code. Expected trouble is raised as `Trouble`.
What only one command prints stands beside it as `NAME_text`; what several print is in `ctxview.reports`.
"""
