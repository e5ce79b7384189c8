"""The widgets that panes and screens are made of."""

from __future__ import annotations
