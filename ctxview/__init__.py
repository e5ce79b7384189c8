"""ctxview: a terminal inspector for the context state of AI agents.

The package root imports nothing, so that `ctxview check` starts without paying for the inspector.
"""

from __future__ import annotations

__version__ = "0.1.0"
