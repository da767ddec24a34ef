# SPDX-License-Identifier: MIT
"""Tune a binary with LLVM: build rivals with clang and lld, search, and build plans."""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
from compiler_gym.errors import PlanError
from compiler_gym.registration import make
from compiler_gym.tools.tune import (
    JOURNAL,
    PACKED,
    BinaryPlan,
    Found,
    Goal,
    Journal,
    Meaning,
    SizeSearch,
    SourceFile,
    State,
    TuningSubject,
    choose_layout,
    choose_unwinding,
    list_sources,
    recipe_for,
    require_honoured,
)
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.llvm.deciding import FLAG, LINKER, PLUG_IN, UNSAFE, items, make_state
from compiler_gym.tools.tune.llvm.known import list_known_plans
from compiler_gym.tools.tune.llvm.link_time import build_plan, build_plans
from compiler_gym.tools.tune.llvm.linking import (
    FAST,
    FOLDING,
    PROGRAM,
    SMALL,
    Linker,
    choose_front_end_flags,
    choose_lld_layout,
    list_refused_flags,
    plain_words,
)
from compiler_gym.tools.tune.llvm.making import LlvmMaker
from compiler_gym.tools.tune.llvm.meanings import meaning
from compiler_gym.tools.tune.llvm.possible import require_possible, require_tried
from compiler_gym.tools.tune.llvm.script import write_script
from compiler_gym.tools.tune.llvm.size import SizeDecisions
from compiler_gym.tools.tune.llvm.size_plugin import PLUGIN, plugin_hash
from compiler_gym.tools.tune.llvm.slowdown import Slowdown
from compiler_gym.tools.tune.llvm.speed import FAIR_FAST, ProfileTrial
from compiler_gym.tools.tune.llvm.whole import Whole, make_whole

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
        if not is_by_size:
            subject.allowance.begin()
        level, fair = ("Oz", FAIR) if is_by_size else ("O3", FAIR_FAST)
        objects = linker.compile(f"{level}-o", [f"-{level}"])
        rivals = _rivals(linker, f"-{level}", objects, fair)
        subject.watch_rivals(rivals)
        if subject.recipe is not None:
            result = _by_recipe(linker, subject, rivals, subject.recipe)
        elif is_by_size:
            result = _small(linker, subject, rivals)
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
        require_possible(plan)
        linker = Linker(binary, folder, jobs)
        if plan.method in (SMALL, FAST):
            return build_plan(linker, plan)
        whole = make_whole(binary, binary.path, jobs=jobs, flags=plan.flags)
        return LlvmMaker(linker, whole, plan).make("built")

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` for the first decision of `plan` that this tuner never makes."""
        require_possible(plan)

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes of `plan`, in the syntax of `opt`."""
        return tuple(split_passes(plan.passes))

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
        require_possible(plan)
        if plan.method not in (SMALL, FAST):
            raise PlanError(
                f"no single command can build the plan of {plan.name} (method {plan.method!r}); "
                "use the reproduce.sh next to the plan"
            )
        return plain_words(plan)

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        """Return a shell script that builds the same bytes with LLVM's own tools."""
        require_possible(plan)
        return write_script(binary, plan)


def _compiler_commands() -> tuple[list[str], list[str]]:
    clang = clang_command()
    return clang, [*clang, "--driver-mode=g++"]


@cache
def _llvm_version() -> str:
    """Return LLVM's version; starts a session to find out."""
    with make("llvm-v0") as env:
        return f"llvm {env.compiler_version}"


def _small(linker: Linker, subject: TuningSubject, rivals: Mapping[str, Path]) -> Found:
    binary, measure = subject.binary, subject.measure
    for unit in binary.units:
        if unit.path.suffix == ".bc":
            _mark_for_size(unit.path)
    whole = make_whole(binary, rivals["clang -Oz"], jobs=subject.jobs)
    sources = list_sources(binary, whole.units)
    bare = BinaryPlan(binary.name, PROGRAM, scope=_scope(whole), sources=sources)
    maker = LlvmMaker(linker, whole, bare)
    key = f"{subject.goal} {measure} {whole.benchmark().uri} {plugin_hash()}".rstrip()
    refused = UNSAFE if binary.is_shared or not subject.is_tested else ()
    layout = _layout(subject)
    flags = [action.removeprefix(LINKER) for action in layout]
    plans = build_plans(
        linker, list_known_plans(binary.name, sources, flags, compiler=_llvm_version())
    )
    rivals = _with_packed(rivals, plans)
    start = min(plans, key=lambda pair: measure.of(pair[1]), default=(bare, None))[0]
    decisions = SizeDecisions(
        maker, measure, layout, _list_starts(subject, start), refused,
        is_position_independent=is_shared_library(rivals[FAIR]),
        jobs=subject.jobs, seed=subject.seed,
    )  # fmt: skip
    search = SizeSearch(
        decisions,
        subject.allowance,
        Journal(
            subject.folder / JOURNAL,
            hashlib.sha256(key.encode()).hexdigest(),
            require_possible=lambda actions: require_tried(binary.name, actions),
        ),
        subject.watch,
        subject.jobs,
    )
    best = search.run()
    plan = decisions.plan(best.actions)
    path = maker.of(plan).make("tuned")
    rival_plan = _rival_plan(binary.name, sources)
    plans = [(rival_plan, rivals[FAIR]), *(plans if subject.max_slowdown is None else ())]
    searched, tuned = plan, (plan, path)
    plan, path = min((*plans, tuned), key=lambda pair: measure.of(pair[1]))
    plan, path, speed, notes = _limit_slowdown(linker, subject, whole, plan, path, rivals[FAIR])
    return Found(
        plan, path, rivals, search.first, subject.allowance.used, speed=speed, notes=notes,
        gains=search.gains if plan == searched else {}, rival_plan=rival_plan,
    )  # fmt: skip


def _rival_plan(name: str, sources: tuple[SourceFile, ...]) -> BinaryPlan:
    """Return the plan for the fair rival of a search for size."""
    return BinaryPlan(name, SMALL, linker=FOLDING, sources=sources)


def _layout(subject: TuningSubject) -> list[str]:
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

    Options that only the linker accepts are omitted.
    """
    recipe = recipe_for(Goal.SIZE, _llvm_version())
    plans = [subject.start, best, None if recipe is None else recipe.plan]
    return list(dict.fromkeys(make_state(plan) for plan in plans if plan is not None))


def _with_packed(
    rivals: Mapping[str, Path], built: Sequence[tuple[BinaryPlan, Path]]
) -> dict[str, Path]:
    """Return `rivals` with a packed build of the fair rival inserted before the last."""
    packed = next((path for plan, path in built if plan.linker == (*FOLDING, PACKED)), None)
    *preceding, fair = rivals.items()
    return dict([*preceding, *([(FAIR_PACKED, packed)] if packed else []), fair])


def _by_recipe(
    linker: Linker, subject: TuningSubject, rivals: Mapping[str, Path], recipe: BinaryPlan
) -> Found:
    """Return the build with `recipe`, or the fair rival if the recipe is not smaller."""
    binary, fair = subject.binary, subject.measure.of(rivals[FAIR])
    plan = replace(recipe, sources=list_sources(binary, binary.units))
    path, notes = build_plan(linker, plan), tuple[str, ...]()
    rival_plan = _rival_plan(binary.name, plan.sources)
    if subject.measure.of(path) >= fair:
        plan, path = rival_plan, rivals[FAIR]
        notes = (f"the recipe does not make {binary.name} smaller; built with {FAIR} instead",)
    return Found(plan, path, rivals, fair, 1, notes=notes, rival_plan=rival_plan)


def _limit_slowdown(
    linker: Linker, subject: TuningSubject, whole: Whole, plan: BinaryPlan, path: Path, fair: Path
) -> tuple[BinaryPlan, Path, dict[str, float], tuple[str, ...]]:
    if subject.max_slowdown is None or path == fair:
        return plan, path, {}, ()
    limit = Slowdown(linker, subject.run, whole, fair, subject.max_slowdown)
    result = limit.within(plan, path)
    if result is None or subject.measure.of(result[1]) >= subject.measure.of(fair):
        rival = _rival_plan(plan.name, plan.sources)
        return rival, fair, {}, (*limit.notes, "kept the fair rival")
    return *result, limit.speed, tuple(limit.notes)


def _rivals(
    linker: Linker, level: str, plain_objects: Mapping[Unit, Path], fair: str
) -> dict[str, Path]:
    """Build with the project's own flags and with clang at `level`; the last is named `fair`."""
    name = level.removeprefix("-")
    objects = linker.compile(f"{name}-flto-o", [level, "-flto"])
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


def _scope(whole: Whole) -> str:
    with make("llvm-v0") as env:
        env.reset(benchmark=whole.benchmark())
        return env.send_param("llvm.get_scope_pipeline", "")
