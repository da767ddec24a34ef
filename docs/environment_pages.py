# SPDX-License-Identifier: MIT
"""The page of each environment: what to do, see and earn, an episode, versions, how to cite.

What is said of spaces is asked of the environment; only the sentences below are written by hand.
"""

from collections.abc import Iterator
from typing import NamedTuple

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.registration import Compiler, compilers
from docs.site import release
from docs.site.pages import guide

__all__ = ["SAID", "citation", "environment_pages"]


class Said(NamedTuple):
    """What nobody can ask an environment."""

    story: str
    end: str
    guide: str
    picture: str
    """What the picture shows."""
    versions: str
    example: str


CHANGING = ("LegalMoves",)
"""Action spaces that hold what makes sense now: their size at first says nothing."""

SAID = {
    "llvm": Said(
        "A program is one module of LLVM IR, as clang makes it before it optimises.\n"
        "Each step runs one pass of LLVM 22's middle end on it, with LLVM's default parameters.",
        "Never by itself: the set of passes has no last one. Set a limit with `TimeLimit`, or stop "
        "when nothing is saved any more. A pass that crashes or hangs truncates the episode.",
        "observations",
        "The number of instructions after each of ten passes.",
        "`v0` keeps the name and the meaning it has in CompilerGym 0.2.5; the passes are those of "
        "LLVM 22.",
        'env.reset(benchmark="cbench-v1/crc32")\n'
        'env.multistep([env.action_space[name] for name in ("sroa", "early-cse", "simplifycfg")])',
    ),
    "llvm-inline": Said(
        "LLVM's standard pipeline runs, and stops where its inliner would decide about a call.\n"
        "Each step answers for one call: inline it, leave it, or do as LLVM would.",
        "When the inliner has asked about every call and the rest of the pipeline has run.",
        "inlining",
        "One program's number of instructions at the end, if every question gets one answer.",
        "`v0` is the first.",
        'env.reset(benchmark="cbench-v1/bitcount")\nenv.step(env.action_space["inline"])',
    ),
    "llvm-tails": Said(
        "A program is one function in its module, after the whole pipeline of `clang -Oz`.\n"
        "Each step runs one pass on this function alone. `?function=NAME` in the address of the "
        "program chooses the function; otherwise each reset draws one.\n"
        "The best prefix of an episode counts, so no episode ends below `clang -Oz`.",
        "Never by itself: set a limit with `TimeLimit`, or stop at any time, which costs nothing.",
        "passes",
        "Instructions of one function after each of five passes.",
        "`v0` is the first.",
        'env.reset(benchmark="cbench-v1/gsm?function=lpc_analysis")\n'
        'env.step(env.action_space["load-store-vectorizer"])',
    ),
    "llvm-rule": Said(
        "A program is a set of C and C++ programs, linked by stock `ld.lld` with the size plug-in."
        "\nEach step gives the linker a rule: a formula or C++ source that makes its decisions.",
        "When a rule breaks a program: the reward of the episode is taken back, and the "
        "observation `RuleProblem` names the program and the function.",
        "rules",
        "Loaded bytes of the programs of `small` with no rule, and with a rule about inlining.",
        "`v0` is the first.",
        'env.reset(benchmark="rule-programs-v0/small")\nenv.step("inline = cost < 0")',
    ),
    "gcc": Said(
        "A program is C source, preprocessed once. Its state is a setting of the options of a GCC:"
        "\nthe level, flags and parameters. Each step changes the setting.",
        "Never by itself: set a limit, or stop when nothing is saved any more.",
        "gcc",
        "The bytes of the object file's code after each option.",
        "`v0` keeps the name and the meaning it has in CompilerGym 0.2.5. The options are read "
        "from the GCC at hand, so another GCC has other actions.",
        'env.reset(benchmark="cbench-v1/crc32")\nenv.step(env.action_space["-Os"])',
    ),
    "loop_tool": Said(
        "A program is a nest of loops over tensors: an addition, a matmul, a layer of a network.\n"
        "Each step moves a cursor or changes the loop at it; the nest is compiled in process, "
        "checked against numpy and timed whenever a time is asked for.\n"
        "Its compiler is a package of its own: `pip install 'compiler-gym-next[jit]'`.",
        "Never by itself: set a limit, or stop when nothing gets faster any more.",
        "loop-tool",
        "GFLOPS of a matmul of 128 by 128 by 128 after each action, by a model that runs nothing. "
        "More is better.",
        "`v0` keeps the name and the meaning it has in CompilerGym 0.2.5 (spaces `simple` and "
        "`split`); the space `loops` is that of LoopTune, and new here.",
        'env.reset()\nenv.multistep([env.action_space[name] for name in ("toggle_mode", "up")])',
    ),
    "mlir": Said(
        "A program is a module of operations on whole tensors (MLIR's dialect `linalg`).\n"
        "A *schedule* says how they are computed: in which blocks, in which order, in vectors.\n"
        "Each step applies a transformation to one operation; the schedule so far is a script of "
        "the transform dialect.\n"
        "The program is compiled in process, checked against numpy and timed whenever a time is "
        "asked for.\n"
        "It needs MLIR's Python bindings: `pip install 'compiler-gym-next[mlir]'`.",
        "With the action `stop`, with an empty line, and in the space of CompilerGym 0.2.5 after "
        "one step. A wrong result, a crash of MLIR, or a line that it refuses truncates the "
        "episode.",
        "mlir",
        "Instructions that a matmul of 128 by 128 by 128 runs, estimated after each action.",
        "`v0` keeps the name and the meaning it has in CompilerGym 0.2.5 (space "
        "`MatrixMultiplication`). [What is called what]"
        "(../../../packages/mlir/docs/mlir-porting.md) there, in MLIR-RL and in XTC.",
        'env.reset(benchmark="linalg-v0/matmul/128x128x128", reward_space="LogSpeedup")\n'
        'env.step(env.action_space["block-8x32x4"])\n'
        'env.step(env.action_space["vectorize-operation"])\n'
        'print(env.episode_reward, env.observation["GflopsPerSecond"])',
    ),
}


OPEN = ("Marks", "MarksAndCodegen")
"""Action spaces that also have actions for each part of a program."""


def environment_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page."""
    for compiler in compilers().values():
        if compiler.name in SAID:
            with compiler_gym.make(compiler.environments[0].id) as env:
                yield f"environments/{compiler.environments[0].id}.md", _page(compiler, env)


def _page(compiler: Compiler, env: CompilerEnv) -> str:
    said, name, own = SAID[compiler.name], compiler.environments[0].id, compiler.name
    import_line = f'env = compiler_gym.make("{name}")'
    lines = [
        f"# {name}",
        "",
        f"{compiler.description}.",
        said.story,
        "",
        f"![{said.picture}](../../images/episode-{name}.svg)",
        "",
        f"{said.picture}",
        "",
        "| | |",
        "| --- | --- |",
        f"| Make it | `{import_line}` |",
        f"| Action space | {_actions(env)} |",
        f"| Observation space | one of [{len(env.observation.spaces)}]"
        f"(../{own}-observations.md), chosen with `observation_space=` |",
        f"| Reward | one of [{len(env.reward.spaces)}](../{own}-rewards.md), chosen with "
        "`reward_space=` |",
        f"| Programs | [datasets](../{own}-datasets.md), or your own |",
        "",
        "## Actions",
        "",
        "| name | actions | what it is |",
        "| --- | --: | --- |",
    ]
    specs = env.episode.selection.action_specs
    for space in env.action_spaces:
        size = f"{space.n:,}" if hasattr(space, "n") else "many"
        if space.name in OPEN:
            size += " and more, by the program"
        if own == "gcc":
            size = "differs by GCC"
        if space.name in CHANGING:
            size = "changing"
        chosen = " (the default)" if space is env.action_space else ""
        lines.append(f"| `{space.name}`{chosen} | {size} | {specs[space.name].description} |")
    return "\n".join(
        [
            *lines,
            "",
            f"[All of them]({f'../{own}-actions.md'}), with what each does.",
            "",
            "## End of an episode",
            "",
            said.end,
            "",
            "## Example",
            "",
            "```python",
            "import compiler_gym",
            "",
            import_line,
            said.example,
            "print(env.commandline())",
            "env.close()",
            "```",
            "",
            f"[The guide]({guide(said.guide, 'reference/environments/x.md')}) goes on from here.",
            "",
            "## Ids",
            "",
            "| id | observation | reward |",
            "| --- | --- | --- |",
            *(
                f"| `{one.id}` | {_given(one.kwargs.get('observation_space'))} "
                f"| {_given(one.kwargs.get('reward_space'))} |"
                for one in compiler.environments
            ),
            "",
            "## Versions",
            "",
            said.versions,
            "",
            *citation(),
        ]
    )


def _actions(env: CompilerEnv) -> str:
    count = getattr(env.action_space, "n", None)
    kind = type(env.action_space).__name__ if count is None else f"Discrete({count})"
    return f"`{kind}`: [`{env.action_space.name}`](#actions), or another of the table below"


def _given(name: object) -> str:
    return "yours to choose" if name is None else f"`{name}`"


def citation() -> list[str]:
    """Return the lines that say how to cite."""
    return [
        "## How to cite",
        "",
        "This library, by its version, and the paper whose interface it continues:",
        "",
        "```bibtex",
        "@software{compiler_gym,",
        "  title = {compiler_gym: environments for compiler optimisation on LLVM 22},",
        "  author = {The compiler\\_gym authors},",
        f"  version = {{{release()}}},",
        "}",
        "@inproceedings{CompilerGym,",
        "  title = {{CompilerGym}: Robust, Performant Compiler Optimization",
        "           Environments for {AI} Research},",
        "  author = {Cummins, Chris and Wasti, Bram and Guo, Jiadong and Cui, Brandon and",
        "            Ansel, Jason and Gomez, Sahir and Jain, Somya and Liu, Jia and",
        "            Teytaud, Olivier and Steiner, Benoit and Tian, Yuandong and Leather, Hugh},",
        "  booktitle = {CGO},",
        "  year = {2022},",
        "}",
        "```",
        "",
    ]
