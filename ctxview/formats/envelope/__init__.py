"""The envelope format: records of the Agent Context draft about the context of an agent."""

from __future__ import annotations
