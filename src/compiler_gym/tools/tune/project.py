# SPDX-License-Identifier: MIT
"""The copy of a project in the output folder: its recorded build, its binaries and its tests.

Everything happens in the output folder, from which an interrupted tuning can resume. The project
itself is never changed.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.files import write_whole
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
from compiler_gym.tools.tune.handing_over import folder_name
from compiler_gym.tools.tune.reading import is_plain
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.runs import RunOutcome, put, run_check
from compiler_gym.tools.tune.size_search import JOURNAL, Allowance, Tried
from compiler_gym.tools.tune.tuner import Tuner

_Read = TypeVar("_Read")
_MARKER = "tuning.json"
_ORIGINAL, _PLACE = "original", "place"
"""Files in the folder of a binary: the project's own version, and its path in the project."""
_COPIED = "copied.json"
"""The digests of all project files when they were copied."""
_SHOWN = 3
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


@dataclass
class ProjectCopy:
    """The copy of one project."""

    request: Request
    tuner: Tuner
    watcher: TuningWatcher
    is_interrupted: Callable[[], bool]
    notes: list[str] = field(default_factory=list[str])
    """Remarks for the user."""
    others: list[str] = field(default_factory=list[str])
    """Linked files of the build that are not tuned."""

    @property
    def work(self) -> Path:
        """The folder for everything that is not a result."""
        return self.request.output / "work"

    def prepare(self, read: Callable[[], _Read]) -> _Read:
        """Create the output folder, or check that its run can be resumed; return what `read` does.

        Raises `ProjectError` if the folder contains anything else. Nothing is written if `read`
        fails.
        """
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
            is_built = (self.work / "record" / "done").is_file()
            if is_built and not request.resume:
                raise ProjectError(
                    f"{request.output} contains an earlier run: continue with --resume, or choose "
                    "another folder with --output"
                )
            if is_built:
                self._require_same(_read_marker(marker))
        elif request.resume:
            raise ProjectError(f"nothing to resume in {request.output}: omit --resume")
        request.require_measurable()
        result = read()
        try:
            self.work.mkdir(parents=True, exist_ok=True)
            write_whole(marker, (json.dumps(self._key(), indent=2) + "\n").encode())
        except OSError as error:
            raise ProjectError(f"cannot write to {request.output}: {error.strerror}") from error
        return result

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

    def _key(self) -> dict[str, object]:
        return {"compiler": self.tuner.version, **self.request.decides()}

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

    def copy(self, *, is_new: bool) -> None:
        """Copy the project, unless an up-to-date copy exists; leave nothing behind on failure."""
        request, record = self.request, self.work / "record"
        leave_out = [request.output]
        self.protection = Protection.of(request.project, leave_out)
        copied = self.work / _COPIED
        if (record / "done").is_file():
            now = digest_files(request.project, leave_out=leave_out)
            changed = _differing(_read_copied(copied), now)
            if not changed:
                return
            self.note(
                f"{_join_names(changed)} changed since the project was copied: copying and "
                "building it again; results for the old code are discarded"
            )
            self._forget()
        shutil.rmtree(record, ignore_errors=True)
        try:
            self.watcher.says("copying the project")
            self._copy_tree()
            digests = digest_files(request.project, leave_out=leave_out)
            write_whole(copied, json.dumps(digests).encode())
        except BaseException:
            if is_new:
                shutil.rmtree(request.output, ignore_errors=True)
            raise

    def _copy_tree(self) -> None:
        tree = self.work / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        copy_tree(self.request.project, tree, leave_out=[self.request.output])

    def _forget(self) -> None:
        """Delete all results for other sources; keep journals, whose keys identify the sources."""
        for path in (self.work / "binaries").glob("*/*"):
            if path.name == JOURNAL:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()

    def record(self) -> Recording:
        """Return the recorded build of the copy; build it unless that was done before."""
        compiler, cxx = self.tuner.compilers
        tree, folder = self.work / "tree", self.work / "record"
        done = folder / "done"
        if done.is_file():
            self._put_back(tree)
            return Recording(folder, tree)
        self.watcher.says("building the project")
        build = partial(
            record_build,
            tree,
            folder=folder,
            compiler=compiler,
            cxx_compiler=cxx,
            on_line=self.watcher.builds,
            poll=self.stop,
            wrap=self.protection.wrap,
        )
        try:
            recording = build(self.request.build)
        except ProjectError:
            commands = configuring(self.request.project, tree)
            if not commands:
                raise
            self.watcher.says(f"configuring the copy: {'; '.join(commands)}")
            self._copy_tree()
            script = "".join(f"{command} || :\n" for command in commands) + 'exec "$@"'
            recording = build(("/bin/sh", "-c", script, "sh", *self.request.build))
        self.tell_what_changed()
        done.touch()
        return recording

    def stop(self) -> None:
        """Stop a command on Ctrl-C, if there are no results to write yet."""
        if self.is_interrupted():
            raise KeyboardInterrupt

    def tell_what_changed(self) -> None:
        """Report changed files of the project itself, which a build command may have written."""
        changed = self.protection.list_changed()
        if changed:
            self.note(
                f"{_join_names(changed)} in {self.request.project} itself changed during the run. "
                "If you did not change them, a build command uses absolute paths, and the files it "
                "wrote there are not tuned"
            )

    def _put_back(self, tree: Path) -> None:
        """Restore the project's own binaries after an interrupted run or test with others."""
        for marker in (self.work / "binaries").glob(f"*/{_PLACE}"):
            original = marker.with_name(_ORIGINAL)
            target = tree / marker.read_text()
            if not target.parent.resolve().is_relative_to(tree.resolve()):
                raise ProjectError(f"{marker} names a file outside {tree}: choose another --output")
            if original.is_file():
                put(original, target)

    def choose(self, recording: Recording) -> list[Binary]:
        """Return the linked files to tune."""
        linked = find_binaries(recording.events(), recording.tree)
        binaries = [binary for binary in linked if not Path(binary.name).is_absolute()]
        for binary in linked:
            if binary not in binaries:
                self.note(f"{binary.name} is linked outside the project and not tuned")
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

    def require_well(self, recording: Recording) -> None:
        """Raise `ProjectError` if the tests fail on the original build."""
        check = self.request.check
        if check is None:
            return
        self.watcher.says("testing the original build")
        first = self.check(recording.tree, poll=self.stop)
        if first.status:
            raise ProjectError(
                f"the tests failed with status {first.status} on the original build: {check}\n"
                f"{first.tail}"
            )
        second = self.check(recording.tree, poll=self.stop)
        if second.status:
            self.note(
                "the tests fail intermittently on the original build, so a failure counts only if "
                "it happens twice"
            )

    def check(self, tree: Path, *, poll: Callable[[], None] = lambda: None) -> RunOutcome:
        """Run the user's tests in `tree`; they must not change the project itself."""
        assert self.request.check is not None
        log, seconds = self.work / "check.log", self.request.check_seconds
        limit = {} if seconds is None else {"seconds": seconds}
        outcome = run_check(
            self.request.check,
            tree,
            log=log,
            poll=poll,
            wrap=self.protection.wrap,
            variables=rust_variables(self.tuner.compilers[0]),
            **limit,
        )
        if not tree.is_dir() or not (self.request.output / _MARKER).is_file():
            raise ProjectError(
                f"{self.request.check} removed files from the output folder {self.request.output}: "
                "tests run in a copy of the project there, so use a command that stays in it"
            )
        return outcome

    def keep_original(self, binary: Binary) -> Path:
        """Return the project's own version of `binary`, in a new folder for its tuning.

        It also replaces the file in the copy, which a test may have changed.
        """
        folder = self.work / "binaries" / folder_name(binary.name)
        folder.mkdir(parents=True, exist_ok=True)
        original = folder / _ORIGINAL
        if not original.exists():
            (folder / _PLACE).write_text(binary.name)
            partial = shutil.copy(binary.path, folder / f"{_ORIGINAL}.partial")
            Path(partial).replace(original)
        put(original, binary.path)
        return original

    def note(self, text: str) -> None:
        """Report `text`, and keep it for the results."""
        self.watcher.says(text)
        self.notes.append(text)


def _tries_a_compiler(binary: Binary) -> bool:
    return not _TRIALS.isdisjoint(Path(binary.name).parts)


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
