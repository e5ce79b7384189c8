"""The profile of transcripts: windows of models, characters a token, and the thresholds of the rules."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ctxview.formats.kit.profiles import ProfileLoader

PROFILES = ("vendors",)


class KnownWindows(Struct, frozen=True):
    sizes: tuple[int, ...] = ()


class Limits(Struct, frozen=True):
    """Thresholds; percentages are of the window."""

    reserve_output: int = 20_000
    reserve_margin: int = 13_000
    codex_reserve_percent: int = 10
    image_tokens: int = 1600
    codex_image_tokens: int = 1844
    codex_output_tokens: int = 12_000
    stale_minutes: int = 10
    longest_line: int = 8 * 1024 * 1024
    full_percent: int = 80
    overfull_percent: int = 95
    item_percent: int = 10
    same_reads: int = 3
    shrunk_tokens: int = 500
    cache_fell: int = 20_000
    base_percent: int = 20
    heavy_base_percent: int = 40
    turn_percent: int = 25
    thinking_percent: int = 20
    image_percent: int = 10
    most_images: int = 20
    reminders: int = 20
    errors_in_a_row: int = 5
    same_failures: int = 3
    time_back_seconds: int = 60
    estimate_off_percent: int = 30
    least_judged: int = 2000
    baseline_jump: int = 5000
    close_compactions: int = 3
    idle_calls: int = 20
    child_percent: int = 80
    memory_lines: int = 200
    tools_percent: int = 20
    tools_floor: int = 2000
    cache_marks: int = 4
    least_cached: int = 1024


class Profile(Struct, frozen=True):
    name: str
    title: str
    chars_per_token: float = 3.0
    windows: Mapping[str, int] = field(default_factory=dict)
    api_windows: Mapping[str, int] = field(default_factory=dict)
    """Windows that differ for requests to the model's own interface."""
    cache_minimums: Mapping[str, int] = field(default_factory=dict)
    tokenizers: Mapping[str, str] = field(default_factory=dict)
    """The published tables of tokens that models use, by the beginning of their names."""
    known_windows: KnownWindows = KnownWindows()
    densities: Mapping[str, float] = field(default_factory=dict)
    limits: Limits = Limits()

    def window(self, model: str | None, *, by_api: bool = False) -> int | None:
        """Return the window of a model by the longest beginning of its name, or None."""
        table = {**self.windows, **self.api_windows} if by_api else self.windows
        name = _longest(table, model)
        return table[name] if name is not None else None

    def tokenizer(self, model: str | None) -> str | None:
        """Return the name of the table of tokens that a model uses, where it is published."""
        name = _longest(self.tokenizers, model)
        return self.tokenizers[name] if name is not None else None

    def least_cached(self, model: str | None) -> int:
        """Return the tokens from which on a cache breakpoint of a model has an effect."""
        name = _longest(self.cache_minimums, model)
        return self.cache_minimums[name] if name is not None else self.limits.least_cached

    def density(self, model: str | None) -> float:
        """Return the characters of a token, as measured for a model."""
        name = _longest(self.densities, model)
        return self.densities[name] if name is not None else self.chars_per_token

    def larger_window(self, sent: int) -> int:
        """Return the smallest known window that holds `sent` tokens."""
        return next((size for size in self.known_windows.sizes if size >= sent), sent)


_LOADER = ProfileLoader(Profile, "ctxview.formats.transcript", PROFILES)


def load_profile(name: str | None) -> Profile:
    """Return the profile of that name or of that TOML file; raises `ProfileError`."""
    return _LOADER.load(name)


def _longest(table: Mapping[str, object], model: str | None) -> str | None:
    # Proxies write the provider in front: anthropic/claude-…, us.anthropic.claude-….
    plain = (model or "").rpartition("/")[2].rpartition("anthropic.")[2]
    fitting = [name for name in table if plain.startswith(name)]
    return max(fitting, key=len, default=None)
