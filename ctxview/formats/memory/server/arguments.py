"""The nine tools and their arguments, as pydantic models: bounded sizes, no unknown names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from ctxview.analysis.wording import excerpt
from ctxview.core.origin import JsonValue
from ctxview.formats.memory.profile import load_profile

CAPS: Final = load_profile().caps
LONGEST_RAW: Final = 1_000_000
LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 4000
MOST_LISTED: Final = 50
LISTED: Final = 25
MOST_FOUND: Final = 100
FOUND: Final = 10
MOST_TAGS: Final = 32
MOST_PROBLEMS: Final = 5
INTEGER_BITS: Final = 63
LONGEST_REFUSED: Final = 64 * 1024
"""The trace keeps this many bytes of the arguments of a refused call."""

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


def _storable(value: object) -> object:
    """Refuse a number that a JSON file cannot keep as it is."""
    too_long = isinstance(value, int) and value.bit_length() > INTEGER_BITS
    if too_long or (isinstance(value, float) and not math.isfinite(value)):
        raise PydanticCustomError("number", "Input should be a finite number of at most 64 bits")
    return value


Tag = Annotated[
    Annotated[str, Field(max_length=LONGEST_NAME)] | bool | int | float | None, AfterValidator(_storable)
]


class Refused(Exception):
    """A call that breaks a rule of the service; the message says which."""


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)
    vault_id: Name | None = Field(None, description="Optional: a memory is found by its own id.")


class CreateMemory(Arguments):
    """Create a new memory for the user and return its memoryId."""

    title: Name
    memory_type: Name = Field(description="For example chat, notes or project.")
    description: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None


class OfMemory(Arguments):
    memory_id: Name


class GetMemory(OfMemory):
    """Read the title, type and statistics of a memory."""


class AddEntry(OfMemory):
    """Store one raw message and its summary. Entries are never changed afterwards."""

    raw_entry: Annotated[str, Field(min_length=1, max_length=LONGEST_RAW)] = Field(
        description="The message, word for word."
    )
    summary: Annotated[str, Field(min_length=1)] = Field(
        description=f"At most {CAPS.summary} characters, past tense, no pronouns; keep names, dates, ids."
    )
    tags: Annotated[dict[Name, Tag], Field(max_length=MOST_TAGS)] | None = None


class ListEntries(OfMemory):
    """List entries, the newest first. Pass next_before as before to see older ones."""

    limit: Annotated[int, Field(ge=1)] | None = Field(
        None, description=f"At most {MOST_LISTED}; default {LISTED}."
    )
    before: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="Only entries older than this time."
    )
    after: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="Only entries newer than this time."
    )


class GetContext(OfMemory):
    """Return the current context document of a memory."""


class PutContext(OfMemory):
    """Store a new version of the context document. Earlier versions are kept."""

    content: Annotated[str, Field(min_length=1)] = Field(
        description=f"At most {CAPS.context} characters; grown from raw entries, never from summaries."
    )


class AwaitConsistency(OfMemory):
    """Wait until all previous writes are on the disk."""


class GetUser(Arguments):
    """Return the user: name, email, quotas and memories."""


class SearchMemories(OfMemory):
    """Search a memory by words; returns ranked entries, the latest and the best context."""

    query: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
    top_k: Annotated[int, Field(ge=1)] | None = Field(
        None, description=f"At most {MOST_FOUND}; default {FOUND}."
    )


TOOL_MODELS: Final[Mapping[str, type[Arguments]]] = {
    "create_memory": CreateMemory,
    "get_memory": GetMemory,
    "add_entry": AddEntry,
    "list_entries": ListEntries,
    "get_context": GetContext,
    "put_context": PutContext,
    "await_consistency": AwaitConsistency,
    "get_user": GetUser,
    "search_memories": SearchMemories,
}


def checked_arguments(tool: str, arguments: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a tool as its model; raises `Refused`."""
    model = TOOL_MODELS[tool]
    if tool == "add_entry" and (
        given := [name for name in ("entry_id", "entryId", "id") if name in arguments]
    ):
        raise Refused(f"entries are immutable: add_entry always stores a new entry and takes no {given[0]}")
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        problems = []
        for each in error.errors(include_url=False, include_context=False, include_input=False)[
            :MOST_PROBLEMS
        ]:
            place = ".".join(str(part) for part in each["loc"])
            problems.append(f"{excerpt(place)}: {each['msg']}")
        raise Refused(f"{'; '.join(problems)} ({tool} takes {', '.join(model.model_fields)})") from None


def bounded(arguments: Mapping[str, Any]) -> JsonValue:
    """Return the arguments of a refused call for the trace; of very long ones the beginnings."""
    try:
        if len(orjson.dumps(arguments)) <= LONGEST_REFUSED:
            return dict(arguments)
    except (TypeError, ValueError):
        pass
    texts = [str(part)[:LONGEST_TEXT] for item in [*arguments.items()][:MOST_TAGS] for part in item]
    kept = [excerpt(text.encode(errors="replace").decode(), LONGEST_NAME) for text in texts]
    return dict(zip(kept[::2], kept[1::2], strict=True))
