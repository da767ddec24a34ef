# SPDX-License-Identifier: MIT
"""The reference page of what the size policy saves on Rust programs.

`python -m scripts.projects.rust` measures them.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import geometric_mean
from typing import Any

__all__ = ["rust_page"]

MEASURED = Path(__file__).with_name("results") / "rust.json"
_RIVAL, _PACKED = "rival", "rival, packed"
_BUILDS = {
    "rival, packed": "rival, packed",
    "policy": "policy without plug-in",
    "policy, packed": "policy without plug-in, packed",
    "minsize": "`--minsize` without plug-in",
    "minsize, packed": "`--minsize` without plug-in, packed",
    "plug-in, packed": "`--minsize` with plug-in, packed",
}
_ROLES = {"judging": "Judged once", "choosing": "Looked at before"}
_HEAD = """\
# Rust programs

Each program is built by rustc 1.96.0 from Debian 12's packages of crates. The rival is what stable
Rust and a stock linker can do for size: `opt-level = "z"`, fat link-time optimisation, one codegen
unit, `panic = "abort"`, `strip`, and lld with `--gc-sections --icf=safe`. The other builds use the
same profile with `compiler-gym-cc` as the linker, as in [the guide](../guide/rust.md). *Packed*
adds `-Wl,-z,pack-relative-relocs`, and *plug-in* is the [size plug-in](../guide/size-plugin.md),
which `--no-plugin` leaves out. By default, the policy packs and uses the plug-in.

- *Loaded* bytes and *code* (`.text`) are changes from the rival, and so are the *instructions* that
  one run executes on real input, counted by valgrind. Packing does not change code.
- *Link* is the processor time of the last call of rustc (optimisation, code and link), relative to
  the rival's. Only `--minsize` without plug-in, packed, links twice to compare, as all builds do
  by default.
- Each program prints the same in all builds: the run compares its output.
- hexyl is among the programs looked at before, because earlier measurements used it. Of the others,
  the four with the smallest SHA-256 of their names were taken for that group before any result was
  known. The plans themselves were chosen on programs in C and C++.
- All programs but grcov were measured again when the plan had lost an option that costs speed.
  This changed the instructions, but no size without the plug-in. grcov's plug-in is an older one,
  which does not choose settings. xml-analyze and cbindgen had also rejected their first inputs.
- The own tests of three programs were run. Those of xml-analyze do not compile here, and the others
  were not tried.
- The machine was shared, so times are good to about 10 %. Bytes and instructions are repeatable.
"""

Row = Mapping[str, Any]


def rust_page(measured: Path = MEASURED) -> str:
    """Return the page as Markdown."""
    rows: dict[str, Row] = json.loads(measured.read_text(encoding="utf-8"))
    return "\n".join([_HEAD, *_summary(rows), *_programs(rows)])


def _summary(rows: Mapping[str, Row]) -> Iterator[str]:
    for role, title in _ROLES.items():
        some = {name: row for name, row in rows.items() if row["role"] == role}
        if not some:
            continue
        yield f"## {title}: {', '.join(some)}"
        yield ""
        yield (
            "Geometric means. *Least* and *most* are the smallest and the largest saving of loaded "
            "bytes; *from packed* is the change from the packed rival."
        )
        yield ""
        yield (
            "| build | loaded | least | most | larger | from packed | code | instructions | link |"
        )
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
        for build, label in _BUILDS.items():
            loaded = [_ratio(row, build, "loaded") for row in some.values()]
            changes = (geometric_mean(loaded), max(loaded), min(loaded))
            cells = [label, *(f"{100 * (value - 1):+.1f} %" for value in changes)]
            cells.append(str(sum(value > 1 for value in loaded)))
            cells.append(_mean(some, lambda row, build=build: _compare_with_packed(row, build)))
            cells.append(_mean(some, lambda row, build=build: _ratio(row, build, "text")))
            cells.append(_mean(some, lambda row, build=build: _ratio(row, build, "instructions")))
            link = geometric_mean([_ratio(row, build, "seconds") for row in some.values()])
            yield f"| {' | '.join([*cells, f'{link:.2f}'])} |"
        yield ""


def _mean(rows: Mapping[str, Row], value: Callable[[Row], float]) -> str:
    values = [value(row) for row in rows.values()]
    return f"{100 * (geometric_mean(values) - 1):+.1f} %" if all(values) else ""


def _compare_with_packed(row: Row, build: str) -> float:
    """Return the loaded bytes of a packed build relative to the packed rival; 0 for others."""
    return row[build]["loaded"] / row[_PACKED]["loaded"] if "packed" in build else 0


def _ratio(row: Row, build: str, field: str) -> float:
    return row[build][field] / row[_RIVAL][field]


def _programs(rows: Mapping[str, Row]) -> Iterator[str]:
    yield "## Each program"
    yield ""
    yield "Loaded bytes of the rival, and the change in each build:"
    yield ""
    yield from _list_changes(rows, _BUILDS, "loaded", 1)
    yield "Executed instructions, in millions, and the change:"
    yield ""
    counted = {build: label for build, label in _BUILDS.items() if _is_counted(rows, build)}
    yield from _list_changes(rows, counted, "instructions", 1_000_000)
    tested = {name: row["tests"] for name, row in rows.items() if "tests" in row}
    if tested:
        yield (
            "The programs' own tests, built as the rival and with `--minsize`, packed, without the "
            "plug-in:"
        )
        yield ""
        yield "| program | rival | `--minsize` |"
        yield "|---|---|---|"
        for name, tests in tested.items():
            yield f"| {name} | {tests['rival']} | {tests['minsize, packed']} |"
        yield ""


def _list_changes(
    rows: Mapping[str, Row], builds: Mapping[str, str], field: str, unit: int
) -> Iterator[str]:
    """Yield a table of `field` of the rival, in units, and of its change in `builds`."""
    yield f"| program | rival | {' | '.join(builds.values())} |"
    yield f"|---|---:|{'---:|' * len(builds)}"
    for name, row in rows.items():
        cells = [f"{100 * (_ratio(row, build, field) - 1):+.1f} %" for build in builds]
        yield f"| {name} | {row[_RIVAL][field] / unit:,.0f} | {' | '.join(cells)} |"
    yield ""


def _is_counted(rows: Mapping[str, Row], build: str) -> bool:
    return all(row[build]["instructions"] for row in rows.values())
