"""Difficult JSON texts, and random ones with every spelling and spacing that JSON allows."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from ctxview.core.origin import JsonValue

VALID: tuple[bytes, ...] = (
    b"null",
    b" \t\r\n true \n",
    b'""',
    b"-0",
    b"-0.0",
    b"0e0",
    b"1E+2",
    b"1.5e-07",
    b"1e400",
    b"-1e400",
    b"1e-400",
    b"123456789012345678901234567890",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-9223372036854775808",
    b"-9223372036854775809",
    b"9" * 5000,
    b"[" + b"1" * 4301 + b"]",
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\\ud83d\\ude00"',
    b'"\\ud800\\ud83d\\ude00"',
    b'["\\uD834\\uDD1E", "\\u0000", "\\/"]',
    b'"\\u2028 \xe2\x80\xa8 \x7f \xc2\x85 \xef\xbb\xbf"',
    b"[]",
    b"{}",
    b"[ ]",
    b"{ }",
    b'{"":0}',
    b'{"a":1,"a":2}',
    b'{"a":1,"\\u0061":2}',
    b'{"a":{"b":1,"b":[]},"a":3,"a":4}',
    b'{"a/b":{"~":{"m~n":1}}}',
    b'{"0":[{"0":1}],"-":2}',
    b'{"__proto__":{"x":1},"constructor":2}',
    b"[[[[[[]]]]],{}]",
    b"[" * 2000 + b"]" * 2000,
    b'{"a":' * 1500 + b"1" + b"}" * 1500,
    b'["' + b"\\n" * 3000 + b'"]',
    b'{"' + b"\\u00e9" * 1200 + b'":1}',
    b'{"caf\xc3\xa9":"\xf0\x9f\x98\x80"}',
    b"[1,\r\n2\r\n,\r\n3]",
    b'{"a" : [ 1 , 2 ] , "b" : { } }',
)

INVALID: tuple[bytes, ...] = (
    b"",
    b" \n",
    b"\xef\xbb\xbf1",
    b"\xff\xfe1\x00",
    b'"\xff"',
    b'"\xed\xa0\x80"',
    b'"\xc0\x80"',
    b'"\xf4\x90\x80\x80"',
    b'"\xe2\x82"',
    b"NaN",
    b"[Infinity]",
    b"-Infinity",
    b"undefined",
    b"True",
    b"tru",
    b"nulll",
    b"01",
    b"-01",
    b"1.",
    b".5",
    b"+1",
    b"-",
    b"1e",
    b"1e+",
    b"0x10",
    b"1_000",
    b"1.5.2",
    b"'a'",
    b'"',
    b'"a',
    b'"\\',
    b'"\\x"',
    b'"\\u12"',
    b'"\\u12g4"',
    b'"\\U0041"',
    b'"a\nb"',
    b'"\t"',
    b'"\x00"',
    b'"\x1f"',
    b"[",
    b"]",
    b"[1",
    b"[1,",
    b"[1,]",
    b"[,1]",
    b"[1 2]",
    b"[1}",
    b"[1]]",
    b"[1],",
    b"{",
    b"}",
    b'{"a"',
    b'{"a":',
    b'{"a":}',
    b'{"a":1',
    b'{"a":1,',
    b'{"a":1,}',
    b'{,"a":1}',
    b'{"a":1 "b":2}',
    b'{"a" 1}',
    b'{"a",1}',
    b'{"a":1]',
    b"{a:1}",
    b"{'a':1}",
    b"{1:1}",
    b'["a":1]',
    b"1 2",
    b"{} {}",
    b"// c\n1",
    b"[1, /* c */ 2]",
    b"# c\n1",
    b"\xc2\xa01",
    b"[1,\x0b2]",
    b"[1,\x0c2]",
    b"\x00",
    b"[1]\x00",
    b"[" * 3000,
    b"[" * 3000 + b"]" * 2999,
    b'["' + b"\\n" * 3000 + b"\\x" + b'"]',
)

_SPACE = " \t\n\r"

keys = st.text(max_size=4) | st.sampled_from(["a", "b", "", "0", "1", "-", "a/b", "~", "tags", "é\u2028\x1b"])
scalars: st.SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
)
values: st.SearchStrategy[JsonValue] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def spell(value: JsonValue, random: Random) -> bytes:
    """Return `value` in a random spelling."""
    return (_blank(random) + _spell(value, random) + _blank(random)).encode("utf-8", "surrogatepass")


texts = st.builds(spell, values, st.randoms(use_true_random=False))
array_texts = st.builds(spell, st.lists(values, min_size=1, max_size=4), st.randoms(use_true_random=False))
object_texts = st.builds(
    spell, st.dictionaries(keys, values, min_size=1, max_size=4), st.randoms(use_true_random=False)
)


def pointers(value: JsonValue, pointer: str = "") -> list[str]:
    """Return every pointer into `value`, in document order."""
    found = [pointer]
    if isinstance(value, dict):
        for key, item in value.items():
            found += pointers(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += pointers(item, f"{pointer}/{index}")
    return found


def mutated(text: bytes, random: Random) -> bytes:
    """Return `text` with a few changed bytes: mostly not JSON any more."""
    data = bytearray(text[:400])
    for _ in range(random.randint(1, 3)):
        place = random.randint(0, len(data))
        action = random.random()
        if action < 0.35:
            data[place : place + 1] = b""
        elif action < 0.75:
            data[place:place] = random.choice(_PIECES)
        else:
            data[place : place + 1] = bytes([random.choice(_BYTES)])
    return bytes(data)


_PIECES = rb'{|}|[|]|,|:|"|""|1|0|-|.|e|E5|true|null|\|\u00|\ud800| |'.split(b"|")
_PIECES += [b"\n", b"\0", b"\xff", b"\xc3\xa9"]
_BYTES = b'{}[],:"0123456789-+.eE \\/utrfnals\x00\x1f\x7f\x80\xc3\xe2\xff'


def _blank(random: Random) -> str:
    return "".join(random.choice(_SPACE) for _ in range(random.choice((0, 0, 0, 1, 2))))


def _spaced(text: str, random: Random) -> str:
    return f"{_blank(random)}{text}{_blank(random)}"


def _spell(value: JsonValue, random: Random) -> str:
    if isinstance(value, dict):
        members = [
            f"{_spaced(_spell(key, random), random)}:{_spaced(_spell(item, random), random)}"
            for key, item in value.items()
        ]
        return "{" + ",".join(members) + (_blank(random) if not members else "") + "}"
    if isinstance(value, list):
        items = [_spaced(_spell(item, random), random) for item in value]
        return "[" + ",".join(items) + (_blank(random) if not items else "") + "]"
    if isinstance(value, str):
        return '"' + "".join(_spell_char(char, random) for char in value) + '"'
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return repr(value)


def _spell_char(char: str, random: Random) -> str:
    code = ord(char)
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return char if random.random() < 0.5 else f"\\u{0xD800 + high:04X}\\u{0xDC00 + low:04x}"
    if char in '"\\' or code < 0x20 or 0xD800 <= code < 0xE000 or random.random() < 0.2:
        return f"\\u{code:04x}"
    return "\\/" if char == "/" and random.random() < 0.5 else char
