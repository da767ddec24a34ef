# SPDX-License-Identifier: MIT
"""One hunt: its steps, and the journal that it goes on from.

    journal.jsonl   one row for each program and each candidate, with what dropped it
    functions/      what of each program showed a gap, as bitcode
    findings/       a folder for each finding: the draft, and the programs of its two commands
    findings.json   figures and findings
    report.html     the same for readers

A program or a candidate has its row when it is done: a kill costs at most one of them.
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
from compiler_gym.tools.hunt.llvm.decisions import HuntGoal
from compiler_gym.tools.hunt.llvm.drafts import write_findings
from compiler_gym.tools.hunt.llvm.engine import Engine
from compiler_gym.tools.hunt.llvm.growing import find_grown
from compiler_gym.tools.hunt.llvm.proving import prove_finding
from compiler_gym.tools.hunt.llvm.reducing import reduce_ir
from compiler_gym.tools.hunt.llvm.sources import HuntedProgram, programs_in
from compiler_gym.tools.hunt.llvm.versions import sizes_by_version

__all__ = ["Hunt", "HuntLimits"]

_JOURNAL = "journal.jsonl"
_SHARE_OF_EXAMINING = 0.5
_FAILURES_OF_A_DECISION = 5
"""Candidates of one decision that may be dropped one after the other."""
_FINDINGS_OF_A_DECISION = 3
"""Patterns of one decision that are worth a report each."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is no finding: the step that dropped it, and why."""

    step: str
    reason: str
    text: str = ""
    """The reduced function, where there is one."""
    decision: str = ""
    """The smallest decision that shows the gap, where it was needed."""

    def row(self) -> dict[str, str]:
        """Return the fields of its row in the journal."""
        fields = {"step": self.step, "text": self.text, "as": self.decision}
        return {"dropped": self.reason} | {key: text for key, text in fields.items() if text}


@dataclass(frozen=True, slots=True)
class HuntLimits:
    """How far a hunt goes for each function."""

    least_instructions: int = 4
    most_instructions: int = 300
    functions: int = 16
    """New functions of one program that are examined, so that all packages have their turn."""
    lines: int = 30
    """Lines of IR that a finding may have."""
    packages: int = 3
    """Packages in which its pattern must be found: all of them, where there are fewer."""
    reduce_seconds: float = 90.0
    examine_seconds: float = 30.0


class Hunt:
    """One hunt in one folder. A later one in the same folder goes on where it ended.

    Args:
        where: A dataset, or a path that `programs_in` takes.
        output: The folder.
        goal: What is to be less: a value of `HuntGoal`.
        says: Is told how it goes, a line at a time.
        is_interrupted: Whether to end after the step that is being done.
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
        """Hunt for `seconds`, write what was found, and return it as plain values.

        Raises `CacheError` where the folder cannot be used, `BenchmarkNotFoundError` where there
        is no program, `BenchmarkInitError` where none can be read or clang is missing, and
        `EnvironmentNotSupported` without ``llvm-reduce``.
        """
        # Every proof links a program, and every finding is reduced.
        clang_command()
        require_tool("llvm-reduce", "to reduce what is found")
        programs = programs_in(self._where)
        there = len({program.package for program in programs})
        self._least_packages = min(self._limits.packages, there)
        with writing(self.output, CacheError):
            self.output.mkdir(parents=True, exist_ok=True)
        lock = FolderLock.take(self.output)
        try:
            self._open()
            begun = time.monotonic()
            with Engine() as engine:
                self._examine(engine, programs, begun + _SHARE_OF_EXAMINING * seconds)
                self._follow(engine, begun + seconds)
            self._require_readable()
            return self.write(programs=len(programs))
        finally:
            lock.release()

    def compare_versions(self, *, seconds: float) -> dict[str, Any]:
        """Compile every program with each installed version; return the functions that grew.

        Written to ``grown.json`` and ``grown.jsonl``, which a later call goes on from. Raises as
        `run` does, and `EnvironmentNotSupported` without two versions.
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
        """Write findings and report from the journal, and return them as plain values."""
        findings = [self._count_occurrences(row) for row in self._read_stage("finding")]
        kept = [one for one in findings if one["packages"] >= self._least_packages]
        kept.sort(key=lambda one: (-one["packages"], -one["functions"], one["key"]))
        document = {
            "where": _choose_name(self._where),
            "goal": self._goal.value,
            "unit": self._goal.unit,
            "level": self._goal.level,
            "figures": self._figures(programs, len(kept)),
            "findings": kept,
        }
        write_findings(self.output, document)
        return document

    def _require_readable(self) -> None:
        """Raise `BenchmarkInitError` where no program could be read, with the first reason.

        The journal is deleted, so that the same command tries them again.
        """
        dropped = [row.get("dropped") for row in self._read_stage("program")]
        if dropped and all(dropped):
            (self.output / _JOURNAL).unlink()
            raise BenchmarkInitError(
                f"none of the {len(dropped)} programs that were tried in {self._where} can be "
                f"read; the first one {dropped[0]}"
            )

    # The journal.

    def _open(self) -> None:
        path = self.output / _JOURNAL
        head = {"stage": "hunt", "where": str(self._where), "goal": self._goal.value}
        try:
            drop_cut_line(path)
            self._rows = list(lines(path))
        except (OSError, ValueError) as error:
            raise CacheError(f"{error}: remove that line, or name another folder") from error
        if not self._rows:
            self._append(head)
        elif self._rows[0] != head:
            raise CacheError(
                f"{self.output} holds a hunt of {self._rows[0].get('where')} for "
                f"{self._rows[0].get('goal')}: expected {self._where} for {self._goal.value}, or "
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
        """Examine each function; a program that is not finished has no row, and begins again."""
        said: dict[str, Any] = {"program": program.name, "package": program.package}
        begun = time.monotonic()
        limits = self._limits
        try:
            contents = program.read()
        except CompilerGymError as error:
            self._note("program", **said, dropped=f"does not build: {str(error)[:200]}")
            return
        sizes = (limits.least_instructions, limits.most_instructions)
        answer = engine.ask("list_functions", contents, *sizes, seconds=120.0)
        if answer.failure:
            self._note("program", **said, dropped=answer.failure)
            return
        new: list[int] = []
        counts: Counter[str] = Counter()
        known = {row["key"] for row in self._read_stage("gap")}
        # By a hash: which functions are left out says nothing of them.
        for name, bitcode, shape, instructions in sorted(answer.value, key=lambda one: one[2]):
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
            found = engine.ask(
                "examine", bitcode, self._goal.value, seconds=limits.examine_seconds
            )
            counts["examined"] += 1
            if found.failure:
                counts[f"failed: {found.failure[:60]}"] += 1
            elif found.value["gaps"]:
                counts["gaps"] += 1
                key = f"{shape & (1 << 64) - 1:016x}"
                if key in known:
                    continue
                write_whole(self.output / "functions" / f"{key}.bc", bitcode)
                self._note(
                    "gap", key=key, function=name, instructions=instructions, **said, **found.value
                )
        self._note("program", **said, shapes=new, counts=counts, seconds=time.monotonic() - begun)

    # Candidates.

    def _follow(self, engine: Engine, deadline: float) -> None:
        while not self._is_interrupted() and time.monotonic() < deadline:
            candidate = self._next_candidate()
            if candidate is None:
                return
            gap, decision = candidate
            self._says(f"reducing {gap['function']} ({gap['package']}): {decision}")
            result = self._reduce(engine, gap, decision, deadline)
            found = {"key": gap["key"], "decision": decision, "package": gap["package"]}
            if isinstance(result, Dropped):
                self._note("candidate", **found, **result.row())
            else:
                self._note("candidate", **found)
                self._note(
                    "finding", **(result | {"key": gap["key"], "program": gap["program"]}),
                    package=gap["package"], function=gap["function"],
                )  # fmt: skip

    def _next_candidate(self) -> tuple[dict[str, Any], str] | None:
        """Return the smallest function that no finding explains, and its decision.

        What is taken away from it must be taken away in enough packages already.
        """
        tried: dict[str, list[str]] = {}
        for row in self._read_stage("candidate"):
            tried.setdefault(row["decision"], []).append(row.get("dropped", ""))
        done = {(row["key"], row["decision"]) for row in self._read_stage("candidate")}
        findings = list(self._read_stage("finding"))
        found: dict[str, list[dict[str, Any]]] = {}
        for gap in self._read_stage("gap"):
            for one in gap["gaps"]:
                found.setdefault(one["decision"], []).append(gap | {"removed": {*one["removed"]}})
        best: tuple[tuple[Any, ...], dict[str, Any], str] | None = None
        for decision, gaps in found.items():
            past = tried.get(decision, [])
            if past.count("") >= _FINDINGS_OF_A_DECISION or (
                len(past) >= _FAILURES_OF_A_DECISION and all(past[-_FAILURES_OF_A_DECISION:])
            ):
                continue
            for gap in sorted(gaps, key=lambda gap: (gap["instructions"], gap["key"])):
                if (gap["key"], decision) in done or any(
                    _explains(one, {"decision": decision, "removed": gap["removed"]})
                    for one in findings
                ):
                    continue
                packages = len({one["package"] for one in gaps if gap["removed"] <= one["removed"]})
                if packages >= self._least_packages and gap["removed"]:
                    order = (gap["instructions"], past.count(""), " | " in decision, -packages)
                    if best is None or order < best[0]:
                        best = order, gap, decision
                    break
        return None if best is None else best[1:]

    def _reduce(
        self, engine: Engine, gap: dict[str, Any], decision: str, deadline: float
    ) -> dict[str, Any] | Dropped:
        """Reduce and prove a candidate; return the facts of the finding, or why it is dropped."""
        goal = self._goal.value
        function = (self.output / "functions" / f"{gap['key']}.bc").read_bytes()
        answer = engine.ask("attribute_decision", function, decision, goal)
        if answer.failure:
            return Dropped("attribute", answer.failure)
        smallest: str = answer.value
        least = self._least(gap["base"])
        whole = engine.ask("prepare_for_reduction", function).value or ""

        def is_interesting(data: bytes) -> bool:
            return bool(engine.ask("is_interesting", data, smallest, goal, least).value)

        if not is_interesting(whole.encode()):
            return Dropped("cut out", "alone, it does not show")
        # What is plain already needs no test of each attribute.
        plain = engine.ask("finish", whole.encode(), smallest, goal, least, seconds=60.0)
        seconds = max(min(self._limits.reduce_seconds, deadline - time.monotonic()), 10.0)
        reduced = reduce_ir(plain.value or whole, is_interesting, seconds=seconds)
        facts: dict[str, Any] = {"decision": smallest, "seen_as": [decision, smallest]}
        facts |= {"tests": reduced.tests, "is_reduction_finished": reduced.is_finished}
        dropped = Dropped("reduce", "nothing is left")
        # The smallest may be one that no input runs through: then an earlier one is looked at.
        for back in (1, 2, 4, 8, 16, 32):
            if back > len(reduced.texts):
                break
            text = reduced.texts[-back].encode()
            answer = engine.ask("finish", text, smallest, goal, least, seconds=60.0)
            short = answer.value or reduced.texts[-back]
            size = len(short.splitlines())
            if size > self._limits.lines:
                cut = "" if reduced.is_finished else f" within {seconds:.0f} s"
                said = Dropped("reduce", f"{size} lines of IR are left{cut}")
                return said if back == 1 else dropped
            proof = prove_finding(engine, short, smallest, goal)
            if proof.kind:
                return self._judge(engine, facts | {"text": short, "proof": asdict(proof)})
            if back == 1:
                dropped = Dropped("prove", proof.reason, short)
        return dropped

    def _judge(self, engine: Engine, facts: dict[str, Any]) -> dict[str, Any] | Dropped:
        """Return the facts of a reduced function with counts and versions, or why it is dropped."""
        goal, text, decision = self._goal.value, facts["text"], facts["decision"]
        answer = engine.ask("facts", text.encode(), decision, goal)
        if answer.failure:
            return Dropped("count", answer.failure)
        facts |= answer.value
        facts["shape"] = f"{facts['shape'] & (1 << 64) - 1:016x}"
        counted = self._count_occurrences(facts)
        if counted["packages"] < self._least_packages:
            said = f"its pattern is in {counted['packages']} packages"
            return Dropped("count", said, text, decision)
        if twin := self._twin(engine, facts):
            return Dropped("compare", f"shows what {twin} shows")
        facts["versions"] = [asdict(one) for one in sizes_by_version(engine, text, decision, goal)]
        if facts["versions"]:
            newest = facts["versions"][-1]
            if newest["failure"] or newest["decided"] >= newest["level"]:
                said = newest["failure"] or "LLVM's own tools do not show it"
                return Dropped("versions", said, text)
        return facts

    def _twin(self, engine: Engine, facts: dict[str, Any]) -> str:
        """Return the key of a finding that is the same; empty where there is none.

        Two are, if the same is gone, or if each one's decision does the other's work.
        """
        for other in self._read_stage("finding"):
            if other["shape"] == facts["shape"] or (
                other["removed"] == facts["removed"] and facts["removed"]
            ):
                return str(other["key"])
            both, goal = [facts["decision"], other["decision"]], self._goal.value
            if both[0] == both[1]:
                continue
            mine = engine.ask("compare_decisions", facts["text"].encode(), both, goal).value
            theirs = engine.ask("compare_decisions", other["text"].encode(), both, goal).value
            if mine and theirs and mine[1] >= mine[0] > 0 and theirs[0] >= theirs[1] > 0:
                return str(other["key"])
        return ""

    def _least(self, base: float) -> float:
        return self._goal.least * (base if self._goal is HuntGoal.CYCLES else 1)

    # Figures.

    def _count_occurrences(self, finding: dict[str, Any]) -> dict[str, Any]:
        """Return a finding with where its pattern occurs among the functions that were examined."""
        saved, packages = 0.0, set[str]()
        functions = 0
        for gap in self._read_stage("gap"):
            matching = [one for one in gap["gaps"] if _explains(finding, one)]
            if matching:
                functions += 1
                packages.add(gap["package"])
                saved += gap["base"] - min(one["cost"] for one in matching)
        return finding | {
            "functions": functions,
            "packages": len(packages),
            "package_names": sorted(packages),
            "saved": saved,
        }

    def _figures(self, programs: int, kept: int) -> dict[str, Any]:
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
            "findings": kept,
        }


def _explains(finding: dict[str, Any], gap: dict[str, Any]) -> bool:
    """Return whether a gap of a function is one that a finding shows already."""
    removed = set(finding["removed"])
    return (
        gap["decision"] in finding["seen_as"] and removed != set() and removed <= {*gap["removed"]}
    )


def _without_numbers(reason: str) -> str:
    """Return a reason without its numbers, to count it."""
    return "".join("N" if letter.isdigit() else letter for letter in reason)[:80]


def _choose_name(where: str) -> str:
    """Return what a report calls the programs in `where`, which may be the folder itself."""
    return Path(where).name or Path(where).resolve().name
