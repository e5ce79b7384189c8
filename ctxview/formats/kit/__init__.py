"""Parts that several formats share: files, folders, histories, records, profiles and text editing."""

from __future__ import annotations
