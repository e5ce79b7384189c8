"""Tokens of every kind, put together at run time, so that no scanner takes them for real."""

from __future__ import annotations

RANDOM = "q3X7vB9mK2tR5wY8nL4cD6fG1hJ0pS9aZxVuTiOePbMnQwErTyUiOpAsDfGhJkLzXcVbNm1234567890"


def letters(count: int) -> str:
    return (RANDOM * 4)[:count]


TOKENS = {
    "SEC001": [
        "AKIA" + "Q4ZTB7RNMC2VLDWX",
        "ASIA" + "Q4ZTB7RNMC2VLDWX",
        "AIza" + letters(35),
        "ya29." + letters(40),
        "GOCSPX-" + letters(28),
        "dop_v1_" + "0a1b2c3d4e5f6789" * 4,
    ],
    "SEC002": [
        "ghp_" + letters(36),
        "ghs_" + letters(36),
        "github_pat_" + letters(60),
        "glpat-" + letters(20),
        "npm_" + letters(36),
        "pypi-AgEIcHlwaS5vcmc" + letters(60),
        "dckr_pat_" + letters(27),
    ],
    "SEC003": [
        "sk-ant-api03-" + letters(80),
        "sk-proj-" + letters(60),
        "sk-or-v1-" + "0a1b2c3d" * 8,
        "sk-" + letters(48),
        "hf_" + letters(34),
        "gsk_" + letters(52),
        "xai-" + letters(80),
        "r8_" + letters(37),
        "pplx-" + letters(48),
    ],
    "SEC004": [
        "xoxb-" + "123456789012-" + letters(24),
        "xapp-1-A0123456789-" + letters(40),
        "123456789:AA" + letters(33),
        "sk_live_" + letters(24),
        "rk_live_" + letters(24),
        "whsec_" + letters(32),
        "SG." + letters(22) + "." + letters(43),
    ],
    "SEC008": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + letters(43)],
}
CASES = [(rule, token) for rule, tokens in TOKENS.items() for token in tokens]
