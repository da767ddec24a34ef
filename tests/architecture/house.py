# SPDX-License-Identifier: MIT
"""Measure the rooms of the source: lines, public names, ``Any``, files over 300 lines, and names of
functions that are participles or end in ``_of`` where a verb would say what the function does.

``python -m tests.architecture.house`` prints the table and the ten largest rooms, and with
``--write`` records the numbers in ``house.toml``, which a test compares with the code.
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from pathlib import Path

from scripts.sources import CORE, PACKAGES, ROOT, module_name, sources

RECORD = Path(__file__).with_name("house.toml")
LONG = 300
_PARTICIPLE = re.compile(
    r"_*(?:[a-z]{3,}(?<!exce|proc|succ)ed|made|said|told|kept|found|known|given|taken|chosen|shown|drawn"
    r"|written|held|begun|built|lost|seen|grown|broken|spent|spoken|laid|undone|done)(?:_|$)"
)
_DEEPER = ("envs", "tools")
"""Packages whose own packages are rooms."""

Room = dict[str, int]


def measure() -> dict[str, Room]:
    """Return the numbers of each room by its name, and those of the whole package."""
    rooms: dict[str, Room] = {}
    for path in sorted(path for folder in sources().values() for path in folder.rglob("*.py")):
        if "node_modules" in path.parts:
            continue
        is_core = path.is_relative_to(CORE)
        parts = path.relative_to(CORE).parts if is_core else (module_name(path).split(".")[0],)
        if parts[0] == "programs":  # the sources of bundled programs, which an editable build links
            continue
        name = "." if is_core and len(parts) == 1 else parts[0]
        if name in _DEEPER and len(parts) > 2:
            name = f"{name}/{parts[1]}"
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        room = rooms.setdefault(
            name, dict.fromkeys(("lines", "names", "any", "long", "participles", "of"), 0)
        )
        room["lines"] += lines
        room["names"] += _public_names(text)
        room["any"] += _words(text, "Any")
        room["long"] += lines > LONG
        functions = _function_names(text)
        room["participles"] += sum(bool(_PARTICIPLE.match(one)) for one in functions)
        room["of"] += sum(one.endswith("_of") for one in functions)
    names = {path.stem for path in CORE.glob("*.py")}
    names |= {path.parent.name for path in CORE.glob("*/__init__.py")}
    core = [room for name, room in rooms.items() if name not in PACKAGES]
    rooms["whole"] = {
        "lines": sum(room["lines"] for room in core),
        "packages": sum(rooms[name]["lines"] for name in PACKAGES),
        "files": sum(1 for path in CORE.rglob("*.py") if "programs" not in path.parts),
        "top_level": len([name for name in names if not name.startswith("_")]),
        "layers": len(_contract()),
    }
    return rooms


def recorded() -> dict[str, Room]:
    """Return the numbers that ``house.toml`` allows."""
    return tomllib.loads(RECORD.read_text(encoding="utf-8"))


def write() -> None:
    """Record the numbers of today."""
    rows = [
        f'"{name}" = {{ {", ".join(f"{key} = {value}" for key, value in room.items())} }}'
        for name, room in measure().items()
    ]
    head = (
        "# A number may fall. One that rises is edited in the same commit, whose message says why."
    )
    RECORD.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def _contract() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract.get("exhaustive"))["layers"]


def _public_names(text: str) -> int:
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "__all__":
            return len(getattr(getattr(node, "value", None), "elts", ()))
    return 0


def _function_names(text: str) -> list[str]:
    """Return the names of functions and methods; properties may be participles."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not {"property", "cached_property", "setter"}
        & {getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list}
    ]


def _words(text: str, word: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.NAME and token.string == word for token in tokens)


def main() -> None:
    """Print the table of rooms."""
    if "--write" in sys.argv:
        write()
    rooms = measure()
    whole = rooms.pop("whole")
    heads = f"{'lines':>8}{'names':>7}{'Any':>6}{'long':>6}{'participles':>13}{'_of':>5}"
    print(f"{'room':<18}{heads}")
    for name, room in sorted(rooms.items()):
        numbers = f"{room['lines']:>8,}{room['names']:>7}{room['any']:>6}{room['long']:>6}"
        print(f"{name:<18}{numbers}{room['participles']:>13}{room['of']:>5}")
    print(f"\n{whole['lines']:,} lines, {whole['top_level']} names, {whole['layers']} layers")
    largest = sorted(rooms, key=lambda name: -rooms[name]["lines"])[:10]
    print("largest: " + ", ".join(f"{name} {rooms[name]['lines']:,}" for name in largest))


if __name__ == "__main__":
    main()
