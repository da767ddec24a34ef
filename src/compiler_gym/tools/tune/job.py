# SPDX-License-Identifier: MIT
"""Tune a project: record its build, test it, tune each binary, and write the results.

Decisions with which a test fails are reverted. Everything happens in the output folder, from which
an interrupted tuning can resume.
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
from compiler_gym.tools.tune.builds import (
    Binary,
    Protection,
    Recording,
    configuring,
    copy_tree,
    digest_files,
    find_binaries,
    record_build,
    rust_variables,
)
from compiler_gym.tools.tune.confirming import confirm_result
from compiler_gym.tools.tune.difference import read_tuned
from compiler_gym.tools.tune.explaining import explain_result
from compiler_gym.tools.tune.goal import Goal, sizes_by_measure
from compiler_gym.tools.tune.handing_over import HandOver, Result, folder_name
from compiler_gym.tools.tune.plan import BinaryPlan, BuildPlan
from compiler_gym.tools.tune.proving import Proof
from compiler_gym.tools.tune.reading import is_plain
from compiler_gym.tools.tune.rebuilding import find_rebuild
from compiler_gym.tools.tune.recipes import TuningRecipe, list_shipped_recipes, recipe_for
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.runs import RunCommand, RunOutcome, compare_in_turns, put, run_check
from compiler_gym.tools.tune.size_search import JOURNAL, Allowance, Tried
from compiler_gym.tools.tune.tuner import Found, Tuner, TuningSubject

_MARKER = "tuning.json"
_ROUNDS = 10
"""Rounds of the comparison after decisions were reverted."""
_ORIGINAL, _PLACE = "original", "place"
"""Files in the folder of a binary: the project's own version, and its path in the project."""
_COPIED = "copied.json"
"""The digests of all project files when they were copied."""
_SHOWN = 3
_NOT_RUN = (126, 127)
"""The exit statuses of a shell that cannot run or find a program."""
_SIGNALLED = 128
"""A shell adds this to the number of the signal that terminated a program."""
_TRIALS = {"CMakeFiles", "meson-private"}
"""Folders in which CMake and Meson link programs to test the compiler."""


class TuningWatcher:
    """Callbacks for progress; they do nothing unless overridden."""

    def says(self, text: str) -> None:
        """Report the beginning of a step."""

    def builds(self, line: str) -> None:
        """Report a line that the project's build printed."""

    def tries(self, binary: str, stage: str, best: Tried, allowance: Allowance) -> None:
        """Report the best result so far for one binary."""

    def rivals(self, binary: str, sizes: Mapping[str, int]) -> None:
        """Report the sizes to compare with for one binary, by label; the last is the baseline."""


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
        self._work = request.output / "work"
        self._recipe: TuningRecipe | None = None
        self._notes: list[str] = []
        """Remarks for the user about the check and the run."""
        self.results: list[Result] = []
        self.rebuild = ""
        """A tested shell command that runs the project's build with the plan; empty if none."""
        self.others: list[str] = []
        """Linked files of the build that were not tuned."""

    def run(self) -> list[Result]:
        """Run all steps, write the results and return them."""
        compilers = self._tuner.compilers
        is_new = not self.request.output.exists()
        self._prepare()
        lock = FolderLock.take(self.request.output)
        try:
            self._copy(is_new=is_new)
            recording = self._record(*compilers)
            binaries = self._choose(recording)
            self._require_well(recording)
            for binary in binaries:
                allowance = self._allowance(len(binaries))
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
            raise ProjectError(f"{request.project} is not a folder: give a project's folder")
        marker = request.output / _MARKER
        if request.output.exists() and any(request.output.iterdir()):
            self._require_no_links()
            if not marker.is_file():
                raise ProjectError(
                    f"{request.output} contains other files: choose an empty folder with --output"
                )
            is_built = (self._work / "record" / "done").is_file()
            if is_built and not request.resume:
                raise ProjectError(
                    f"{request.output} contains an earlier run: continue with --resume, or choose "
                    "another folder with --output"
                )
            if is_built:
                self._require_same(_read_marker(marker))
        elif request.resume:
            raise ProjectError(f"nothing to resume in {request.output}: omit --resume")
        self._require_measurable()
        self._require_recipe()
        self._before = None if request.start is None else self._plan_before(request.start)
        try:
            self._work.mkdir(parents=True, exist_ok=True)
            write_whole(marker, (json.dumps(self._key(), indent=2) + "\n").encode())
        except OSError as error:
            raise ProjectError(f"cannot write to {request.output}: {error.strerror}") from error

    def _require_no_links(self) -> None:
        """Raise `ProjectError` if a symlink leads from the output folder to another place.

        The copy of the project may contain symlinks: these are replaced, never written through.
        """
        output = self.request.output.resolve()
        for folder, folders, files in os.walk(output):
            for path in (Path(folder, name) for name in (*folders, *files)):
                if path.is_symlink() and not path.resolve().is_relative_to(output):
                    raise ProjectError(
                        f"{path} is a symlink to {path.readlink()}, outside the output folder: "
                        "remove it, or choose another folder with --output"
                    )
            if Path(folder) == output / "work" and "tree" in folders:
                folders.remove("tree")

    def _require_measurable(self) -> None:
        request = self.request
        if request.run is None and not request.goal.counts_bytes:
            raise ProjectError(
                f"--goal {request.goal} needs a command to measure: add one such as --run "
                "'./bench input'"
            )
        for name in ("train", "profile"):
            if getattr(request, name) is not None and request.goal.counts_bytes:
                raise ProjectError(f"--{name} works only with --goal speed: omit --{name}")
        if request.max_slowdown is not None and request.goal is Goal.SPEED:
            raise ProjectError("--max-slowdown works only with --goal size: omit --max-slowdown")
        if request.profile is not None and not Path(request.profile).is_file():
            raise ProjectError(f"no profile at {request.profile}: give a file")

    def _plan_before(self, path: Path) -> BuildPlan:
        """Return the plan to start from; raise `ProjectError` if its compiler or goal differs."""
        plan = read_tuned(path)
        compiler, other = (text.partition(" ")[0] for text in (self._tuner.version, plan.compiler))
        if other != compiler or Goal(plan.goal) is not self.request.goal:
            raise ProjectError(
                f"{path} is a plan of {plan.compiler} for {plan.goal}, but this run uses "
                f"{self._tuner.version} for {self.request.goal}: omit --from"
            )
        return plan

    def _start(self, name: str) -> BinaryPlan | None:
        """Return the decisions to start from: those of the given plan, or else of the recipe.

        Raises `ProjectError` if the plan has none for the file `name`.
        """
        if self._before is None:
            recipe = recipe_for(self.request.goal, self._tuner.version)
            return None if recipe is None else recipe.plan_for(name)
        plan = self._before.binary(name)
        if plan is None:
            names = ", ".join(binary.name for binary in self._before.binaries)
            raise ProjectError(
                f"{self.request.start} has no plan for {name}, only for {names}: omit --from"
            )
        return plan

    def _require_recipe(self) -> None:
        """Find the requested recipe; raise `ProjectError` if there is none."""
        if not self.request.recipe:
            return
        self._recipe = recipe_for(self.request.goal, self._tuner.version)
        if self._recipe is None:
            recipes = [f"{r.name} is for {r.goal} with {r.compiler} on {r.known.machine}"
                       for r in list_shipped_recipes()]  # fmt: skip
            raise ProjectError(
                f"no recipe for the goal {self.request.goal} with {self._tuner.version} on "
                f"{platform.machine()}: {', '.join(recipes) or 'there are no recipes'}; omit "
                "--recipe to search for decisions"
            )

    def _key(self) -> dict[str, object]:
        return {"compiler": self._tuner.version, **self.request.decides()}

    def _require_same(self, before: object) -> None:
        now = self._key()
        if not isinstance(before, dict):
            before = {}
        old: dict[str, object] = before  # pyright: ignore[reportUnknownVariableType]  # as JSON is
        changed = [name for name in now if old.get(name) != now[name]]
        if changed:
            raise ProjectError(
                f"{self.request.output} contains a run with other options: "
                + "; ".join(f"{name} was {old.get(name)!r}, is {now[name]!r}" for name in changed)
                + ": choose another folder with --output"
            )

    def _copy(self, *, is_new: bool) -> None:
        """Copy the project, unless an up-to-date copy exists; leave nothing behind on failure."""
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
                "building it again; results for the old code are discarded"
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
        """Delete all results for other sources; keep journals, whose keys identify the sources."""
        for path in (self._work / "binaries").glob("*/*"):
            if path.name == JOURNAL:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()

    def _record(self, compiler: Sequence[str], cxx: Sequence[str]) -> Recording:
        tree, folder = self._work / "tree", self._work / "record"
        done = folder / "done"
        if done.is_file():
            self._put_back(tree)
            return Recording(folder, tree)
        self._watcher.says("building the project")
        build = partial(
            record_build, tree, folder=folder, compiler=compiler, cxx_compiler=cxx,
            on_line=self._watcher.builds, poll=self._stop, wrap=self._protection.wrap,
        )  # fmt: skip
        try:
            recording = build(self.request.build)
        except ProjectError:
            commands = configuring(self.request.project, tree)
            if not commands:
                raise
            self._watcher.says(f"configuring the copy: {'; '.join(commands)}")
            self._copy_tree()
            script = "".join(f"{command} || :\n" for command in commands) + 'exec "$@"'
            recording = build(("/bin/sh", "-c", script, "sh", *self.request.build))
        self._tell_what_changed()
        done.touch()
        return recording

    def _stop(self) -> None:
        """Stop a command on Ctrl-C, if there are no results to write yet."""
        if self._is_interrupted():
            raise KeyboardInterrupt

    def _tell_what_changed(self) -> None:
        """Report changed files of the project itself, which a build command may have written."""
        changed = self._protection.list_changed()
        if changed:
            self._note(
                f"{_join_names(changed)} in {self.request.project} itself changed during the run. "
                "If you did not change them, a build command uses absolute paths, and the files it "
                "wrote there are not tuned"
            )

    def _put_back(self, tree: Path) -> None:
        """Restore the project's own binaries after an interrupted run or test with others."""
        for marker in (self._work / "binaries").glob(f"*/{_PLACE}"):
            original = marker.with_name(_ORIGINAL)
            target = tree / marker.read_text()
            if not target.parent.resolve().is_relative_to(tree.resolve()):
                raise ProjectError(f"{marker} names a file outside {tree}: choose another --output")
            if original.is_file():
                put(original, target)

    def _choose(self, recording: Recording) -> list[Binary]:
        linked = find_binaries(recording.events(), recording.tree)
        binaries = [binary for binary in linked if not Path(binary.name).is_absolute()]
        for binary in linked:
            if binary not in binaries:
                self._note(f"{binary.name} is linked outside the project and not tuned")
        if not binaries:
            raise ProjectError(
                "the build linked nothing that it compiled with a C or C++ compiler from PATH, CC "
                f"or CXX ({sum(1 for _ in recording.events())} commands were recorded): if the "
                "project is built already, clean it; if the build uses the full path of a "
                "compiler, let it use $CC for C and $CXX for C++; cargo must build in release mode"
            )
        binaries.sort(key=lambda binary: -measure_sizes(binary.path).text)
        if not self.request.binaries:
            products = [binary for binary in binaries if not _tries_a_compiler(binary)] or binaries
            programs = [binary for binary in products if not binary.is_shared] or products
            chosen = programs[:1]
        else:
            chosen = [_find_named(name, binaries) for name in self.request.binaries]
        for binary in chosen:
            for name in (binary.name, *map(binary.name_unit, binary.units)):
                if not is_plain(name):
                    raise ProjectError(
                        f"{name!a} cannot be stored in a plan: rename it to valid UTF-8 "
                        "without control characters"
                    )
        self.others = [
            binary.name
            for binary in binaries
            if binary not in chosen and not _tries_a_compiler(binary)
        ]
        return chosen

    def _require_well(self, recording: Recording) -> None:
        """Raise `ProjectError` if the tests fail on the original build."""
        check = self.request.check
        if check is None:
            return
        self._watcher.says("testing the original build")
        first = self._check(recording.tree, poll=self._stop)
        if first.status:
            raise ProjectError(
                f"the tests failed with status {first.status} on the original build: {check}\n"
                f"{first.tail}"
            )
        second = self._check(recording.tree, poll=self._stop)
        if second.status:
            self._note(
                "the tests fail intermittently on the original build, so a failure counts only if "
                "it happens twice"
            )

    def _check(self, tree: Path, *, poll: Callable[[], None] = lambda: None) -> RunOutcome:
        """Run the user's tests in `tree`; they must not change the project itself."""
        assert self.request.check is not None
        log, seconds = self._work / "check.log", self.request.check_seconds
        limit = {} if seconds is None else {"seconds": seconds}
        outcome = run_check(
            self.request.check, tree, log=log, poll=poll, wrap=self._protection.wrap,
            variables=rust_variables(self._tuner.compilers[0]), **limit
        )  # fmt: skip
        if not tree.is_dir() or not (self.request.output / _MARKER).is_file():
            raise ProjectError(
                f"{self.request.check} removed files from the output folder {self.request.output}: "
                "tests run in a copy of the project there, so use a command that stays in it"
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
            allowance.begin()  # start the time now, because runs take most of it
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
        self._watcher.says(f"measuring the gain from each decision for {binary.name}")
        found = explain_result(found, self._tuner, subject)
        put(original, binary.path)
        builds = {**found.rivals, "tuned": found.path}
        sizes = {name: sizes_by_measure(path, request.measure) for name, path in builds.items()}
        before = None if self._before is None else subject.start
        kept = () if before is None else (_still_holds(before, found.plan),)
        notes = tuple(dict.fromkeys((*found.notes, *kept, *self._notes)))
        found = replace(found, plan=replace(found.plan, sizes=sizes), notes=notes)
        return Result(found, binary, sizes, taken_back, found.speed)

    def _fast_without(self, found: Found, subject: TuningSubject, proof: Proof) -> Found:
        """Return `found` with its new speed, if it is faster without the reverted decisions.

        Otherwise return the baseline, if that passes the tests.
        """
        assert subject.run is not None
        name, fair = list(found.rivals.items())[-1]
        result, _ = compare_in_turns(subject.run, fair, found.path, _ROUNDS)
        speed = {"speedup": result.speedup, "low": result.low, "high": result.high}
        is_speed = subject.goal is Goal.SPEED and found.rival_plan is not None
        if not is_speed or result.low > 1 or found.path == fair or not proof.is_well(fair):
            return replace(found, speed=speed)
        note = f"the build that passes the tests is not significantly faster: the result is {name}"
        return replace(
            found, plan=found.rival_plan or found.plan, path=fair, notes=(*found.notes, note),
            speed={"speedup": 1.0, "low": 1.0, "high": 1.0},
        )  # fmt: skip

    def _with_status(self, run: RunCommand, original: Path) -> RunCommand:
        """Return `run` with its exit status on the project's own build as the expected one.

        Raises `ProjectError` if it crashes, cannot be run, or exits with different statuses.
        """
        self._watcher.says(f"running {run.text}")
        first, second = (run.run(original, log=self._work / "run.log") for _ in range(2))
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
            self._note(
                f"{run.text} exits with status {status} on the project's own build, so it must do "
                "the same on a tuned build; if this status is an error, correct the command"
            )
        if first.output != second.output:
            self._note(
                f"{run.text} prints different output each time, so its output is not compared"
            )
        return replace(run, expected=status)


def _tries_a_compiler(binary: Binary) -> bool:
    return not _TRIALS.isdisjoint(Path(binary.name).parts)


def _still_holds(before: BinaryPlan, now: BinaryPlan) -> str:
    """Return a remark on the decisions of an older plan that the new one keeps."""
    old, new = before.decisions(), set(now.decisions())
    dropped = [name for name in old if name not in new]
    summary = f"kept {len(old) - len(dropped)} of {len(old)} decisions of the older plan"
    return f"{summary}; dropped: {', '.join(dropped)}" if dropped else summary


def _read_marker(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ProjectError(
            f"{path} is damaged, so the options of that run are unknown: {error}: choose another "
            "folder with --output"
        ) from error


def _read_copied(path: Path) -> dict[str, str]:
    """Return the digests of the copied files; empty if unknown."""
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


def _find_named(name: str, binaries: Sequence[Binary]) -> Binary:
    for binary in binaries:
        if name in (binary.name, Path(binary.name).name):
            return binary
    listed = ", ".join(binary.name for binary in binaries)
    raise ProjectError(f"the build does not link {name!r}: choose one of {listed}")
