# SPDX-License-Identifier: MIT
"""What a reader gets: a folder for each finding, figures as JSON, and one page.

A draft is a report that somebody may send to LLVM's tracker after reading its check list. Nothing
is sent from here, and the link to Compiler Explorer is built without asking it.
"""

import base64
import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compiler_gym.envs.llvm.toolchain import MAJOR
from compiler_gym.errors import CacheError
from compiler_gym.files import replace_directory, write_whole, writing
from compiler_gym.search import write_json
from compiler_gym.tools.hunt.llvm.decisions import HuntedDecision, HuntGoal
from compiler_gym.tools.hunt.llvm.page import before_and_after, page
from compiler_gym.tools.hunt.llvm.versions import describe_versions

__all__ = ["draft", "explorer_link", "write_findings", "write_title"]

_MACHINES = {"x86_64": "x86-64", "aarch64": "AArch64", "riscv64": "RISC-V 64"}
_CHECKS = (
    "Is it known? Search LLVM's issues for the pass and for the pattern.",
    "Does the newest LLVM show it? The link runs the development version.",
    "Is the pattern what the source meant, not something that the reduction made up?",
    "Is there a proof for every input (Alive2), or only for the inputs that were run?",
    "One issue for one pattern: say what is left, what should be left, and in which packages.",
    "Would the change cost compile time, or make other programs larger?",
)


def write_findings(output: Path, document: Mapping[str, Any]) -> None:
    """Write all findings of a hunt into its folder, and take away what is none any more."""
    with writing(output, CacheError), replace_directory(output / "findings") as folder:
        for number, finding in enumerate(document["findings"], start=1):
            place = folder / f"{number:02}"
            place.mkdir()
            (place / "f.ll").write_text(finding["text"], encoding="utf-8")
            (place / "README.md").write_text(draft(finding, document), encoding="utf-8")
    write_json(output / "findings.json", document)
    write_whole(output / "report.html", page(document).encode())


def write_title(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return one line that says what is missed."""
    level = _level_name(document)
    decision = HuntedDecision.read(finding["decision"])
    before, after = before_and_after(finding, document["goal"])
    saved = f"{before:g} to {after:g} {document['unit']}"
    if decision.codegen:
        return f"[{level}] --{decision.codegen[0]} leaves less code: {saved}"
    extra = ",".join(one for one in decision.passes if one != document["level"])
    place = "before" if decision.passes[-1] == document["level"] else "after"
    return f"[{level}] {extra} {place} {level} leaves less: {saved}"


def _level_name(document: Mapping[str, Any]) -> str:
    return "-" + str(document["level"]).removeprefix("default<").removesuffix(">")


def draft(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return the report of one finding in Markdown."""
    return "\n".join(_parts(finding, document))


def _parts(finding: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    level, decision = HuntedDecision((document["level"],)), HuntedDecision.read(finding["decision"])
    names = finding["package_names"]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    yield f"# {write_title(finding, document)}\n"
    yield (
        f"Found in `{finding['function']}` of the package {finding['package']}.\n"
        f"The pattern is in {finding['functions']:,} functions of {finding['packages']} packages "
        f"({', '.join(names[:6])}{more}), where the decision saves {finding['saved']:g} "
        f"{document['unit']} in all.\n"
        f"{document['figures']['examined']:,} different functions were examined.\n"
    )
    yield f"```llvm\n{finding['text']}```\n"
    suffix = f"-{MAJOR}"
    yield "What the level makes, and what one more decision makes:\n"
    yield (
        f"```console\n$ {level.command('f.ll', version=suffix)}\n"
        f"$ {decision.command('f.ll', version=suffix)}\n```\n"
    )
    yield f"[Both in Compiler Explorer]({explorer_link(finding['text'], level, decision)})\n"
    yield from _sizes(finding, document)
    yield from _versions(finding, document)
    yield f"## Proof\n\n{_proof(finding['proof'])}\n"
    before, after = finding["assembly"]
    yield f"## Machine code\n\nBefore:\n\n```asm\n{before}\n```\n\nAfter:\n\n```asm\n{after}\n```\n"
    yield f"## Which pass could do it\n\n{_pass(decision, document)}\n"
    if finding["remarks"]:
        said = "\n".join(f"- {one}" for one in finding["remarks"])
        yield f"What LLVM's passes say of it at {_level_name(document)}:\n\n{said}\n"
    yield "## Before it is sent\n\n" + "\n".join(f"- [ ] {one}" for one in _CHECKS) + "\n"


def _sizes(finding: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    before, after = finding["instructions"]
    yield "## Sizes\n\n| | level | decision |\n|---|---:|---:|"
    yield f"| IR instructions | {before} | {after} |"
    if document["goal"] == HuntGoal.CYCLES.value:
        before, after = finding["costs"]
        yield f"| cycles by LLVM's model, x86-64 | {before:g} | {after:g} |"
    for machine, sizes in finding["sizes"].items():
        name = f"bytes of code, {_MACHINES[machine]}"
        if isinstance(sizes, str):
            yield f"| {name} | - | {sizes} |"
        else:
            yield f"| {name} | {sizes[0]} | {sizes[1]} |"
    yield ""


def _versions(finding: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    if not finding["versions"]:
        yield "## Versions\n\nNo `opt` and `llc` are installed: only the engine's own was tried.\n"
        return
    said = describe_versions(finding["versions"])
    yield (
        f"## Versions\n\nIt is {said}.\n"
        if said.startswith("missed")
        else f"## Versions\n\n{said}\n"
    )
    if document["goal"] == HuntGoal.CYCLES.value:
        yield "Cycles after the passes of each, by the code generator and model of this one.\n"
    yield "| LLVM | level | decision | |\n|---|---:|---:|---|"
    for row in finding["versions"]:
        if row["failure"]:
            yield f"| {row['version']} | - | - | {row['failure']} |"
        else:
            yield f"| {row['version']} | {row['level']:g} | {row['decided']:g} | |"
    yield ""


def _proof(proof: Mapping[str, Any]) -> str:
    if proof["kind"] == "alive2":
        return "By Alive2, for every input."
    return (
        f"By execution, not for every input: on {proof['judged']:,} generated inputs the function "
        "as it is, the level's and the decision's left the same memory, made the same calls and "
        f"returned the same. The inputs take {proof['reached']} edges of it. The address and the "
        "memory sanitizer report nothing on inputs that were judged; overflow that IR calls poison "
        "is not looked for."
    )


def _pass(decision: HuntedDecision, document: Mapping[str, Any]) -> str:
    extra = [f"`{one}`" for one in decision.passes if one != document["level"]]
    if decision.codegen:
        return f"The code generator: `--{decision.codegen[0]}` takes the choice away from a pass."
    if decision.passes[-1] == document["level"]:
        return f"{', '.join(extra)} prepares what the level's own passes then finish: an order."
    return f"{', '.join(extra)} does it there: the level's passes end without it."


def explorer_link(text: str, level: HuntedDecision, decision: HuntedDecision) -> str:
    """Return the address that opens a function in Compiler Explorer with both decisions."""
    compilers = [
        {"id": "opttrunk", "options": f"-passes={shlex.quote(one.pipeline)} -S"}
        for one in (level, decision)
    ]
    if decision.codegen:
        options = " ".join(f"--{one}" for one in decision.codegen)
        compilers = [{"id": "llctrunk", "options": ""}, {"id": "llctrunk", "options": options}]
    session = {"id": 1, "language": "llvm", "source": text, "compilers": compilers}
    state = json.dumps({"sessions": [session]}, separators=(",", ":")).encode()
    return f"https://godbolt.org/clientstate/{base64.urlsafe_b64encode(state).decode()}"
