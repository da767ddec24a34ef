# SPDX-License-Identifier: MIT
"""Inputs of patricia: routing tables that grow, shrink and merge, and malformed commands."""

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 24, "small": 4, "ref": 2}

MALFORMED = (
    "+ 10.0.0.1/8 a",
    "+ 10.0.0.0/33 a",
    "? 10.0.0",
    "? 256.1.1.1",
    "+ 10.0.0.0/8",
    "x",
)
PASSES = {"small": "95", "ref": "230"}
ROUTES = {"small": 4000, "ref": 16_000}


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of patricia."""
    if size != "test":
        return _large(size, rng)
    if index < len(MALFORMED):
        lines = [*_commands(10, rng), MALFORMED[index], "*"]
    elif index == len(MALFORMED):
        lines = ["% ", "*", "!", "? 1.2.3.4", "- 0.0.0.0/0", "+ 0.0.0.0/0 all", "? 1.2.3.4", "*"]
    else:
        lines = _commands(rng.choice((5, 30, 200, 1500)), rng)
    options = ("-n", str(rng.between(2, 9))) if index % 4 == 3 else ()
    return _case(lines, options)


def _case(lines: list[str], options: tuple[str, ...]) -> Case:
    return Case({"input": ("\n".join(lines) + "\n").encode()}, (*options, "input"))


def _large(size: str, rng: Random) -> Case:
    count = ROUTES[size]
    routes = [_prefix(rng) for _ in range(count)]
    lines = [f"+ {prefix} {_hop(rng)}" for prefix in routes]
    lines += ["%", *(f"? {_near(rng.choice(routes), rng)}" for _ in range(count))]
    lines += [f"- {routes[rng.below(count)]}" for _ in range(count // 4)]
    return _case([*lines, "!", "%", "*"], ("-n", PASSES[size]))


def _commands(count: int, rng: Random) -> list[str]:
    lines = ["# routes"]
    known = ["0.0.0.0/0", "255.255.255.255/32"]
    for _ in range(count):
        kind = rng.below(12)
        if kind < 5:
            known.append(_prefix(rng))
            lines.append(f"+ {known[-1]} {_hop(rng)}")
        elif kind < 9:
            lines.append(f"? {_near(rng.choice(known), rng)}")
        elif kind == 9:
            lines.append(f"- {rng.choice(known)}")
        elif kind == 10:
            lines.append(f"= {rng.choice(known) if rng.chance(3, 4) else _prefix(rng)}")
        elif rng.chance(1, 10):
            lines.append(rng.choice(("!", "*", "%")))
    return [*lines, "%", "*", "!", "*"]


def _dotted(address: int) -> str:
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def _prefix(rng: Random) -> str:
    # Few first bytes make many prefixes nest.
    address = rng.below(12) << 24 | rng.below(1 << 24)
    length = min(rng.between(6, 32), rng.between(6, 32))
    return f"{_dotted(address >> (32 - length) << (32 - length))}/{length}"


def _near(prefix: str, rng: Random) -> str:
    """Return an address under `prefix`, or next to it."""
    dotted, length = prefix.split("/")
    address = 0
    for part in dotted.split("."):
        address = address << 8 | int(part)
    address |= rng.below(1 << 32) >> int(length)
    if rng.chance(1, 8):
        address ^= 1 << rng.below(32)
    return _dotted(address)


def _hop(rng: Random) -> str:
    return f"{rng.choice(('north', 'south', 'east'))}{rng.below(4)}"
