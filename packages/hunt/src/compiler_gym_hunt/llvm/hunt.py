# SPDX-License-Identifier: MIT
"""Run a hunt: its steps, and the journal from which it can be resumed.

    journal.jsonl   a row for each program and candidate, with the reason if it was dropped
    functions/      the functions with a gap, as bitcode
    findings/       a folder for each finding, with its draft and the reduced function
    findings.json   figures and findings
    report.html     the same as an HTML page

A row is written when a program or candidate is done, so a kill loses at most one of them.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compiler_gym.envs.llvm.toolchain import clang_command, require_tool
from compiler_gym.errors import BenchmarkInitError, CacheError, CompilerGymError
from compiler_gym.files import FolderLock, append_line, drop_cut_line, lines, write_whole, writing
from compiler_gym_hunt.llvm.decisions import HuntGoal
from compiler_gym_hunt.llvm.drafts import write_findings
from compiler_gym_hunt.llvm.engine import Engine
from compiler_gym_hunt.llvm.growing import find_grown
from compiler_gym_hunt.llvm.proving import prove_finding
from compiler_gym_hunt.llvm.reducing import reduce_ir
from compiler_gym_hunt.llvm.sources import HuntedProgram, programs_in
from compiler_gym_hunt.llvm.versions import sizes_by_version

__all__ = ["Hunt", "HuntLimits"]

_JOURNAL = "journal.jsonl"
_SHARE_OF_EXAMINING = 0.5
_FAILURES_OF_A_DECISION = 5
"""Number of consecutive dropped candidates after which a decision is abandoned."""
_FINDINGS_OF_A_DECISION = 3
"""Maximum number of findings for one decision."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A dropped candidate: the step that dropped it, and the reason."""

    step: str
    reason: str
    text: str = ""
    """The reduced function, if there is one."""
    decision: str = ""
    """The smallest decision that shows the gap, if it is needed."""

    def row(self) -> dict[str, str]:
        """Return the fields for the candidate's row in the journal."""
        fields = {"step": self.step, "text": self.text, "as": self.decision}
        return {"dropped": self.reason} | {key: text for key, text in fields.items() if text}


@dataclass(frozen=True, slots=True)
class HuntLimits:
    """Limits of a hunt."""

    least_instructions: int = 4
    most_instructions: int = 300
    functions: int = 16
    """Maximum number of new functions to examine in one program, so all packages are covered."""
    lines: int = 30
    """Maximum number of lines of IR in a finding."""
    packages: int = 3
    """Minimum number of packages with the pattern; all packages if there are fewer."""
    reduce_seconds: float = 90.0
    examine_seconds: float = 30.0


class Hunt:
    """One hunt in one folder; a later hunt in the same folder continues it.

    Args:
        where: A dataset, or a path for `programs_in`.
        output: The folder.
        goal: The cost to minimise: a value of `HuntGoal`.
        says: Receives progress messages, one line at a time.
        is_interrupted: Returns True to stop after the current step.
    """

    def __init__(
        self,
        where: str,
        output: Path,
        *,
        goal: str = "size",
        limits: HuntLimits = HuntLimits(),
        says: Callable[[str], None] = lambda line: None,
        is_interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.output = output
        self._where, self._goal, self._limits = where, HuntGoal(goal), limits
        self._says, self._is_interrupted = says, is_interrupted
        self._rows: list[dict[str, Any]] = []
        self._least_packages = limits.packages

    def run(self, *, seconds: float) -> dict[str, Any]:
        """Hunt for `seconds`, write the findings, and return them as a document of plain values.

        Raises `CacheError` if the folder cannot be used, `BenchmarkNotFoundError` if there are no
        programs, `BenchmarkInitError` if none can be read or clang is missing, and
        `EnvironmentNotSupported` without ``llvm-reduce``.
        """
        # Every proof links a program, and every finding is reduced.
        clang_command()
        require_tool("llvm-reduce", "to reduce findings")
        programs = programs_in(self._where)
        packages = len({program.package for program in programs})
        self._least_packages = min(self._limits.packages, packages)
        with writing(self.output, CacheError):
            self.output.mkdir(parents=True, exist_ok=True)
        lock = FolderLock.take(self.output)
        try:
            self._open()
            started = time.monotonic()
            with Engine() as engine:
                self._examine(engine, programs, started + _SHARE_OF_EXAMINING * seconds)
                self._follow(engine, started + seconds)
            self._require_readable()
            return self.write(programs=len(programs))
        finally:
            lock.release()

    def compare_versions(self, *, seconds: float) -> dict[str, Any]:
        """Compile every program with each installed version; return the functions that grew.

        Writes ``grown.json`` and ``grown.jsonl``; a later call continues from these. Raises like
        `run`, and `EnvironmentNotSupported` without two versions.
        """
        programs = programs_in(self._where)
        with writing(self.output, CacheError):
            self.output.mkdir(parents=True, exist_ok=True)
        lock = FolderLock.take(self.output)
        try:
            with Engine() as engine:
                document = find_grown(
                    programs, engine, self.output, deadline=time.monotonic() + seconds,
                    says=self._says, is_interrupted=self._is_interrupted,
                )  # fmt: skip
                return document | {"where": _choose_name(self._where)}
        finally:
            lock.release()

    def write(self, *, programs: int) -> dict[str, Any]:
        """Write findings and report from the journal, and return them as a document."""
        counted = [self._count_occurrences(row) for row in self._read_stage("finding")]
        findings = [row for row in counted if row["packages"] >= self._least_packages]
        findings.sort(key=lambda row: (-row["packages"], -row["functions"], row["key"]))
        document = {
            "where": _choose_name(self._where),
            "goal": self._goal.value,
            "unit": self._goal.unit,
            "level": self._goal.level,
            "figures": self._figures(programs, len(findings)),
            "findings": findings,
        }
        write_findings(self.output, document)
        return document

    def _require_readable(self) -> None:
        """Raise `BenchmarkInitError` with the first reason if no program could be read.

        Deletes the journal, so that the same command tries again.
        """
        reasons = [row.get("dropped") for row in self._read_stage("program")]
        if reasons and all(reasons):
            (self.output / _JOURNAL).unlink()
            raise BenchmarkInitError(
                f"cannot read any of the {len(reasons)} programs tried in {self._where}; the first "
                f"failure: {reasons[0]}"
            )

    # The journal.

    def _open(self) -> None:
        path = self.output / _JOURNAL
        head = {"stage": "hunt", "where": str(self._where), "goal": self._goal.value}
        try:
            drop_cut_line(path)
            self._rows = list(lines(path))
        except (OSError, ValueError) as error:
            raise CacheError(f"{error}; remove that line, or use another folder") from error
        if not self._rows:
            self._append(head)
        elif self._rows[0] != head:
            raise CacheError(
                f"{self.output} contains a hunt in {self._rows[0].get('where')} for "
                f"{self._rows[0].get('goal')}, not in {self._where} for {self._goal.value}; use "
                "another folder"
            )

    def _append(self, row: dict[str, Any]) -> None:
        try:
            append_line(self.output / _JOURNAL, row, sync=False)
        except OSError as error:
            raise CacheError(f"cannot write {self.output}: {error.strerror}") from error
        self._rows.append(row)

    def _note(self, stage: str, **facts: Any) -> None:
        self._append({"stage": stage, **facts})

    def _read_stage(self, stage: str) -> Iterator[dict[str, Any]]:
        return (row for row in self._rows if row["stage"] == stage)

    # Functions.

    def _examine(self, engine: Engine, programs: list[HuntedProgram], deadline: float) -> None:
        done = {row["program"] for row in self._read_stage("program")}
        shapes = {shape for row in self._read_stage("program") for shape in row.get("shapes", ())}
        for number, program in enumerate(programs):
            if self._is_interrupted() or time.monotonic() > deadline:
                return
            if program.name not in done:
                self._says(f"examining {number + 1} of {len(programs)}: {program.package}")
                self._examine_program(engine, program, shapes, deadline)

    def _examine_program(
        self, engine: Engine, program: HuntedProgram, shapes: set[int], deadline: float
    ) -> None:
        """Examine each function; an unfinished program has no row and is examined again later."""
        base: dict[str, Any] = {"program": program.name, "package": program.package}
        started = time.monotonic()
        limits = self._limits
        try:
            contents = program.read()
        except CompilerGymError as error:
            self._note("program", **base, dropped=f"does not build: {str(error)[:200]}")
            return
        sizes = (limits.least_instructions, limits.most_instructions)
        answer = engine.ask("list_functions", contents, *sizes, seconds=120.0)
        if answer.failure:
            self._note("program", **base, dropped=answer.failure)
            return
        new: list[int] = []
        counts: Counter[str] = Counter()
        keys = {row["key"] for row in self._read_stage("gap")}
        # Sort by hash, so that the limit skips functions at random.
        for name, bitcode, shape, instructions in sorted(answer.value, key=lambda item: item[2]):
            if self._is_interrupted() or time.monotonic() > deadline:
                shapes.difference_update(new)
                return
            counts["functions"] += 1
            if shape in shapes:
                counts["duplicates"] += 1
                continue
            if len(new) >= limits.functions:
                counts["left out"] += 1
                continue
            shapes.add(shape)
            new.append(shape)
            result = engine.ask(
                "examine", bitcode, self._goal.value, seconds=limits.examine_seconds
            )
            counts["examined"] += 1
            if result.failure:
                counts[f"failed: {result.failure[:60]}"] += 1
            elif result.value["gaps"]:
                counts["gaps"] += 1
                key = f"{shape & (1 << 64) - 1:016x}"
                if key in keys:
                    continue
                write_whole(self.output / "functions" / f"{key}.bc", bitcode)
                self._note(
                    "gap", key=key, function=name, instructions=instructions, **base, **result.value
                )
        self._note("program", **base, shapes=new, counts=counts, seconds=time.monotonic() - started)

    # Candidates.

    def _follow(self, engine: Engine, deadline: float) -> None:
        while not self._is_interrupted() and time.monotonic() < deadline:
            candidate = self._next_candidate()
            if candidate is None:
                return
            gap, decision = candidate
            self._says(f"reducing {gap['function']} ({gap['package']}): {decision}")
            result = self._reduce(engine, gap, decision, deadline)
            facts = {"key": gap["key"], "decision": decision, "package": gap["package"]}
            if isinstance(result, Dropped):
                self._note("candidate", **facts, **result.row())
            else:
                self._note("candidate", **facts)
                self._note(
                    "finding", **(result | {"key": gap["key"], "program": gap["program"]}),
                    package=gap["package"], function=gap["function"],
                )  # fmt: skip

    def _next_candidate(self) -> tuple[dict[str, Any], str] | None:
        """Return the smallest function that no finding explains, and its decision.

        The same instructions must be removed in enough packages.
        """
        tried: dict[str, list[str]] = {}
        for row in self._read_stage("candidate"):
            tried.setdefault(row["decision"], []).append(row.get("dropped", ""))
        done = {(row["key"], row["decision"]) for row in self._read_stage("candidate")}
        findings = list(self._read_stage("finding"))
        groups: dict[str, list[dict[str, Any]]] = {}
        for gap in self._read_stage("gap"):
            for row in gap["gaps"]:
                groups.setdefault(row["decision"], []).append(gap | {"removed": {*row["removed"]}})
        best: tuple[tuple[Any, ...], dict[str, Any], str] | None = None
        for decision, gaps in groups.items():
            past = tried.get(decision, [])
            if past.count("") >= _FINDINGS_OF_A_DECISION or (
                len(past) >= _FAILURES_OF_A_DECISION and all(past[-_FAILURES_OF_A_DECISION:])
            ):
                continue
            for gap in sorted(gaps, key=lambda gap: (gap["instructions"], gap["key"])):
                if (gap["key"], decision) in done or any(
                    _explains(finding, {"decision": decision, "removed": gap["removed"]})
                    for finding in findings
                ):
                    continue
                packages = len({g["package"] for g in gaps if gap["removed"] <= g["removed"]})
                if packages >= self._least_packages and gap["removed"]:
                    order = (gap["instructions"], past.count(""), " | " in decision, -packages)
                    if best is None or order < best[0]:
                        best = order, gap, decision
                    break
        return None if best is None else best[1:]

    def _reduce(
        self, engine: Engine, gap: dict[str, Any], decision: str, deadline: float
    ) -> dict[str, Any] | Dropped:
        """Reduce and prove a candidate; return the facts of the finding, or `Dropped`."""
        goal = self._goal.value
        function = (self.output / "functions" / f"{gap['key']}.bc").read_bytes()
        answer = engine.ask("attribute_decision", function, decision, goal)
        if answer.failure:
            return Dropped("attribute", answer.failure)
        smallest: str = answer.value
        least = self._least(gap["base"])
        original = engine.ask("prepare_for_reduction", function).value or ""

        def is_interesting(data: bytes) -> bool:
            return bool(engine.ask("is_interesting", data, smallest, goal, least).value)

        if not is_interesting(original.encode()):
            return Dropped("cut out", "the function alone does not show the gap")
        # Remove attributes first, so that they need not be tested one by one.
        plain = engine.ask("finish", original.encode(), smallest, goal, least, seconds=60.0)
        seconds = max(min(self._limits.reduce_seconds, deadline - time.monotonic()), 10.0)
        reduced = reduce_ir(plain.value or original, is_interesting, seconds=seconds)
        facts: dict[str, Any] = {"decision": smallest, "seen_as": [decision, smallest]}
        facts |= {"tests": reduced.tests, "is_reduction_finished": reduced.is_finished}
        dropped = Dropped("reduce", "nothing remains")
        # The smallest function may not be executable with any input; then try earlier ones.
        for back in (1, 2, 4, 8, 16, 32):
            if back > len(reduced.texts):
                break
            text = reduced.texts[-back].encode()
            answer = engine.ask("finish", text, smallest, goal, least, seconds=60.0)
            short = answer.value or reduced.texts[-back]
            size = len(short.splitlines())
            if size > self._limits.lines:
                limit = "" if reduced.is_finished else f" within {seconds:.0f} s"
                too_long = Dropped("reduce", f"{size} lines of IR remain{limit}")
                return too_long if back == 1 else dropped
            proof = prove_finding(engine, short, smallest, goal)
            if proof.kind:
                return self._judge(engine, facts | {"text": short, "proof": asdict(proof)})
            if back == 1:
                dropped = Dropped("prove", proof.reason, short)
        return dropped

    def _judge(self, engine: Engine, facts: dict[str, Any]) -> dict[str, Any] | Dropped:
        """Return the facts of a reduced function with counts and versions, or `Dropped`."""
        goal, text, decision = self._goal.value, facts["text"], facts["decision"]
        answer = engine.ask("facts", text.encode(), decision, goal)
        if answer.failure:
            return Dropped("count", answer.failure)
        facts |= answer.value
        facts["shape"] = f"{facts['shape'] & (1 << 64) - 1:016x}"
        counted = self._count_occurrences(facts)
        if counted["packages"] < self._least_packages:
            reason = f"the pattern occurs in only {counted['packages']} packages"
            return Dropped("count", reason, text, decision)
        if twin := self._twin(engine, facts):
            return Dropped("compare", f"duplicate of {twin}")
        facts["versions"] = [asdict(row) for row in sizes_by_version(engine, text, decision, goal)]
        if facts["versions"]:
            newest = facts["versions"][-1]
            if newest["failure"] or newest["decided"] >= newest["level"]:
                reason = newest["failure"] or "LLVM's own tools do not show the gap"
                return Dropped("versions", reason, text)
        return facts

    def _twin(self, engine: Engine, facts: dict[str, Any]) -> str:
        """Return the key of an equivalent finding, or an empty string.

        Equivalent findings have equal shapes or removals, or decisions that replace each other.
        """
        for other in self._read_stage("finding"):
            if other["shape"] == facts["shape"] or (
                other["removed"] == facts["removed"] and facts["removed"]
            ):
                return str(other["key"])
            both, goal = [facts["decision"], other["decision"]], self._goal.value
            if both[0] == both[1]:
                continue
            first = engine.ask("compare_decisions", facts["text"].encode(), both, goal).value
            second = engine.ask("compare_decisions", other["text"].encode(), both, goal).value
            if first and second and first[1] >= first[0] > 0 and second[0] >= second[1] > 0:
                return str(other["key"])
        return ""

    def _least(self, base: float) -> float:
        return self._goal.least * (base if self._goal is HuntGoal.CYCLES else 1)

    # Figures.

    def _count_occurrences(self, finding: dict[str, Any]) -> dict[str, Any]:
        """Return a finding with the occurrences of its pattern among the examined functions."""
        saved, packages = 0.0, set[str]()
        functions = 0
        for gap in self._read_stage("gap"):
            matching = [row for row in gap["gaps"] if _explains(finding, row)]
            if matching:
                functions += 1
                packages.add(gap["package"])
                saved += gap["base"] - min(row["cost"] for row in matching)
        return finding | {
            "functions": functions,
            "packages": len(packages),
            "package_names": sorted(packages),
            "saved": saved,
        }

    def _figures(self, programs: int, findings: int) -> dict[str, Any]:
        counts: Counter[str] = Counter()
        for row in self._read_stage("program"):
            counts.update(row.get("counts", {}))
            counts["programs"] += 1
            counts["unreadable"] += "dropped" in row
        dropped: dict[str, Counter[str]] = {}
        for row in self._read_stage("candidate"):
            counts["candidates"] += 1
            if row.get("dropped"):
                dropped.setdefault(row["step"], Counter())[_without_numbers(row["dropped"])] += 1
        timed = [row for row in self._read_stage("program") if "seconds" in row]
        seconds = sum(row["seconds"] for row in timed)
        in_time = sum(row["counts"].get("examined", 0) for row in timed)
        return {
            "programs": programs,
            "programs_examined": counts["programs"],
            "programs_unreadable": counts["unreadable"],
            "functions": counts["functions"],
            "duplicates": counts["duplicates"],
            "left_out": counts["left out"],
            "examined": counts["examined"],
            "functions_an_hour": round(in_time / seconds * 3600) if seconds else 0,
            "failed": {k: n for k, n in counts.items() if k.startswith("failed")},
            "with_gap": counts["gaps"],
            "candidates": counts["candidates"],
            "dropped": dropped,
            "findings": findings,
        }


def _explains(finding: dict[str, Any], gap: dict[str, Any]) -> bool:
    """Return whether a finding already explains a gap of a function."""
    removed = set(finding["removed"])
    return (
        gap["decision"] in finding["seen_as"] and removed != set() and removed <= {*gap["removed"]}
    )


def _without_numbers(reason: str) -> str:
    """Return a reason with numbers replaced, to count similar ones together."""
    return "".join("N" if letter.isdigit() else letter for letter in reason)[:80]


def _choose_name(where: str) -> str:
    """Return a name for the programs in `where`, which may be ``.``."""
    return Path(where).name or Path(where).resolve().name
