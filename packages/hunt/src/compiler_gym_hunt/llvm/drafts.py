# SPDX-License-Identifier: MIT
"""Write the results of a hunt: a folder for each finding, a JSON document, and an HTML page.

A draft is a report that the user can submit to LLVM's issue tracker after going through its
checklist. Nothing is sent from here, and links to Compiler Explorer are built offline.
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
from compiler_gym_hunt.llvm.decisions import HuntedDecision, HuntGoal
from compiler_gym_hunt.llvm.page import before_and_after, page
from compiler_gym_hunt.llvm.versions import describe_versions

__all__ = ["draft", "explorer_link", "write_findings", "write_title"]

_MACHINES = {"x86_64": "x86-64", "aarch64": "AArch64", "riscv64": "RISC-V 64"}
_CHECKS = (
    "Is it already known? Search LLVM's issues for the pass and for the pattern.",
    "Does the newest LLVM still miss it? The link runs the development version.",
    "Does the pattern come from the source, rather than from the reduction?",
    "Is the proof for all inputs (Alive2), or only for the inputs that were run?",
    "Is it one issue for one pattern, with actual code, expected code and affected packages?",
    "Would the change cost compile time or make other programs larger?",
)


def write_findings(output: Path, document: Mapping[str, Any]) -> None:
    """Write all findings of a hunt to its folder, and delete outdated ones."""
    with writing(output, CacheError), replace_directory(output / "findings") as folder:
        for number, finding in enumerate(document["findings"], start=1):
            target = folder / f"{number:02}"
            target.mkdir()
            (target / "f.ll").write_text(finding["text"], encoding="utf-8")
            (target / "README.md").write_text(draft(finding, document), encoding="utf-8")
    write_json(output / "findings.json", document)
    write_whole(output / "report.html", page(document).encode())


def write_title(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return a one-line summary of the missed optimisation."""
    level = _level_name(document)
    decision = HuntedDecision.read(finding["decision"])
    before, after = before_and_after(finding, document["goal"])
    saved = f"{before:g} to {after:g} {document['unit']}"
    if decision.codegen:
        return f"[{level}] --{decision.codegen[0]} improves the code: {saved}"
    extra = ",".join(name for name in decision.passes if name != document["level"])
    position = "before" if decision.passes[-1] == document["level"] else "after"
    return f"[{level}] {extra} {position} {level} improves the code: {saved}"


def _level_name(document: Mapping[str, Any]) -> str:
    return "-" + str(document["level"]).removeprefix("default<").removesuffix(">")


def draft(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return the draft of one finding in Markdown."""
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
        f"{document['unit']} in total.\n"
        f"{document['figures']['examined']:,} different functions were examined.\n"
    )
    yield f"```llvm\n{finding['text']}```\n"
    suffix = f"-{MAJOR}"
    yield "Compile it with the level alone, and with the decision:\n"
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
    yield f"## Responsible pass\n\n{_pass(decision, document)}\n"
    if finding["remarks"]:
        remarks = "\n".join(f"- {remark}" for remark in finding["remarks"])
        yield f"Remarks of LLVM's passes at {_level_name(document)}:\n\n{remarks}\n"
    yield "## Before you submit it\n\n" + "\n".join(f"- [ ] {text}" for text in _CHECKS) + "\n"


def _sizes(finding: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    before, after = finding["instructions"]
    yield "## Sizes\n\n| | level | decision |\n|---|---:|---:|"
    yield f"| IR instructions | {before} | {after} |"
    if document["goal"] == HuntGoal.CYCLES.value:
        before, after = finding["costs"]
        yield f"| cycles in LLVM's model, x86-64 | {before:g} | {after:g} |"
    for machine, sizes in finding["sizes"].items():
        name = f"bytes of code, {_MACHINES[machine]}"
        if isinstance(sizes, str):
            yield f"| {name} | - | {sizes} |"
        else:
            yield f"| {name} | {sizes[0]} | {sizes[1]} |"
    yield ""


def _versions(finding: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    if not finding["versions"]:
        yield "## Versions\n\n`opt` and `llc` are not installed; only the bundled LLVM was tried.\n"
        return
    summary = describe_versions(finding["versions"])
    yield (
        f"## Versions\n\nIt is {summary}.\n"
        if summary.startswith("missed")
        else f"## Versions\n\n{summary}\n"
    )
    if document["goal"] == HuntGoal.CYCLES.value:
        yield "Cycles after each version's passes, with the bundled code generator and model.\n"
    yield "| LLVM | level | decision | |\n|---|---:|---:|---|"
    for row in finding["versions"]:
        if row["failure"]:
            yield f"| {row['version']} | - | - | {row['failure']} |"
        else:
            yield f"| {row['version']} | {row['level']:g} | {row['decided']:g} | |"
    yield ""


def _proof(proof: Mapping[str, Any]) -> str:
    if proof["kind"] == "alive2":
        return "By Alive2, for all inputs."
    return (
        f"By execution, not for all inputs: on {proof['judged']:,} generated inputs the original "
        "function and both compiled versions left the same memory, made the same calls and "
        f"returned the same value. The inputs cover {proof['reached']} edges. The address and "
        "memory sanitizers report nothing on these inputs; overflow that IR defines as poison is "
        "not checked."
    )


def _pass(decision: HuntedDecision, document: Mapping[str, Any]) -> str:
    extra = [f"`{name}`" for name in decision.passes if name != document["level"]]
    if decision.codegen:
        return f"The code generator: `--{decision.codegen[0]}` overrides the choice of a pass."
    if decision.passes[-1] == document["level"]:
        return f"{', '.join(extra)} enables the level's own passes to finish the job: pass order."
    return f"{', '.join(extra)} can still do it after the level's own passes."


def explorer_link(text: str, level: HuntedDecision, decision: HuntedDecision) -> str:
    """Return a link that opens the function in Compiler Explorer with both decisions."""
    compilers = [
        {"id": "opttrunk", "options": f"-passes={shlex.quote(each.pipeline)} -S"}
        for each in (level, decision)
    ]
    if decision.codegen:
        options = " ".join(f"--{option}" for option in decision.codegen)
        compilers = [{"id": "llctrunk", "options": ""}, {"id": "llctrunk", "options": options}]
    session = {"id": 1, "language": "llvm", "source": text, "compilers": compilers}
    state = json.dumps({"sessions": [session]}, separators=(",", ":")).encode()
    return f"https://godbolt.org/clientstate/{base64.urlsafe_b64encode(state).decode()}"
