# SPDX-License-Identifier: MIT
"""Tune a project: copy and record its build, then tune, prove, confirm and explain each binary.

Decisions with which a test fails are reverted. At the end, the results are handed over.
"""

import math
import platform
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.runs import FolderLock
from compiler_gym.tools.tune.builds import Binary, Recording
from compiler_gym.tools.tune.confirming import confirm_result
from compiler_gym.tools.tune.difference import read_tuned
from compiler_gym.tools.tune.explaining import explain_result
from compiler_gym.tools.tune.goal import Goal, sizes_by_measure
from compiler_gym.tools.tune.handing_over import HandOver, Result
from compiler_gym.tools.tune.plan import BinaryPlan, BuildPlan
from compiler_gym.tools.tune.project import ProjectCopy, TuningWatcher
from compiler_gym.tools.tune.proving import Proof
from compiler_gym.tools.tune.rebuilding import find_rebuild
from compiler_gym.tools.tune.recipes import TuningRecipe, list_shipped_recipes, recipe_for
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.runs import RunCommand, put
from compiler_gym.tools.tune.size_search import Allowance
from compiler_gym.tools.tune.timetable import Phase, Timetable
from compiler_gym.tools.tune.tuner import Tuner, TuningSubject

_NOT_RUN = (126, 127)
"""The exit statuses of a shell that cannot run or find a program."""
_SIGNALLED = 128
"""A shell adds this to the number of the signal that terminated a program."""


@dataclass(frozen=True, slots=True)
class Starts:
    """The decisions to build with or to start from, besides the compiler's own."""

    request: Request
    tuner: Tuner
    recipe: TuningRecipe | None
    """The recipe to build with, instead of searching."""
    before: BuildPlan | None
    """The plan of an older tuning to start from."""

    @classmethod
    def of(cls, request: Request, tuner: Tuner) -> "Starts":
        """Read what the request names; raise `ProjectError` if it does not fit."""
        recipe = _find_recipe(request, tuner) if request.recipe else None
        before = None if request.start is None else _read_start(request.start, request, tuner)
        return cls(request, tuner, recipe, before)

    def start(self, name: str) -> BinaryPlan | None:
        """Return the decisions to start from: those of the given plan, or else of the recipe.

        Raises `ProjectError` if the plan has none for the file `name`.
        """
        if self.before is None:
            recipe = recipe_for(self.request.goal, self.tuner.version)
            return None if recipe is None else recipe.plan_for(name)
        plan = self.before.binary(name)
        if plan is None:
            names = ", ".join(binary.name for binary in self.before.binaries)
            raise ProjectError(
                f"{self.request.start} has no plan for {name}, only for {names}: omit --from"
            )
        return plan


class TuningJob:
    """A tuning of one project."""

    def __init__(
        self,
        request: Request,
        tuner: Tuner,
        watcher: TuningWatcher | None = None,
        *,
        is_interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.request = request
        self._tuner = tuner
        self._watcher = watcher or TuningWatcher()
        self._is_interrupted = is_interrupted
        self._timetable = Timetable(request)
        self._project = ProjectCopy(request, tuner, self._watcher, is_interrupted)
        self.results: list[Result] = []
        self.rebuild = ""
        """A tested shell command that runs the project's build with the plan; empty if none."""

    @property
    def others(self) -> list[str]:
        """Linked files of the build that were not tuned."""
        return self._project.others

    def run(self) -> list[Result]:
        """Run all steps, write the results and return them."""
        project, request = self._project, self.request
        timetable = self._timetable
        _ = self._tuner.compilers  # a missing compiler is an error before anything is written
        is_new = not request.output.exists()
        starts = project.prepare(lambda: Starts.of(request, self._tuner))
        lock = FolderLock.take(request.output)
        try:
            with timetable.measure(Phase.BUILD):
                project.copy(is_new=is_new)
                recording = project.record()
                binaries = project.choose(recording)
            with timetable.measure(Phase.TEST):
                project.require_well(recording)
            for number, binary in enumerate(binaries):
                allowance = self._allowance(len(binaries), left=len(binaries) - number)
                subject = self._describe(binary, recording, starts, allowance)
                self.results.append(self._tune(subject, recording, starts))
            with timetable.measure(Phase.WRITE):
                hand_over = HandOver(request, self._tuner, self._watcher.says)
                self.results = hand_over.write(self.results)
            with timetable.measure(Phase.REBUILD):
                self._find_rebuild()
            project.tell_what_changed()
            if excess := timetable.explain_excess():
                self._note(excess)
            return self.results
        finally:
            lock.release()

    def _find_rebuild(self) -> None:
        if self._is_interrupted():
            return
        project = self._project

        def poll() -> None:
            project.stop()
            if self._timetable.seconds_left <= 0:
                raise KeyboardInterrupt

        self._watcher.says(Phase.REBUILD)
        folder, wrap = project.work / "rebuild", project.protection.wrap
        self.rebuild = find_rebuild(self.request, self.results, folder, poll=poll, wrap=wrap)
        if not self.rebuild and self._timetable.seconds_left <= 0:
            self._note(f"no time was left for {Phase.REBUILD}: use reproduce.sh")

    def _note(self, text: str) -> None:
        """Add a remark for the user to the last result."""
        self.results[-1] = self.results[-1].with_note(text)

    def _describe(
        self, binary: Binary, recording: Recording, starts: Starts, allowance: Allowance
    ) -> TuningSubject:
        """Return `binary` as a subject of tuning."""
        request = self.request
        original = self._project.keep_original(binary)
        with self._timetable.measure(Phase.RUN):
            run, train, confirm = (
                None if text is None else self._try_run(text, recording, binary, original)
                for text in (request.run, request.train, request.confirm)
            )
        return TuningSubject(
            binary,
            original.parent,
            request.goal,
            allowance,
            request.jobs or 1,
            request.seed,
            run=run,
            train=train,
            confirm=confirm,
            measure=request.measure,
            profile=None if request.profile is None else Path(request.profile).absolute(),
            max_slowdown=request.max_slowdown,
            is_tested=request.check is not None or run is not None,
            old_loaders=request.old_loaders,
            no_unwind_tables=request.no_unwind_tables,
            start=starts.start(binary.name),
            recipe=None if starts.recipe is None else starts.recipe.plan_for(binary.name),
            watch=lambda stage, best: self._watcher.tries(binary.name, stage, best, allowance),
            watch_rivals=lambda rivals: self._watcher.rivals(
                binary.name, {name: request.measure.of(path) for name, path in rivals.items()}
            ),
        )

    def _tune(self, subject: TuningSubject, recording: Recording, starts: Starts) -> Result:
        """Tune, prove, confirm and explain one binary."""
        project, binary, says = self._project, subject.binary, self._watcher.says
        original = project.keep_original(binary)
        timetable, allowance = self._timetable, subject.allowance
        allowance.reserved = timetable.predict_judging() + timetable.seconds_to_rebuild
        plan = timetable.describe_plan(allowance.seconds_to_end, allowance.reserved)
        says(f"tuning {binary.name}{plan}")
        with timetable.measure(Phase.SEARCH):
            found = self._tuner.tune(subject)
        check = None if self.request.check is None else project.check
        proof = Proof(self._tuner, subject, original, check, recording.tree, says)
        with timetable.measure(Phase.PROVE):
            found = confirm_result(proof.prove(found), subject, proof.is_well)
        says(f"{Phase.EXPLAIN} for {binary.name}")
        allowance.reserved = timetable.seconds_to_rebuild
        with timetable.measure(Phase.EXPLAIN):
            found = explain_result(found, self._tuner, subject)
        put(original, binary.path)
        builds = {**found.rivals, "tuned": found.path}
        measure = self.request.measure
        sizes = {name: sizes_by_measure(path, measure) for name, path in builds.items()}
        before = None if starts.before is None else subject.start
        kept = () if before is None else (_still_holds(before, found.plan),)
        notes = tuple(dict.fromkeys((*found.notes, *kept, *project.notes)))
        found = replace(found, plan=replace(found.plan, sizes=sizes), notes=notes)
        return Result(found, binary, sizes)

    def _allowance(self, count: int, *, left: int) -> Allowance:
        """Return the limits of the first of the `left` binaries, of `count`; its time starts."""
        compilations, timetable = self.request.compilations, self._timetable
        rebuilding = timetable.seconds_to_rebuild
        seconds = max((timetable.seconds_left - rebuilding) / left + rebuilding, 0.0)
        return Allowance(
            seconds=None if math.isinf(seconds) else seconds,
            compilations=None if compilations is None else compilations // count,
            is_stopped=self._is_interrupted,
        ).begin()

    def _try_run(
        self, text: str, recording: Recording, binary: Binary, original: Path
    ) -> RunCommand:
        """Return a command of the user, which must exit as it does with the project's own build.

        Raises `ProjectError` if it crashes, cannot be run, or exits with different statuses.
        """
        run = RunCommand(text, recording.tree, binary.path)
        self._watcher.says(f"running {run.text}")
        first, second = (run.run(original, log=self._project.work / "run.log") for _ in range(2))
        status = first.status
        if status < 0 or status in _NOT_RUN or 0 < status - _SIGNALLED < signal.SIGSYS:
            why = "the shell cannot run it" if status in _NOT_RUN else "a signal stopped it"
            raise ProjectError(
                f"the run exited with status {status} on the untuned build, because {why}: "
                f"{run.text}\n{first.tail}"
            )
        if status != second.status:
            raise ProjectError(
                f"the run exited with status {status} and then, on the same build, with "
                f"{second.status}: use a command with a constant exit status: {run.text}\n"
                f"{second.tail}"
            )
        if status:
            self._project.note(
                f"{run.text} exits with status {status} on the project's own build, so it must do "
                "the same on a tuned build; if this status is an error, correct the command"
            )
        if first.output != second.output:
            self._project.note(
                f"{run.text} prints different output each time, so its output is not compared"
            )
        return replace(run, expected=status)


def _find_recipe(request: Request, tuner: Tuner) -> TuningRecipe:
    """Return the recipe for the request; raise `ProjectError` if there is none."""
    recipe = recipe_for(request.goal, tuner.version)
    if recipe is None:
        recipes = [
            f"{r.name} is for {r.goal} with {r.compiler} on {r.known.machine}"
            for r in list_shipped_recipes()
        ]
        raise ProjectError(
            f"no recipe for the goal {request.goal} with {tuner.version} on "
            f"{platform.machine()}: {', '.join(recipes) or 'there are no recipes'}; omit "
            "--recipe to search for decisions"
        )
    return recipe


def _read_start(path: Path, request: Request, tuner: Tuner) -> BuildPlan:
    """Return the plan to start from; raise `ProjectError` if its compiler or goal differs."""
    plan = read_tuned(path)
    compiler, other = (text.partition(" ")[0] for text in (tuner.version, plan.compiler))
    if other != compiler or Goal(plan.goal) is not request.goal:
        raise ProjectError(
            f"{path} is a plan of {plan.compiler} for {plan.goal}, but this run uses "
            f"{tuner.version} for {request.goal}: omit --from"
        )
    return plan


def _still_holds(before: BinaryPlan, now: BinaryPlan) -> str:
    """Return a remark on the decisions of an older plan that the new one keeps."""
    old, new = before.decisions(), set(now.decisions())
    dropped = [name for name in old if name not in new]
    summary = f"kept {len(old) - len(dropped)} of {len(old)} decisions of the older plan"
    return f"{summary}; dropped: {', '.join(dropped)}" if dropped else summary
