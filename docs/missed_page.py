# SPDX-License-Identifier: MIT
"""The reference page of what a hunt in Debian's packages has found."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compiler_gym_hunt.llvm.drafts import write_title
from compiler_gym_hunt.llvm.page import before_and_after
from compiler_gym_hunt.llvm.versions import describe_versions

__all__ = ["missed_page"]

FOUND = Path(__file__).with_name("missed_found.json")
"""Hunts, each a ``findings.json`` with what was looked up in LLVM's issues as ``known``."""
_MACHINES = {"x86_64": "x86-64", "aarch64": "AArch64", "riscv64": "RISC-V"}
_HEAD = """\
Each of these is a function that -Oz of this LLVM leaves larger than one more decision does.
They come from [hunts](../../packages/hunt/docs/hunt.md) in packages of Debian: reduced to at most
30 lines, proven, and found in at least three packages.
Counts are over the functions that were examined, without functions that differ only in names and
constants.
All findings were proven, counted and compared by one version of this library; of what was dropped,
some was dropped by earlier ones.
Nothing of it was reported by this project.""".splitlines()


def missed_page(found: Path = FOUND) -> str:
    """Return the page as Markdown."""
    hunts: list[dict[str, Any]] = json.loads(found.read_text()) if found.exists() else []
    return "\n".join(_page_of_hunts(hunts))


def _page_of_hunts(hunts: list[dict[str, Any]]) -> Iterator[str]:
    yield "# What -Oz misses in Debian's packages"
    yield ""
    yield from _HEAD
    yield ""
    for document in hunts:
        yield from _figures(document)
        yield from _overview_of(document)
    for document in hunts:
        for number, finding in enumerate(document["findings"], start=1):
            yield from _one(number, finding, document)


def _figures(document: Mapping[str, Any]) -> Iterator[str]:
    figures = document["figures"]
    lost = {step: sum(reasons.values()) for step, reasons in figures["dropped"].items()}
    rate = figures["functions_an_hour"]
    rate = f", {rate:,} an hour on a core that others used, too" if rate else ""
    yield f"## By {document['goal']}"
    yield ""
    yield (
        f"{figures['examined']:,} functions of {figures['programs_examined']:,} programs were "
        f"examined{rate}; "
        f"{figures['with_gap']:,} have a gap ({figures['with_gap'] / figures['examined']:.0%})."
    )
    yield (
        f"{figures['candidates']:,} candidates were followed, and {len(document['findings'])} are "
        f"findings. Dropped were: "
        f"{', '.join(f'{count} at the step {step!r}' for step, count in lost.items())}."
    )
    yield ""


def _overview_of(document: Mapping[str, Any]) -> Iterator[str]:
    yield "| finding | decision | level | with it | functions | packages | saved there |"
    yield "| --- | --- | --: | --: | --: | --: | --: |"
    for number, finding in enumerate(document["findings"], start=1):
        before, after = before_and_after(finding, document["goal"])
        decision = finding["decision"].replace("|", "\\|")
        yield (
            f"| [{number}](#{document['goal']}-{number}) | `{decision}` | {before:g} | {after:g} | "
            f"{finding['functions']:,} | {finding['packages']:,} | {finding['saved']:g} |"
        )
    yield ""


def _one(number: int, finding: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {document['goal'].capitalize()} {number}"
    yield ""
    yield f"`{finding['decision']}`:"
    yield f"{write_title(finding, document)}."
    sizes = "; ".join(
        f"{_MACHINES[machine]} {sizes[0]} to {sizes[1]}"
        for machine, sizes in finding["sizes"].items()
        if isinstance(sizes, list)
    )
    yield f"Bytes of code: {sizes}."
    yield f"Versions: {describe_versions(finding['versions'])}."
    yield (
        f"Proof by {finding['proof']['kind']}: {finding['proof']['judged']} inputs, "
        f"{finding['proof']['reached']} edges."
    )
    yield f"From `{finding['function']}` of {finding['package']}."
    if finding.get("known"):
        yield finding["known"]
    yield ""
    yield f"```llvm\n{finding['text']}```"
    yield ""
