# SPDX-License-Identifier: MIT
"""LLVM's part of a tuning: rivals by clang and lld, decisions by search, binaries of a plan."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from compiler_gym.builds import Binary, Unit, bytes_by_file, is_shared_library, sizes_of
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.commands import CLEAR, join_pipelines, split_passes
from compiler_gym.envs.llvm.tuning.linking import (
    FAST,
    FOLDING,
    PROGRAM,
    SMALL,
    Linker,
    plain_words,
    refused_flags,
    require_linker,
)
from compiler_gym.envs.llvm.tuning.making import Maker
from compiler_gym.envs.llvm.tuning.meanings import meaning
from compiler_gym.envs.llvm.tuning.possible import require_possible, require_tried
from compiler_gym.envs.llvm.tuning.script import script_of
from compiler_gym.envs.llvm.tuning.size import PassesAndOptions, split
from compiler_gym.envs.llvm.tuning.slowdown import Slowdown
from compiler_gym.envs.llvm.tuning.speed import SpeedSearch, build_plan, plan_of, profiles_in
from compiler_gym.envs.llvm.tuning.whole import Whole, make_whole
from compiler_gym.errors import PlanError
from compiler_gym.registration import make
from compiler_gym.tuning import (
    JOURNAL,
    BinaryPlan,
    Found,
    Journal,
    Meaning,
    SizeSearch,
    Subject,
    Tried,
    require_among,
    require_honoured,
    sources_of,
)

__all__ = ["LlvmTuner"]

FAIR = "clang -Oz -flto, --gc-sections --icf=all"
FAIR_FAST = "clang -O3 -flto, --gc-sections --icf=all"


class LlvmTuner:
    """Tunes one linked file at a time."""

    @property
    def version(self) -> str:
        """LLVM's."""
        with make("llvm-v0") as env:
            return f"llvm {env.compiler_version}"

    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        """The clang that is installed, as C and as C++ compiler."""
        clang = clang_command()
        require_linker()
        return clang, [*clang, "--driver-mode=g++"]

    def tune(self, subject: Subject) -> Found:
        """Return the smallest, or the fastest, of what the search and the rivals make."""
        require_honoured(subject.binary, refused_flags)
        linker = Linker(subject.binary, subject.folder, subject.jobs)
        if subject.recipe is not None:
            return _by_recipe(linker, subject, subject.recipe)
        return _small(linker, subject) if subject.goal.counts_bytes else _fast(linker, subject)

    def build(self, binary: Binary, plan: BinaryPlan, folder: Path, *, jobs: int) -> Path:
        """Return the stripped binary that `plan` makes of `binary`."""
        require_possible(plan)
        linker = Linker(binary, folder, jobs)
        if plan.method in (SMALL, FAST):
            return build_plan(linker, plan)
        whole = make_whole(binary, binary.path, jobs=jobs)
        return Maker(linker, whole, plan).make("built")

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` that names what of `plan` this tuner never decides."""
        require_possible(plan)

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes of `plan`, as `opt` takes each."""
        return tuple(split_passes(plan.passes))

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        """Return `plan` with the passes `steps`; with none, one that does nothing."""
        return replace(plan, passes=join_pipelines(steps) or CLEAR)

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

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        """Return a shell script of LLVM's own tools that makes the same bytes."""
        require_possible(plan)
        return script_of(binary, plan)


def _small(linker: Linker, subject: Subject) -> Found:
    binary = subject.binary
    objects = linker.compile("Oz-o", ["-Oz"])
    rivals = _rivals(linker, "-Oz", objects, FAIR)
    subject.watch_rivals(rivals)
    outside = _outside(rivals["clang -Oz"], objects)

    def watch(stage: str, best: Tried) -> None:
        subject.watch(stage, replace(best, cost=best.cost + outside))

    whole = make_whole(binary, rivals["clang -Oz"], jobs=subject.jobs)
    is_pic = is_shared_library(rivals[FAIR])
    benchmark = whole.benchmark()
    key = f"{subject.goal} {benchmark.uri}"
    search = SizeSearch(
        PassesAndOptions(benchmark, is_pic, subject.jobs, subject.seed),
        subject.allowance,
        Journal(
            subject.folder / JOURNAL,
            hashlib.sha256(key.encode()).hexdigest(),
            require_possible=lambda actions: require_tried(binary.name, actions),
        ),
        watch,
    )
    best = search.run()
    passes, options = split(best.actions)
    plan = BinaryPlan(
        binary.name,
        PROGRAM,
        _pipeline(passes),
        options,
        linker=FOLDING,
        scope=_scope(whole),
        sources=sources_of(binary, whole.units),
    )
    path = Maker(linker, whole, plan).make("tuned")
    rival_plan = BinaryPlan(binary.name, SMALL, linker=FOLDING, sources=plan.sources)
    if sizes_of(path).text >= sizes_of(rivals[FAIR]).text:
        plan, path = rival_plan, rivals[FAIR]
    plan, path, speed, notes = _not_too_slow(linker, subject, whole, plan, path, rivals[FAIR])
    return Found(
        plan, path, rivals, search.first, subject.allowance.used, speed=speed, notes=notes,
        objects={binary.name_of(unit): made for unit, made in objects.items()},
        rival_plan=rival_plan,
    )  # fmt: skip


def _by_recipe(linker: Linker, subject: Subject, recipe: BinaryPlan) -> Found:
    """Return what `recipe` makes; where that is no smaller than the fair rival, the rival."""
    binary = subject.binary
    objects = linker.compile("Oz-o", ["-Oz"])
    rivals = _rivals(linker, "-Oz", objects, FAIR)
    subject.watch_rivals(rivals)
    plan = replace(recipe, sources=sources_of(binary, binary.units))
    path, notes = build_plan(linker, plan), tuple[str, ...]()
    rival_plan = BinaryPlan(binary.name, SMALL, linker=FOLDING, sources=plan.sources)
    if sizes_of(path).text >= sizes_of(rivals[FAIR]).text:
        plan, path = rival_plan, rivals[FAIR]
        notes = (f"the recipe does not make {binary.name} smaller: it is built as {FAIR}",)
    return Found(
        plan, path, rivals, sizes_of(rivals[FAIR]).text, 1, notes=notes,
        objects={binary.name_of(unit): made for unit, made in objects.items()},
        rival_plan=rival_plan,
    )  # fmt: skip


def _not_too_slow(
    linker: Linker, subject: Subject, whole: Whole, plan: BinaryPlan, path: Path, fair: Path
) -> tuple[BinaryPlan, Path, dict[str, float], tuple[str, ...]]:
    if subject.max_slowdown is None or path == fair:
        return plan, path, {}, ()
    bound = Slowdown(linker, subject.run, whole, fair, subject.max_slowdown)
    kept = bound.within(plan, path)
    if kept is None or sizes_of(kept[1]).text >= sizes_of(fair).text:
        plan = BinaryPlan(plan.name, SMALL, linker=FOLDING, sources=plan.sources)
        return plan, fair, {}, (*bound.notes, "the fair rival stays")
    return *kept, bound.speed, tuple(bound.notes)


def _fast(linker: Linker, subject: Subject) -> Found:
    objects = linker.compile("O3-o", ["-O3"])
    rivals = _rivals(linker, "-O3", objects, FAIR_FAST)
    subject.watch_rivals(rivals)
    fair = rivals[FAIR_FAST]
    runs = [one.text for one in (subject.run, subject.train) if one is not None]
    key = f"speed {subject.binary.name} {hashlib.sha256(fair.read_bytes()).hexdigest()} {runs}"
    none = BinaryPlan(subject.binary.name, FAST)

    def require(actions: tuple[str, ...]) -> None:
        plan = plan_of(actions, none)
        require_possible(plan)
        if plan.profile:
            require_among(plan, "profile", [plan.profile], profiles_in(linker.folder))

    journal = Journal(
        subject.folder / JOURNAL,
        hashlib.sha256(key.encode()).hexdigest(),
        require_possible=require,
    )
    search = SpeedSearch(linker, subject, fair, journal)
    plan, path, speed = search.run()
    plan = replace(plan, sources=sources_of(subject.binary, subject.binary.units))
    rival_plan = BinaryPlan(plan.name, FAST, linker=FOLDING, sources=plan.sources)
    return Found(
        plan, path, rivals, sizes_of(fair).text, search.count, speed=speed,
        notes=tuple(search.notes),
        objects={subject.binary.name_of(unit): made for unit, made in objects.items()},
        rival_plan=rival_plan,
    )  # fmt: skip


def _rivals(
    linker: Linker, level: str, plain_objects: Mapping[Unit, Path], fair: str
) -> dict[str, Path]:
    """Return what the build's own flags and clang at `level` make; the last is called `fair`."""
    name = level.removeprefix("-")
    plain = linker.link(name, plain_objects, [])
    objects = linker.compile(f"{name}-flto-o", [level, "-flto"])
    return {
        "own flags": linker.stripped("own", linker.folder / "original"),
        f"clang {level}": plain,
        f"clang {level} -flto": linker.link(f"{name}-flto", objects, [level, "-flto"]),
        fair: linker.link(f"{name}-flto-folded", objects, [level, "-flto", *FOLDING]),
    }


def _outside(linked: Path, objects: Mapping[Unit, Path]) -> int:
    """Return the bytes of ``.text`` that are not of the binary's sources: nothing changes them."""
    ours = {str(path) for path in objects.values()}
    inside = sum(size for file, size in bytes_by_file(linked).items() if file in ours)
    return sizes_of(linked).text - inside


def _pipeline(passes: Sequence[str]) -> str:
    """Return what `opt` takes; of no passes one that does nothing, as nothing means the default."""
    with make("llvm-v0", action_space="PassesAndCodegen") as env:
        return env.action_space.pipeline([env.action_space[name] for name in passes]) or CLEAR


def _scope(whole: Whole) -> str:
    with make("llvm-v0") as env:
        env.reset(benchmark=whole.benchmark())
        return env.send_param("llvm.get_scope_pipeline", "")
