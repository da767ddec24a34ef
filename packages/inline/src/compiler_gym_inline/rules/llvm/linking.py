# SPDX-License-Identifier: MIT
"""Link programs with a rule, measure and run them, and find the decision that breaks one.

Links run in the sandbox, with a time limit: a rule decides inside the linker. All links use the
flags of ``--policy size`` and the size plug-in, so that they differ in the rule alone.
"""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import compiler_gym
from compiler_gym.builds import measure_sizes
from compiler_gym.datasets import RunCase, RunLimits, find_bundled_folder, make_run_spec
from compiler_gym.envs.llvm.toolchain import MAJOR, tool_name
from compiler_gym.errors import CompilerError, EnvironmentNotSupported, InvalidParameterError
from compiler_gym.files import cache_path, keep
from compiler_gym.sandbox import Sandbox, choose_tier, run_tool_boxed
from compiler_gym.tools.tune import BinaryPlan, policy_named
from compiler_gym.tools.tune.llvm import (
    PLUGIN,
    QUIET,
    SETTINGS,
    LinkCommand,
    explain_problem,
    find_plugin,
    find_rewrite,
    frame_words,
    list_functions,
    plain_words,
    plugin_hash,
)
from compiler_gym.validation import choose_cases, run_program
from compiler_gym_inline.rules.llvm.rule import Rule

__all__ = ["Broken", "Judgement", "RuleBench"]

_REFUSED = b"compiler_gym_size: "
"""The beginning of the plug-in's messages about a rule that it cannot read."""
_FUNCTION = re.compile(r"function:? '?@?([\w.$]+)'?")
"""The function in the linker's report of a crash, or in that of LLVM's verifier."""
_COMPILING = ("-shared", "-fPIC", "-O1", "-std=c++20", "-fno-rtti", "-fno-exceptions", "-w")
_LLVM_HEADERS = f"/usr/lib/llvm-{MAJOR}/include"
_VERIFY = "-Wl,-mllvm,-verify-machineinstrs"
_MODULE_INLINER = "-Wl,-mllvm,-enable-module-inliner"
"""The only inliner of LLVM that asks for an order."""
_SMALL = ("minsize", "optsize")
_NO_CHOICE = "effort=0"
"""Without effort, a rule chooses settings, not the plug-in by measuring them."""
_CASES = 2
"""The number of inputs that a program is run on."""
_MOST_QUOTED = 500


class _LinkFailedError(CompilerError):
    """The linker failed or took too long."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A program that a rule breaks, and the first decision after which it is broken."""

    program: str
    symptom: str
    decision: str = ""
    """The kind of the decision and the function, as in ``inline of f in g``; empty if unknown."""
    limit: int = 0
    """The number of decisions after which the program is broken; 0 if unknown."""

    def __str__(self) -> str:
        where = f" after {self.decision}" if self.decision else ""
        again = (
            f"; the first {self.limit:,} decisions of the rule suffice, {self.limit - 1:,} do not"
            if self.limit
            else ""
        )
        return f"{self.program} is broken{where}: {self.symptom}{again}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The loaded bytes of each program with a rule, or a program that the rule breaks."""

    loaded: Mapping[str, int]
    broken: Broken | None = None

    @property
    def total(self) -> int:
        """The loaded bytes of all programs."""
        return sum(self.loaded.values())


class RuleBench:
    """Judges rules on bundled programs.

    Args:
        names: The names of bundled programs.
        folder: A folder for the linked programs.
        seconds: The time limit of one link.

    Raises:
        EnvironmentNotSupported: The size plug-in cannot be loaded here.
    """

    def __init__(self, names: Sequence[str], folder: Path, *, seconds: float = 120.0) -> None:
        if problem := explain_problem():
            raise EnvironmentNotSupported(f"rules need the size plug-in: {problem}")
        plugin = find_plugin()
        assert plugin is not None
        self.names = tuple(names)
        self.seconds = seconds
        self._folder = folder
        self._plugin = plugin
        self._plan = _read_plan()

    def judge(self, rule: Rule) -> Judgement:
        """Return the loaded bytes of every program with `rule`.

        Stops at the first program that the rule breaks. Results are cached on disk. Raises
        `InvalidParameterError` if the plug-in cannot read the rule.
        """
        loaded: dict[str, int] = {}
        for name in self.names:
            path = cache_path("rules") / f"{self._digest(name, rule)}"
            try:
                loaded[name] = int(json.loads(path.read_text()))
                continue
            except (OSError, ValueError):
                pass
            symptom = self._try_program(name, rule, None)
            if symptom:
                return Judgement(loaded, self._bisect(name, rule, symptom))
            loaded[name] = measure_sizes(self._output(name)).loaded
            keep(path, json.dumps(loaded[name]).encode())
        return Judgement(loaded)

    def run_more(self, rule: Rule, numbers: Sequence[int]) -> Broken | None:
        """Run every program on all its short inputs, and on new ones drawn with `numbers`.

        The expected output of new inputs is that of the program without a rule.
        """
        for name in self.names:
            spec = make_run_spec(name)
            further = [spec.more(number) for number in numbers] if spec.more else []
            plain, limits = self._link(name, Rule(), None), RunLimits(seconds=spec.time_limit)
            known = [
                replace(case, expected=run_program(plain, case, limits=limits).outcome)
                for case in further
            ]
            symptom = self._try_program(name, rule, None, [*choose_cases(spec), *known])
            if symptom:
                return self._bisect(name, rule, symptom)
        return None

    def _try_program(
        self, name: str, rule: Rule, limit: int | None, cases: Sequence[RunCase] | None = None
    ) -> str:
        """Link and run a program; return the symptom if it is broken, else an empty text."""
        try:
            program = self._link(name, rule, limit)
        except _LinkFailedError as error:
            return str(error)
        spec = make_run_spec(name)
        for case in choose_cases(spec, most=_CASES) if cases is None else cases:
            assert case.expected is not None
            report = run_program(program, case, limits=RunLimits(seconds=spec.time_limit))
            if differences := case.expected.differences(report.outcome):
                return f"on {case.name}, its output differs: {', '.join(differences)}"
        return ""

    def _link(self, name: str, rule: Rule, limit: int | None) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        module = self._folder / f"{name}.bc"
        if not module.exists():
            shutil.copyfile(find_bundled_folder() / name / f"{name}.bc", module)
        (self._folder / "stats").unlink(missing_ok=True)
        settings = [_NO_CHOICE, f"stats={self._folder / 'stats'}"]
        settings += [] if limit is None else [f"limit={limit}"]
        if rule.formulas:
            file = self._folder / "rule"
            file.write_text(rule.lines + "\n", encoding="utf-8")
            settings.append(f"decisions={file}")
        if rule.encoding:
            settings.append(f"encoding={self._compile(rule.encoding)}")
        words = plain_words(self._plan)
        words += [_VERIFY] if rule.encoding else []
        words += [_MODULE_INLINER] if "order" in rule.formulas else []
        functions = list(list_functions([module.read_bytes()]))
        attributes = self._folder / "attributes.csv"
        frames = frame_words(self._plan, functions, attributes)
        with attributes.open("a", errors="replace") as file:  # as clang -Oz marks them
            file.writelines(f"{name},{kind}\n" for name in functions for kind in _SMALL)
        output = self._output(name)
        link = make_run_spec(name).link
        words += [*frames, *QUIET, str(module), *link, "-o", str(output)]
        command = LinkCommand(tuple(words), {SETTINGS: ",".join(settings)}).list_words()
        command[0] = shutil.which(command[0]) or command[0]
        try:
            result = run_tool_boxed(
                command, folder=self._folder, seconds=self.seconds, visible=[self._plugin]
            )
        except subprocess.TimeoutExpired:
            raise _LinkFailedError(f"its link takes more than {self.seconds:g} s") from None
        if result.returncode == 0:
            return output
        lines = result.stderr.splitlines()
        if refusal := next((line for line in lines if line.startswith(_REFUSED)), None):
            raise InvalidParameterError(refusal.removeprefix(_REFUSED).decode(errors="replace"))
        text = result.stderr.decode(errors="replace").strip()
        function = _FUNCTION.search(text)
        place = f" in the function {function[1]}" if function else ""
        raise _LinkFailedError(
            f"the linker failed with status {result.returncode}{place}: {text[:_MOST_QUOTED]}"
        )

    def _compile(self, source: str) -> Path:
        """Compile an encoding, once, and return the shared object."""
        name = hashlib.sha256(source.encode()).hexdigest()
        library = self._folder / f"{name}.so"
        if library.exists():
            return library
        if choose_tier() is Sandbox.NONE:
            raise InvalidParameterError("an encoding is native code, which needs a sandbox")
        (self._folder / f"{name}.cpp").write_text(source, encoding="utf-8")
        headers = _find_headers()
        command = [shutil.which(tool_name("clang++")) or tool_name("clang++"), *_COMPILING]
        command += [f"-I{headers}", f"-isystem{_LLVM_HEADERS}", f"{name}.cpp", "-o", str(library)]
        try:
            result = run_tool_boxed(
                command, folder=self._folder, seconds=self.seconds, visible=[headers]
            )
        except subprocess.TimeoutExpired:
            raise InvalidParameterError(
                f"compiling the encoding takes more than {self.seconds:g} s; simplify it"
            ) from None
        if result.returncode:
            text = result.stderr.decode(errors="replace").strip()[: 2 * _MOST_QUOTED]
            raise InvalidParameterError(f"the encoding does not compile:\n{text}")
        return library

    def _bisect(self, name: str, rule: Rule, symptom: str) -> Broken:
        """Find the first decision of `rule` after which the program is broken."""
        if "takes more than" in symptom:  # each try would take as long
            return Broken(name, symptom)
        if plain := self._try_program(name, Rule(), None):
            raise CompilerError(f"{name} is broken without any rule: {plain}")
        symptoms: list[str] = []

        def is_broken(limit: int) -> bool:
            symptoms.append(self._try_program(name, rule, limit))
            return bool(symptoms[-1])

        if is_broken(0):  # it does not depend on decisions
            return Broken(name, symptom)
        number, decision = find_rewrite(is_broken, self._folder / "stats")
        if not symptoms[-1]:  # it is not broken any more
            return Broken(name, symptom)
        return Broken(name, symptoms[-1], decision, number)

    def _output(self, name: str) -> Path:
        return self._folder / f"{name}.linked"

    def _digest(self, name: str, rule: Rule) -> str:
        module = find_bundled_folder() / name / f"{name}.bc"
        digest = hashlib.sha256(module.read_bytes())
        link = (*plain_words(self._plan), *make_run_spec(name).link, _NO_CHOICE, *_SMALL)
        for part in (*link, _MODULE_INLINER, plugin_hash(), rule.text):
            digest.update(part.encode() + b"\0")
        return digest.hexdigest()


def _find_headers() -> Path:
    """Return the folder of the plug-in's headers, in an installation or in a checkout."""
    folders = [Path(folder) for folder in compiler_gym.__path__]
    places = [*(f / "linker" for f in folders), *(f.parents[1] / "native/linker" for f in folders)]
    for place in places:
        if (place / "encodings" / "site.h").is_file():
            return place
    raise EnvironmentNotSupported("the headers of the size plug-in are missing; reinstall it")


def _read_plan() -> BinaryPlan:
    """Return the plan of ``--policy size`` with frame pointers, and with the plug-in."""
    return replace(policy_named("size").plan, plugin=(PLUGIN,))
