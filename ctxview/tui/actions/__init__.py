"""The functions of the actions, one module for each subject, imported when one of its actions first runs."""

from __future__ import annotations
