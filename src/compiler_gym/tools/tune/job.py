# SPDX-License-Identifier: MIT
"""One tuning of one project, from its build to a folder that is handed over.

Record, test, tune each binary, test again and take back what fails, write. Everything happens
in the output folder; a tuning that was ended goes on from what is there.
"""

import json
import os
import platform
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.files import write_whole
from compiler_gym.runs import FolderLock
from compiler_gym.tools.tune.allowance import Allowance
from compiler_gym.tools.tune.builds import (
    Binary,
    Protection,
    Recording,
    configuring,
    copy_tree,
    digest_files,
    find_binaries,
    record_build,
)
from compiler_gym.tools.tune.comparing import compare_in_turns
from compiler_gym.tools.tune.confirming import confirm_result
from compiler_gym.tools.tune.difference import read_tuned
from compiler_gym.tools.tune.explaining import explain_result
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.handing_over import HandOver, Result, folder_name, name_builds
from compiler_gym.tools.tune.journal import JOURNAL, Tried
from compiler_gym.tools.tune.measure import sizes_by_measure
from compiler_gym.tools.tune.measuring import RunCommand, RunOutcome, put, run_check
from compiler_gym.tools.tune.plan import BinaryPlan, BuildPlan
from compiler_gym.tools.tune.proving import Proof
from compiler_gym.tools.tune.reading import is_plain
from compiler_gym.tools.tune.rebuilding import find_rebuild
from compiler_gym.tools.tune.recipes import TuningRecipe, list_shipped_recipes, recipe_for
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.tuner import Found, Tuner, TuningSubject

__all__ = ["TuningJob", "TuningWatcher"]

_MARKER = "tuning.json"
_ROUNDS = 10
"""How often two builds run in turns where decisions were taken back."""
_ORIGINAL, _PLACE = "original", "place"
"""In the folder of a binary: the binary as the project builds it, and its name there."""
_COPIED = "copied.json"
"""What every file of the project was when it was copied."""
_SHOWN = 3
_NOT_RUN = (126, 127)
"""The exit statuses of a shell that cannot run a program, or does not find it."""
_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a program."""
_TRIALS = {"CMakeFiles", "meson-private"}
"""Where CMake and Meson link programs to try a compiler with."""


class TuningWatcher:
    """Is told how it goes; does nothing unless overridden."""

    def says(self, text: str) -> None:
        """A step begins."""

    def builds(self, line: str) -> None:
        """The project's build printed a line."""

    def tries(self, binary: str, stage: str, best: Tried, allowance: Allowance) -> None:
        """The best so far of one binary."""

    def rivals(self, binary: str, sizes: Mapping[str, int]) -> None:
        """What others make of one binary, in bytes by the measure: the fair rival last."""


class TuningJob:
    """One tuning."""

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
        self._work = request.output / "work"
        self._recipe: TuningRecipe | None = None
        self._notes: list[str] = []
        """What the user should be told of the check and the run."""
        self.results: list[Result] = []
        self.rebuild = ""
        """The project's build with the plan, a shell command that was tried; empty for none."""
        self.others: list[str] = []
        """Linked files of the build that were not tuned."""

    def run(self) -> list[Result]:
        """Do everything and write it down; return what was found."""
        compilers = self._tuner.compilers
        is_new = not self.request.output.exists()
        self._prepare()
        lock = FolderLock.take(self.request.output)
        try:
            self._copy(is_new=is_new)
            recording = self._record(*compilers)
            chosen = self._choose(recording)
            self._require_well(recording)
            for binary in chosen:
                allowance = self._allowance(len(chosen))
                self.results.append(self._tune(binary, recording, allowance))
            self.results = HandOver(self.request, self._tuner, self._watcher.says).write(
                self.results
            )
            if not self._is_interrupted():
                self._watcher.says("building the project with the plan")
                self.rebuild = find_rebuild(
                    self.request, self.results, self._work / "rebuild",
                    poll=self._stop, wrap=self._protection.wrap,
                )  # fmt: skip
            self._tell_what_changed()
            return self.results
        finally:
            lock.release()

    def _prepare(self) -> None:
        request = self.request
        if not request.project.is_dir():
            raise ProjectError(f"expected the folder of a project, found none: {request.project}")
        marker = request.output / _MARKER
        if request.output.exists() and any(request.output.iterdir()):
            self._require_no_links()
            if not marker.is_file():
                raise ProjectError(
                    f"{request.output} holds other files: name an empty folder with --output"
                )
            is_built = (self._work / "record" / "done").is_file()
            if is_built and not request.resume:
                raise ProjectError(
                    f"{request.output} holds a tuning: go on with --resume, or name another "
                    "folder with --output"
                )
            if is_built:
                self._require_same(_read_marker(marker))
        elif request.resume:
            raise ProjectError(f"nothing to resume in {request.output}: leave --resume out")
        self._require_measurable()
        self._require_recipe()
        self._before = None if request.start is None else self._plan_before(request.start)
        try:
            self._work.mkdir(parents=True, exist_ok=True)
            write_whole(marker, (json.dumps(self._key(), indent=2) + "\n").encode())
        except OSError as error:
            raise ProjectError(f"cannot write to {request.output}: {error.strerror}") from error

    def _require_no_links(self) -> None:
        """Raise `ProjectError` where writing to the output folder would write elsewhere.

        The copy of the project has links of its own, which are replaced and never written through.
        """
        output = self.request.output.resolve()
        for folder, folders, files in os.walk(output):
            for path in (Path(folder, name) for name in (*folders, *files)):
                if path.is_symlink() and not path.resolve().is_relative_to(output):
                    raise ProjectError(
                        f"{path} is a symlink to {path.readlink()}, outside the output folder: "
                        "remove it, or name another folder with --output"
                    )
            if Path(folder) == output / "work" and "tree" in folders:
                folders.remove("tree")

    def _require_measurable(self) -> None:
        request = self.request
        if request.run is None and not request.goal.counts_bytes:
            raise ProjectError(
                "speed is measured, never guessed: expected a command that does the program's "
                "work, as in --run './bench input'"
            )
        for name in ("train", "profile"):
            if getattr(request, name) is not None and request.goal.counts_bytes:
                raise ProjectError(
                    f"a run is learnt from for --goal speed and both: leave --{name} out"
                )
        if request.max_slowdown is not None and request.goal is Goal.SPEED:
            raise ProjectError(
                "a slowdown is bounded for --goal size and both: leave --max-slowdown out"
            )
        if request.max_growth is not None and request.goal is not Goal.BOTH:
            raise ProjectError("growth is bounded for --goal both: leave --max-growth out")
        if request.profile is not None and not Path(request.profile).is_file():
            raise ProjectError(f"no profile at {request.profile}: expected a file")

    def _plan_before(self, path: Path) -> BuildPlan:
        """Return the plan to start from; raise `ProjectError` for one of another kind."""
        plan = read_tuned(path)
        ours, theirs = (text.partition(" ")[0] for text in (self._tuner.version, plan.compiler))
        if theirs != ours or Goal(plan.goal) is not self.request.goal:
            raise ProjectError(
                f"{path} is a plan of {plan.compiler} for {plan.goal}: expected one of "
                f"{self._tuner.version} for {self.request.goal}: leave --from out"
            )
        return plan

    def _start(self, name: str) -> BinaryPlan | None:
        """Return the decisions to start from: of the plan that was named, or those of the recipe.

        Raises `ProjectError` where the plan has none for the file `name`.
        """
        if self._before is None:
            known = recipe_for(self.request.goal, self._tuner.version)
            return None if known is None else known.plan_for(name)
        plan = self._before.binary(name)
        if plan is None:
            names = ", ".join(binary.name for binary in self._before.binaries)
            raise ProjectError(
                f"{self.request.start} has no plan for {name}, it is for {names}: leave --from out"
            )
        return plan

    def _require_recipe(self) -> None:
        """Find the recipe that is asked for; raise `ProjectError` where there is none."""
        if not self.request.recipe:
            return
        self._recipe = recipe_for(self.request.goal, self._tuner.version)
        if self._recipe is None:
            others = [f"{one.name} is for {one.goal} with {one.compiler} on {one.known.machine}"
                      for one in list_shipped_recipes()]  # fmt: skip
            raise ProjectError(
                f"no recipe is for the goal {self.request.goal} with {self._tuner.version} on "
                f"{platform.machine()}: {', '.join(others) or 'there is none'}; leave --recipe out "
                "and let a search look for decisions"
            )

    def _key(self) -> dict[str, object]:
        return {"compiler": self._tuner.version, **self.request.decides()}

    def _require_same(self, before: object) -> None:
        now = self._key()
        if not isinstance(before, dict):
            before = {}
        told: dict[str, object] = before  # pyright: ignore[reportUnknownVariableType]  # as JSON is
        other = [name for name in now if told.get(name) != now[name]]
        if other:
            raise ProjectError(
                f"{self.request.output} holds a tuning of another build or goal: "
                + "; ".join(f"{name} was {told.get(name)!r}, is {now[name]!r}" for name in other)
                + ": name another folder with --output"
            )

    def _copy(self, *, is_new: bool) -> None:
        """Copy the project, if it is not there or no longer the same; leave nothing on failure."""
        request, record = self.request, self._work / "record"
        leave_out = [request.output]
        self._protection = Protection.of(request.project, leave_out)
        copied = self._work / _COPIED
        if (record / "done").is_file():
            now = digest_files(request.project, leave_out=leave_out)
            changed = _differing(_read_copied(copied), now)
            if not changed:
                return
            self._note(
                f"{_join_names(changed)} changed since the project was copied: copying and "
                "building it again; results measured on the old code do not count"
            )
            self._forget()
        shutil.rmtree(record, ignore_errors=True)
        try:
            self._watcher.says("copying the project")
            self._copy_tree()
            digests = digest_files(request.project, leave_out=leave_out)
            write_whole(copied, json.dumps(digests).encode())
        except BaseException:
            if is_new:
                shutil.rmtree(request.output, ignore_errors=True)
            raise

    def _copy_tree(self) -> None:
        tree = self._work / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        copy_tree(self.request.project, tree, leave_out=[self.request.output])

    def _forget(self) -> None:
        """Delete what was made of other sources; journals know themselves what they are of."""
        for made in (self._work / "binaries").glob("*/*"):
            if made.name == JOURNAL:
                continue
            if made.is_dir():
                shutil.rmtree(made, ignore_errors=True)
            else:
                made.unlink()

    def _record(self, compiler: Sequence[str], cxx: Sequence[str]) -> Recording:
        tree, folder = self._work / "tree", self._work / "record"
        done = folder / "done"
        if done.is_file():
            self._put_back(tree)
            return Recording(folder, tree)
        self._watcher.says("building it")
        build = partial(
            record_build, tree, folder=folder, compiler=compiler, cxx_compiler=cxx,
            on_line=self._watcher.builds, poll=self._stop, wrap=self._protection.wrap,
        )  # fmt: skip
        try:
            recording = build(self.request.build)
        except ProjectError:
            first = configuring(self.request.project, tree)
            if not first:
                raise
            self._watcher.says(f"configuring the copy: {'; '.join(first)}")
            self._copy_tree()
            script = "".join(f"{command} || :\n" for command in first) + 'exec "$@"'
            recording = build(("/bin/sh", "-c", script, "sh", *self.request.build))
        self._tell_what_changed()
        done.touch()
        return recording

    def _stop(self) -> None:
        """End a command where the user wants to stop before anything can be handed over."""
        if self._is_interrupted():
            raise KeyboardInterrupt

    def _tell_what_changed(self) -> None:
        """Say what of the project itself is not what it was, if that can have been a command."""
        changed = self._protection.list_changed()
        if changed:
            self._note(
                f"{_join_names(changed)} in {self.request.project} itself changed meanwhile. If "
                "that was not you, a command of the build uses absolute paths, and the files it "
                "wrote there are not tuned"
            )

    def _put_back(self, tree: Path) -> None:
        """Put the project's own binaries where a run or a test was ended with others."""
        for kept in (self._work / "binaries").glob(f"*/{_PLACE}"):
            original = kept.with_name(_ORIGINAL)
            place = tree / kept.read_text()
            if not place.parent.resolve().is_relative_to(tree.resolve()):
                raise ProjectError(f"{kept} names a file outside {tree}: name another --output")
            if original.is_file():
                put(original, place)

    def _choose(self, recording: Recording) -> list[Binary]:
        linked = find_binaries(recording.events(), recording.tree)
        found = [binary for binary in linked if not Path(binary.name).is_absolute()]
        for binary in linked:
            if binary not in found:
                self._note(f"{binary.name} is linked outside the project, and not tuned")
        if not found:
            raise ProjectError(
                "the build linked nothing that was compiled with a C or C++ compiler from PATH, CC "
                f"or CXX ({sum(1 for _ in recording.events())} commands were seen): if it is built "
                "already, clean it; if it names a compiler by its whole path, let it use $CC for C "
                "and $CXX for C++"
            )
        found.sort(key=lambda binary: -measure_sizes(binary.path).text)
        if not self.request.binaries:
            own = [binary for binary in found if not _tries_a_compiler(binary)] or found
            programs = [binary for binary in own if not binary.is_shared] or own
            chosen = programs[:1]
        else:
            chosen = [_find_named(name, found) for name in self.request.binaries]
        for binary in chosen:
            for name in (binary.name, *map(binary.name_unit, binary.units)):
                if not is_plain(name):
                    raise ProjectError(
                        f"{name!a} cannot be named in a plan: expected a name in UTF-8 "
                        "without control characters: rename it"
                    )
        self.others = [
            binary.name
            for binary in found
            if binary not in chosen and not _tries_a_compiler(binary)
        ]
        return chosen

    def _require_well(self, recording: Recording) -> None:
        """Raise `ProjectError` where the tests fail, or answer differently, before anything."""
        check = self.request.check
        if check is None:
            return
        self._watcher.says("testing the build as it is")
        first = self._check(recording.tree, poll=self._stop)
        if first.status:
            raise ProjectError(
                f"the tests fail before anything was tuned, with status {first.status}: {check}\n"
                f"{first.tail}"
            )
        second = self._check(recording.tree, poll=self._stop)
        if second.status:
            self._note(
                "the tests fail now and then without any change: a failure counts when it is "
                "there twice"
            )

    def _check(self, tree: Path, *, poll: Callable[[], None] = lambda: None) -> RunOutcome:
        """Run the user's tests in `tree`; they may not change the project itself."""
        assert self.request.check is not None
        log, seconds = self._work / "check.log", self.request.check_seconds
        limit = {} if seconds is None else {"seconds": seconds}
        outcome = run_check(
            self.request.check, tree, log=log, poll=poll, wrap=self._protection.wrap, **limit
        )
        if not tree.is_dir() or not (self.request.output / _MARKER).is_file():
            raise ProjectError(
                f"{self.request.check} removed files of the tuning in {self.request.output}: tests "
                "run in a copy of the project there, so name a command that stays in its folder"
            )
        return outcome

    def _note(self, text: str) -> None:
        self._watcher.says(text)
        self._notes.append(text)

    def _allowance(self, count: int) -> Allowance:
        seconds, compilations = self.request.seconds_allowed, self.request.compilations
        return Allowance(
            seconds=None if seconds is None else seconds / count,
            compilations=None if compilations is None else compilations // count,
            is_stopped=self._is_interrupted,
        )

    def _tune(self, binary: Binary, recording: Recording, allowance: Allowance) -> Result:
        folder = self._work / "binaries" / folder_name(binary.name)
        folder.mkdir(parents=True, exist_ok=True)
        original = folder / _ORIGINAL
        if not original.exists():
            (folder / _PLACE).write_text(binary.name)
            partial = shutil.copy(binary.path, folder / f"{_ORIGINAL}.partial")
            Path(partial).replace(original)
        put(original, binary.path)
        request = self.request
        if not request.goal.counts_bytes:
            allowance.begin()  # runs are what takes the time
        run, train, confirm = (
            None
            if text is None
            else self._with_status(RunCommand(text, recording.tree, binary.path), original)
            for text in (request.run, request.train, request.confirm)
        )
        self._watcher.says(f"tuning {binary.name}")
        subject = TuningSubject(
            binary,
            folder,
            request.goal,
            allowance,
            request.jobs or 1,
            request.seed,
            run=run,
            train=train,
            measure=request.measure,
            profile=None if request.profile is None else Path(request.profile).absolute(),
            confirm=confirm,
            max_slowdown=request.max_slowdown,
            max_growth=request.max_growth,
            is_tested=request.check is not None or run is not None,
            old_loaders=request.old_loaders,
            no_unwind_tables=request.no_unwind_tables,
            start=self._start(binary.name),
            recipe=None if self._recipe is None else self._recipe.plan_for(binary.name),
            watch=lambda stage, best: self._watcher.tries(binary.name, stage, best, allowance),
            watch_rivals=lambda rivals: self._watcher.rivals(
                binary.name, {name: request.measure.of(path) for name, path in rivals.items()}
            ),
        )
        found = self._tuner.tune(subject)
        check = None if request.check is None else self._check
        proof = Proof(self._tuner, subject, original, check, recording.tree, self._watcher.says)
        found, taken_back = proof.proven(found)
        if taken_back and found.speed:
            found = self._fast_without(found, subject, proof)
        found = confirm_result(found, subject)
        if len(request.binaries) > 1:
            found = replace(found, front=name_builds(binary, found.front))
        self._watcher.says(f"measuring what each decision won for {binary.name}")
        found = explain_result(found, self._tuner, subject)
        put(original, binary.path)
        made = {**found.rivals, "tuned": found.path}
        sizes = {name: sizes_by_measure(path, request.measure) for name, path in made.items()}
        before = None if self._before is None else subject.start
        holds = () if before is None else (_still_holds(before, found.plan),)
        notes = tuple(dict.fromkeys((*found.notes, *holds, *self._notes)))
        found = replace(found, plan=replace(found.plan, sizes=sizes), notes=notes)
        return Result(found, binary, sizes, taken_back, found.speed)

    def _fast_without(self, found: Found, subject: TuningSubject, proof: Proof) -> Found:
        """Return `found`, less decisions that were taken back, if it is still faster.

        Otherwise it is the fair rival, where that passes the tests.
        """
        assert subject.run is not None
        name, fair = list(found.rivals.items())[-1]
        now, _ = compare_in_turns(subject.run, fair, found.path, _ROUNDS)
        speed = {"speedup": now.speedup, "low": now.low, "high": now.high}
        is_speed = subject.goal is Goal.SPEED and found.rival_plan is not None
        if not is_speed or now.low > 1 or found.path == fair or not proof.is_well(fair):
            return replace(found, speed=speed)
        note = f"what passes the tests is not faster than {name} for certain: the rival stays"
        return replace(
            found, plan=found.rival_plan or found.plan, path=fair, notes=(*found.notes, note),
            speed={"speedup": 1.0, "low": 1.0, "high": 1.0},
        )  # fmt: skip

    def _with_status(self, run: RunCommand, original: Path) -> RunCommand:
        """Return `run` with the exit status that it has with the project's own build.

        Raises `ProjectError` where it crashes, cannot be run, or ends in two ways.
        """
        self._watcher.says(f"running {run.text}")
        first, second = (run.run(original, log=self._work / "run.log") for _ in range(2))
        status = first.status
        if status < 0 or status in _NOT_RUN or 0 < status - _SIGNALLED < signal.SIGSYS:
            why = "the shell cannot run it" if status in _NOT_RUN else "a signal ended it"
            raise ProjectError(
                f"the run ended with status {status} before anything was tuned, because {why}: "
                f"{run.text}\n{first.tail}"
            )
        if status != second.status:
            raise ProjectError(
                f"the run ended with status {status} and then, with the same program, with "
                f"{second.status}: give a command that always ends in the same way: {run.text}\n"
                f"{second.tail}"
            )
        if status:
            self._note(
                f"{run.text} ends with status {status} when the project's own build runs it, and "
                "has to end with it when a tuned build does: if that is an error, correct the "
                "command"
            )
        if first.output != second.output:
            self._note(
                f"{run.text} prints something else each time, so what it prints is not compared"
            )
        return replace(run, expected=status)


def _tries_a_compiler(binary: Binary) -> bool:
    return not _TRIALS.isdisjoint(Path(binary.name).parts)


def _still_holds(before: BinaryPlan, now: BinaryPlan) -> str:
    """Return what of an older plan the new one has."""
    old, new = before.decisions(), set(now.decisions())
    gone = [name for name in old if name not in new]
    said = f"of {len(old)} decisions of the older plan {len(old) - len(gone)} still hold"
    return f"{said}; no longer: {', '.join(gone)}" if gone else said


def _read_marker(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ProjectError(
            f"{path} is damaged, so that nobody knows what was tuned there: {error}: name another "
            "folder with --output"
        ) from error


def _read_copied(path: Path) -> dict[str, str]:
    """Return what every file was when it was copied; nothing where that is not known."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, ValueError):
        return {}


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    names = before.keys() | after.keys()
    return sorted(name for name in names if before.get(name) != after.get(name))


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _find_named(name: str, found: Sequence[Binary]) -> Binary:
    for binary in found:
        if name in (binary.name, Path(binary.name).name):
            return binary
    listed = ", ".join(binary.name for binary in found)
    raise ProjectError(f"the build does not link {name!r}: expected one of {listed}")
