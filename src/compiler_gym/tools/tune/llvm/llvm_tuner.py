# SPDX-License-Identifier: MIT
"""LLVM's part of a tuning: rivals by clang and lld, decisions by search, binaries of a plan."""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

from compiler_gym.builds import CompilerCommand, is_shared_library
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
    tune_by_runs,
)
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.llvm.deciding import FLAG, LINKER, UNSAFE, items, make_state
from compiler_gym.tools.tune.llvm.fast import FAIR_FAST, LlvmFastDecisions
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
    command_with,
    list_refused_flags,
    plain_words,
)
from compiler_gym.tools.tune.llvm.making import LlvmMaker
from compiler_gym.tools.tune.llvm.meanings import meaning
from compiler_gym.tools.tune.llvm.possible import require_possible, require_tried
from compiler_gym.tools.tune.llvm.script import write_script
from compiler_gym.tools.tune.llvm.size import SizeDecisions
from compiler_gym.tools.tune.llvm.slowdown import Slowdown
from compiler_gym.tools.tune.llvm.whole import Whole, make_whole

__all__ = ["LlvmTuner"]

FAIR = "clang -Oz -flto, --gc-sections --icf=safe"
FAIR_PACKED = f"{FAIR}, packed"
"""The same with packed relocations, where they may be packed."""


class LlvmTuner:
    """Tunes one linked file at a time."""

    takes_program = False

    @property
    def version(self) -> str:
        """LLVM's."""
        return _llvm_version()

    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        """The clang that is installed, as C and as C++ compiler.

        Raises `ProjectError` where this version's clang, lld or a strip is missing.
        """
        require_build_tools()
        return _compiler_commands()

    def tune(self, subject: TuningSubject) -> Found:
        """Return the smallest, or the fastest, of what the search and the rivals make."""
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
            found = _by_recipe(linker, subject, rivals, subject.recipe)
        elif is_by_size:
            found = _small(linker, subject, rivals)
        else:
            found = tune_by_runs(LlvmFastDecisions(linker), subject, rivals)
        return replace(
            found, objects={binary.name_unit(unit): made for unit, made in objects.items()}
        )

    def build(self, binary: Binary, plan: BinaryPlan, folder: Path, *, jobs: int) -> Path:
        """Return the stripped binary that `plan` makes of `binary`."""
        require_possible(plan)
        linker = Linker(binary, folder, jobs)
        if plan.method in (SMALL, FAST):
            return build_plan(linker, plan)
        whole = make_whole(binary, binary.path, jobs=jobs, flags=plan.flags)
        return LlvmMaker(linker, whole, plan).make("built")

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` that names what of `plan` this tuner never decides."""
        require_possible(plan)

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes of `plan`, as `opt` takes each."""
        return tuple(split_passes(plan.passes))

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        """Return `plan` with the passes `steps`; with none, one that does nothing."""
        return replace(plan, passes=join_pipelines(steps) or CLEAR)

    def actions(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes and the options of `plan` that one module can have."""
        return tuple(action for action in make_state(plan) if action in items())

    def meaning(self, decision: str) -> Meaning:
        """Return what `decision` does, out of the tables that it is from."""
        return meaning(decision)

    def plain_words(self, plan: BinaryPlan) -> Sequence[str]:
        """Return clang's command for `plan`, where clang's own link-time optimisation makes it."""
        require_possible(plan)
        if plan.method not in (SMALL, FAST):
            raise PlanError(
                f"the plan of {plan.name} has the method {plan.method!r}, which no single command "
                "carries out: see reproduce.sh beside it"
            )
        return plain_words(plan)

    def command_with(self, plan: BinaryPlan, command: CompilerCommand) -> Sequence[str]:
        """Return clang's call for `command`, where clang's own link-time optimisation makes it."""
        self.plain_words(plan)
        return command_with(plan, _compiler_commands()[command.is_cxx], command)

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        """Return a shell script of LLVM's own tools that makes the same bytes."""
        require_possible(plan)
        return write_script(binary, plan)


def _compiler_commands() -> tuple[list[str], list[str]]:
    clang = clang_command()
    return clang, [*clang, "--driver-mode=g++"]


@cache
def _llvm_version() -> str:
    """Return LLVM's version, which a session is started to ask for."""
    with make("llvm-v0") as env:
        return f"llvm {env.compiler_version}"


def _small(linker: Linker, subject: TuningSubject, rivals: Mapping[str, Path]) -> Found:
    binary, measure = subject.binary, subject.measure
    whole = make_whole(binary, rivals["clang -Oz"], jobs=subject.jobs)
    sources = list_sources(binary, whole.units)
    bare = BinaryPlan(binary.name, PROGRAM, scope=_scope(whole), sources=sources)
    maker = LlvmMaker(linker, whole, bare)
    key = f"{subject.goal} {measure} {whole.benchmark().uri}"
    refused = UNSAFE if binary.is_shared or not subject.is_tested else ()
    layout = _layout(subject)
    words = [action.removeprefix(LINKER) for action in layout]
    known = build_plans(
        linker, list_known_plans(binary.name, sources, words, compiler=_llvm_version())
    )
    rivals = _with_packed(rivals, known)
    begins = min(known, key=lambda pair: measure.of(pair[1]), default=(bare, None))[0]
    decisions = SizeDecisions(
        maker, measure, layout, _beginnings(subject, begins), refused,
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
    known = [(rival_plan, rivals[FAIR]), *(known if subject.max_slowdown is None else ())]
    before, tuned = plan, (plan, path)
    plan, path = min((*known, tuned), key=lambda pair: measure.of(pair[1]))
    plan, path, speed, notes = _not_too_slow(linker, subject, whole, plan, path, rivals[FAIR])
    return Found(
        plan, path, rivals, search.first, subject.allowance.used, speed=speed, notes=notes,
        gains=search.gains if plan == before else {}, rival_plan=rival_plan,
    )  # fmt: skip


def _rival_plan(name: str, sources: tuple[SourceFile, ...]) -> BinaryPlan:
    """Return what makes the fair rival of a tuning for size."""
    return BinaryPlan(name, SMALL, linker=FOLDING, sources=sources)


def _layout(subject: TuningSubject) -> list[str]:
    """Return the actions that decide about the file."""
    binary = subject.binary
    words = choose_layout(binary, old_loaders=subject.old_loaders)
    words += choose_lld_layout(binary, subject.measure)
    unwinding = choose_unwinding(binary, is_dispensable=subject.no_unwind_tables)
    return [
        *(f"{FLAG}{flag}" for flag in unwinding),
        *(f"{LINKER}{word}" for word in words),
        *(f"{FLAG}{flag}" for flag in choose_front_end_flags(binary)),
    ]


def _beginnings(subject: TuningSubject, known: BinaryPlan) -> list[State]:
    """Return what the search starts from: a plan of an older version, what is best of all that is
    `known`, and what others won with.

    What only a linker can be told that runs the passes is not in it.
    """
    recipe = recipe_for(Goal.SIZE, _llvm_version())
    plans = [subject.start, known, None if recipe is None else recipe.plan]
    return list(dict.fromkeys(make_state(plan) for plan in plans if plan is not None))


def _with_packed(
    rivals: Mapping[str, Path], known: Sequence[tuple[BinaryPlan, Path]]
) -> dict[str, Path]:
    """Return `rivals` with the fair one also as packed relocations make it, before the last."""
    packed = next((path for plan, path in known if plan.linker == (*FOLDING, PACKED)), None)
    *others, fair = rivals.items()
    return dict([*others, *([(FAIR_PACKED, packed)] if packed else []), fair])


def _by_recipe(
    linker: Linker, subject: TuningSubject, rivals: Mapping[str, Path], recipe: BinaryPlan
) -> Found:
    """Return what `recipe` makes; where that is no smaller than the fair rival, the rival."""
    binary, fair = subject.binary, subject.measure.of(rivals[FAIR])
    plan = replace(recipe, sources=list_sources(binary, binary.units))
    path, notes = build_plan(linker, plan), tuple[str, ...]()
    rival_plan = _rival_plan(binary.name, plan.sources)
    if subject.measure.of(path) >= fair:
        plan, path = rival_plan, rivals[FAIR]
        notes = (f"the recipe does not make {binary.name} smaller: it is built as {FAIR}",)
    return Found(plan, path, rivals, fair, 1, notes=notes, rival_plan=rival_plan)


def _not_too_slow(
    linker: Linker, subject: TuningSubject, whole: Whole, plan: BinaryPlan, path: Path, fair: Path
) -> tuple[BinaryPlan, Path, dict[str, float], tuple[str, ...]]:
    if subject.max_slowdown is None or path == fair:
        return plan, path, {}, ()
    bound = Slowdown(linker, subject.run, whole, fair, subject.max_slowdown)
    kept = bound.within(plan, path)
    if kept is None or subject.measure.of(kept[1]) >= subject.measure.of(fair):
        rival = _rival_plan(plan.name, plan.sources)
        return rival, fair, {}, (*bound.notes, "the fair rival stays")
    return *kept, bound.speed, tuple(bound.notes)


def _rivals(
    linker: Linker, level: str, plain_objects: Mapping[Unit, Path], fair: str
) -> dict[str, Path]:
    """Return what the build's own flags and clang at `level` make; the last is called `fair`."""
    name = level.removeprefix("-")
    objects = linker.compile(f"{name}-flto-o", [level, "-flto"])
    links = {
        f"clang {level}": (name, plain_objects, ()),
        f"clang {level} -flto": (f"{name}-flto", objects, (level, "-flto")),
        fair: (f"{name}-flto-folded", objects, (level, "-flto", *FOLDING)),
    }

    def link(words: tuple[str, Mapping[Unit, Path], Sequence[str]]) -> Path:
        return linker.link(*words)

    with ThreadPoolExecutor(linker.jobs) as pool:
        made = pool.map(link, links.values())
        own = {"your flags": linker.strip_file("own", linker.folder / "original")}
        return own | dict(zip(links, made, strict=True))


def _scope(whole: Whole) -> str:
    with make("llvm-v0") as env:
        env.reset(benchmark=whole.benchmark())
        return env.send_param("llvm.get_scope_pipeline", "")
