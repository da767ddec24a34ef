# SPDX-License-Identifier: MIT
"""Tune a binary with LLVM: build rivals with clang and lld, search, and build plans."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from compiler_gym.builds import is_shared_library
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.toolchain import (
    CLEAR,
    clang_command,
    join_pipelines,
    require_build_tools,
    split_passes,
)
from compiler_gym.registration import make
from compiler_gym.tools.tune import (
    JOURNAL,
    BinaryPlan,
    Build,
    Found,
    Goal,
    Journal,
    Meaning,
    SizeSearch,
    State,
    Tried,
    TuningSubject,
    list_sources,
    recipe_for,
    require_honoured,
)
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.llvm.deciding import FLAG, LINKER, PLUG_IN, UNSAFE, items, make_state
from compiler_gym.tools.tune.llvm.flags import (
    FAST,
    FOLDING,
    PACKED,
    PROGRAM,
    SMALL,
    choose_front_end_flags,
    choose_layout,
    choose_lld_layout,
    choose_unwinding,
)
from compiler_gym.tools.tune.llvm.linker import Linker, list_refused_flags
from compiler_gym.tools.tune.llvm.meanings import meaning
from compiler_gym.tools.tune.llvm.plans import SmallPlan, checked, link_all, require_tried
from compiler_gym.tools.tune.llvm.plugin import PLUGIN, plugin_hash
from compiler_gym.tools.tune.llvm.program import LlvmMaker, Whole, make_whole
from compiler_gym.tools.tune.llvm.size import SizeDecisions, is_dispensable, list_known_plans
from compiler_gym.tools.tune.llvm.slowdown import Slowdown
from compiler_gym.tools.tune.llvm.speed import FAIR_FAST, ProfileTrial

FAIR = "clang -Oz -flto, --icf=safe"
FAIR_PACKED = f"{FAIR}, packed"
"""The fair rival with packed relocations, if they may be packed."""


class LlvmTuner:
    """Tunes one linked file at a time."""

    @property
    def version(self) -> str:
        """LLVM's version."""
        return _llvm_version()

    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        """The installed clang, as a C compiler and as a C++ compiler.

        Raises `ProjectError` if this version's clang or lld, or a strip, is missing.
        """
        require_build_tools()
        return _compiler_commands()

    def tune(self, subject: TuningSubject) -> Found:
        """Return the smallest or fastest binary among those of the search and the rivals."""
        require_honoured(subject.binary, list_refused_flags)
        binary, is_by_size = subject.binary, subject.goal.counts_bytes
        linker = Linker(binary, subject.folder, subject.jobs)
        level, fair = ("Oz", FAIR) if is_by_size else ("O3", FAIR_FAST)
        objects = linker.compile(f"{level}-o", [f"-{level}"])
        rivals = _build_rivals(linker, f"-{level}", objects, fair)
        subject.watch_rivals(rivals)
        if subject.recipe is not None:
            result = _build_recipe(linker, subject, rivals, subject.recipe)
        elif is_by_size:
            result = SizeTuning.of(linker, subject, rivals).run()
        else:
            sources = list_sources(binary, binary.units)
            none = BinaryPlan(binary.name, FAST, linker=FOLDING, sources=sources)
            result = ProfileTrial(linker, subject, none, rivals).judge()
        linked = linker.exchange(level, objects).linked
        return replace(
            result, objects={binary.name_unit(unit): Path(name) for unit, name in linked.items()}
        )

    def build(self, binary: Binary, plan: BinaryPlan, folder: Path, *, jobs: int) -> Path:
        """Return the stripped build of `binary` with `plan`."""
        return checked(plan).build(binary, folder, jobs=jobs)

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` for the first decision of `plan` that this tuner never makes."""
        checked(plan)

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes of `plan`, in the syntax of `opt`; none if the linker runs them."""
        return tuple(split_passes(plan.passes)) if plan.method == PROGRAM else ()

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        """Return `plan` with the passes `steps`; without any, use a pass that does nothing."""
        return replace(plan, passes=join_pipelines(steps) or CLEAR)

    def actions(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes and options of `plan` that apply to a single module."""
        return tuple(action for action in make_state(plan) if action in items())

    def meaning(self, decision: str) -> Meaning:
        """Return a description of `decision`."""
        return meaning(decision)

    def plain_words(self, plan: BinaryPlan) -> Sequence[str]:
        """Return clang's command for `plan`; raise `PlanError` if no single command builds it."""
        return checked(plan).list_plain_words()

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        """Return a shell script that builds the same bytes with LLVM's own tools."""
        return checked(plan).write_script(binary)

    def write_companions(self, plan: BinaryPlan, folder: Path) -> None:
        """Write the size plug-in with its source and its licence, if `plan` loads it."""
        checked(plan).write_companions(folder)


@dataclass(frozen=True, slots=True)
class SizeTuning:
    """A search for the smallest build of one binary, and the choice among it and known plans."""

    linker: Linker
    subject: TuningSubject
    rivals: Mapping[str, Path]
    """The builds to compare with, the fair rival last."""
    baseline: Build
    """The fair rival with its plan."""
    known: Sequence[Build]
    """The builds of the plans that need no search."""

    @classmethod
    def of(cls, linker: Linker, subject: TuningSubject, rivals: Mapping[str, Path]) -> "SizeTuning":
        """Build the known plans, as many of the dispensable ones as there is time for."""
        binary, allowance = subject.binary, subject.allowance
        for unit in binary.units:
            if unit.path.suffix == ".bc":
                _mark_for_size(unit.path)
        sources = list_sources(binary, binary.units)
        words = [word.removeprefix(LINKER) for word in _list_layout(subject)]
        plans = list_known_plans(binary.name, sources, words, compiler=_llvm_version())
        baseline = Build(
            BinaryPlan(binary.name, SMALL, linker=FOLDING, sources=sources), rivals[FAIR]
        )
        began = time.monotonic()
        best, known = Tried((), float(subject.measure.of(baseline.path))), list[Build]()
        for build in link_all(
            linker, plans, lambda plan: not (is_dispensable(plan) and allowance.is_late)
        ):
            known.append(build)
            best = Tried((), min(best.cost, float(subject.measure.of(build.path))))
            subject.watch("known plans", best)
        # The search ends with a build that is in progress, and one of its result.
        allowance.reserved += 2 * (time.monotonic() - began) / max(len(known), 1)
        return cls(linker, subject, _with_packed(rivals, known), baseline, known)

    def run(self) -> Found:
        """Return the smallest build that is fast enough, without a search if there is no time."""
        subject, is_limited = self.subject, self.subject.max_slowdown is not None
        builds, search = [self.baseline, *(() if is_limited else self.known)], None
        if is_limited or not subject.allowance.is_late:
            binary, reference = subject.binary, self.rivals["clang -Oz"]
            whole = make_whole(binary, reference, jobs=subject.jobs)
            decisions = self._decisions(whole)
            search = self._search(decisions, min(map(self._size, builds)))
            tuned = decisions.plan(search.run().actions)
            builds.append(Build(tuned, decisions.maker.of(tuned).make("tuned")))
            smallest, speed, notes = self._limit_slowdown(min(builds, key=self._size), whole)
        else:
            smallest, speed, notes = min(builds, key=self._size), {}, ()
        is_searched = search is not None and smallest is builds[-1]
        return Found(
            smallest.plan,
            smallest.path,
            self.rivals,
            0 if search is None else search.first,
            subject.allowance.used,
            speed=speed,
            notes=notes,
            gains=search.gains if search is not None and is_searched else {},
            rival_plan=self.baseline.plan,
        )

    def _size(self, build: Build) -> int:
        return self.subject.measure.of(build.path)

    def _decisions(self, whole: Whole) -> SizeDecisions:
        subject = self.subject
        sources = list_sources(subject.binary, whole.units)
        bare = BinaryPlan(subject.binary.name, PROGRAM, scope=_find_scope(whole), sources=sources)
        start = min(self.known, key=self._size, default=Build(bare, Path())).plan
        return SizeDecisions(
            LlvmMaker(self.linker, whole, bare),
            subject.measure,
            _list_layout(subject),
            _list_starts(subject, start),
            UNSAFE if subject.binary.is_shared or not subject.is_tested else (),
            is_position_independent=is_shared_library(self.rivals[FAIR]),
            jobs=subject.jobs,
            seed=subject.seed,
        )

    def _search(self, decisions: SizeDecisions, known: int) -> SizeSearch:
        """Return the search, which reports the better of its best and `known` bytes."""
        subject, name = self.subject, self.subject.binary.name
        uri = decisions.maker.whole.benchmark().uri
        key = f"{subject.goal} {subject.measure} {uri} {plugin_hash()}"
        journal = Journal(
            subject.folder / JOURNAL,
            hashlib.sha256(key.rstrip().encode()).hexdigest(),
            require_possible=lambda actions: require_tried(name, actions),
        )

        def watch(stage: str, best: Tried) -> None:
            subject.watch(stage, min(best, Tried((), known), key=lambda tried: tried.cost))

        return SizeSearch(decisions, subject.allowance, journal, watch, subject.jobs)

    def _limit_slowdown(
        self, build: Build, whole: Whole
    ) -> tuple[Build, dict[str, float], tuple[str, ...]]:
        """Return the part of `build` that is fast enough, with its speed and notes."""
        subject, fair = self.subject, self.baseline
        if subject.max_slowdown is None or build.path == fair.path:
            return build, {}, ()
        limit = Slowdown(self.linker, subject.run, whole, fair.path, subject.max_slowdown)
        result = limit.within(build)
        if result is None or self._size(result) >= self._size(fair):
            return fair, {}, (*limit.notes, "kept the fair rival")
        return result, limit.speed, tuple(limit.notes)


def _compiler_commands() -> tuple[list[str], list[str]]:
    clang = clang_command()
    return clang, [*clang, "--driver-mode=g++"]


@cache
def _llvm_version() -> str:
    """Return LLVM's version; starts a session to find out."""
    with make("llvm-v0") as env:
        return f"llvm {env.compiler_version}"


def _list_layout(subject: TuningSubject) -> list[str]:
    """Return the actions that change the layout of the file."""
    binary = subject.binary
    compiler = _compiler_commands()[binary.is_cxx]
    flags = choose_layout(binary, compiler=compiler, old_loaders=subject.old_loaders)
    flags += choose_lld_layout(binary, subject.measure)
    unwinding = choose_unwinding(binary, is_dispensable=subject.no_unwind_tables)
    return [
        *(f"{FLAG}{flag}" for flag in unwinding),
        *(f"{LINKER}{flag}" for flag in flags),
        *(f"{FLAG}{flag}" for flag in choose_front_end_flags(binary)),
        *((f"{PLUG_IN}{PLUGIN}",) if plugin_hash() else ()),
    ]


def _list_starts(subject: TuningSubject, best: BinaryPlan) -> list[State]:
    """Return the states to start from: the plan of an older version, the `best` known plan, and the
    recipe.
    """
    recipe = recipe_for(Goal.SIZE, _llvm_version())
    known = [best, *([] if recipe is None else [recipe.plan_for(subject.binary.name)])]
    older = [subject.start] if subject.start is not None and subject.start not in known else []
    return list(dict.fromkeys(map(make_state, [*older, *known])))


def _with_packed(rivals: Mapping[str, Path], known: Sequence[Build]) -> dict[str, Path]:
    """Return `rivals` with a packed build of the fair rival inserted before the last."""
    packed = next((build.path for build in known if build.plan.linker == (*FOLDING, PACKED)), None)
    *preceding, fair = rivals.items()
    return dict([*preceding, *([(FAIR_PACKED, packed)] if packed else []), fair])


def _build_recipe(
    linker: Linker, subject: TuningSubject, rivals: Mapping[str, Path], recipe: BinaryPlan
) -> Found:
    """Return the build with `recipe`, or the fair rival if the recipe is not smaller."""
    binary, fair = subject.binary, subject.measure.of(rivals[FAIR])
    plan = replace(recipe, sources=list_sources(binary, binary.units))
    path, notes = SmallPlan(plan).link(linker), tuple[str, ...]()
    rival_plan = BinaryPlan(binary.name, SMALL, linker=FOLDING, sources=plan.sources)
    if subject.measure.of(path) >= fair:
        plan, path = rival_plan, rivals[FAIR]
        notes = (f"the recipe does not make {binary.name} smaller; built with {FAIR} instead",)
    return Found(plan, path, rivals, fair, 1, notes=notes, rival_plan=rival_plan)


def _build_rivals(
    linker: Linker, level: str, plain_objects: Mapping[Unit, Path], fair: str
) -> dict[str, Path]:
    """Build with the project's own flags and with clang at `level`; the last is named `fair`."""
    name = level.removeprefix("-")
    objects = linker.compile_once([level, "-flto"])
    links = {
        f"clang {level}": (name, plain_objects, ()),
        f"clang {level} -flto": (f"{name}-flto", objects, (level, "-flto")),
        fair: (f"{name}-flto-folded", objects, (level, "-flto", *FOLDING)),
    }

    def link(arguments: tuple[str, Mapping[Unit, Path], Sequence[str]]) -> Path:
        return linker.link(*arguments)

    with ThreadPoolExecutor(linker.jobs) as pool:
        paths = pool.map(link, links.values())
        project_build = {"your flags": linker.strip_file("own", linker.folder / "original")}
        return project_build | dict(zip(links, paths, strict=True))


def _mark_for_size(path: Path) -> None:
    """Mark all functions of a module for size in its file, as `-Oz` does with those of a source.

    The environment does this, too, but the script of a plan reads the file.
    """
    name = "benchmark://user-v0/module"
    with make("llvm-v0") as env:
        env.reset(benchmark=Benchmark.from_file_contents(name, path.read_bytes()))
        path.write_bytes(env.observation["Bitcode"].tobytes())


def _find_scope(whole: Whole) -> str:
    with make("llvm-v0") as env:
        env.reset(benchmark=whole.benchmark())
        return env.send_param("llvm.get_scope_pipeline", "")
