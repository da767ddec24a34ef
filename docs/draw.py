# SPDX-License-Identifier: MIT
"""Draw the pictures of the pages: ``python -m docs.draw`` writes docs/images/*.svg.

Episodes are played, so their pictures show what really happened.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import compiler_gym
from docs.drawing import INK, SOFT, Drawing
from docs.tree_page import layers
from scripts.projects.ladder import read_ladder

__all__ = ["PICTURES", "episode_of_llvm"]

IMAGES = Path(__file__).with_name("images")
BLUE, RED = "#1d4ed8", "#b91c1c"
WIDTH = 760


def loop() -> Drawing:
    """Agent and environment."""
    d = Drawing(WIDTH, 230, "An agent chooses an action; the environment answers")
    d.box(24, 70, 170, 90, ("agent", "a policy, a search,", "or you"), "blue")
    d.box(496, 24, 240, 182, (), "green")
    d.text(616, 52, "environment", bold=True, anchor="middle")
    d.box(516, 70, 200, 52, ("program", "one benchmark, as IR"))
    d.box(516, 136, 200, 52, ("compiler", "LLVM, GCC, or yours"))
    d.arrow([(194, 95), (496, 95)])
    d.text(345, 84, "action: run this pass", anchor="middle")
    d.arrow([(496, 140), (194, 140)])
    d.text(345, 162, "observation: what it looks like now", anchor="middle")
    d.text(345, 182, "reward: what the action saved", anchor="middle")
    return d


def reward() -> Drawing:
    """How a reward comes from costs."""
    passes = ("sroa", "early-cse", "simplifycfg")
    measured, level = _costs(passes)
    costs = [*zip(("reset", *passes), measured, strict=True), ("-Oz", level)]
    d = Drawing(WIDTH, 280, "Rewards are differences of a cost, as a share of what -Oz saves")
    start = measured[0]
    d.text(30, 32, "instructions of the program: the cost", bold=True)
    for number, (name, cost) in enumerate(costs):
        x, height = 60 + 140 * number, cost / start * 150
        color = SOFT if name == "-Oz" else BLUE
        d.parts.append(
            f'<rect x="{x}" y="{230 - height:.0f}" width="70" height="{height:.0f}" fill="{color}" '
            f'fill-opacity="0.{3 if name == "-Oz" else 6}"/>'
        )
        d.text(x + 35, 222 - height, f"{cost:g}", anchor="middle", bold=True)
        d.text(x + 35, 250, name, anchor="middle")
        if 0 < number < 4:
            share = (costs[number - 1][1] - cost) / (start - level)
            d.text(x + 35, 268, f"reward {share:+.2f}", anchor="middle", size=12, color=SOFT)
    return d


def state() -> Drawing:
    """What a state is."""
    passes = ("sroa", "early-cse")
    measured, level = _costs(passes)
    earned = (measured[0] - measured[-1]) / (measured[0] - level)
    d = Drawing(WIDTH, 200, "A state is a benchmark and the actions: enough to make the same bytes")
    d.box(30, 40, 240, 120, ("state", "benchmark: cbench-v1/crc32", "actions: sroa, early-cse",
                             f"reward: {earned:.2f} of -Oz"), "sand")  # fmt: skip
    d.arrow([(270, 100), (350, 100)])
    d.text(310, 90, "replay", anchor="middle", size=13)
    d.box(350, 60, 170, 80, ("environment", "any machine,", "any day"), "green")
    d.arrow([(520, 100), (590, 100)])
    d.box(590, 60, 140, 80, ("the same IR", "byte for byte"))
    return d


def architecture() -> Drawing:
    """The layers of the package, the top one first."""
    names = layers()
    d = Drawing(WIDTH, 40 + 40 * len(names) + 24, "The layers of the package")
    for number, layer in enumerate(names):
        d.box(
            24,
            20 + 40 * number,
            WIDTH - 48,
            32,
            (", ".join(layer),),
            ("blue", "green", "sand")[number % 3],
        )
    d.text(
        24, 38 + 40 * len(names), "A line imports only from lines below it. A test checks that.",
        color=SOFT,
    )  # fmt: skip
    return d


def step() -> Drawing:
    """The life of a step."""
    d = Drawing(WIDTH, 330, "The life of a step, from env.step to the compiler and back")
    d.box(16, 16, 316, 298, ())
    d.text(174, 40, "your process", bold=True, anchor="middle")
    d.box(496, 16, 248, 298, ())
    d.text(620, 40, "worker process", bold=True, anchor="middle")
    d.box(34, 56, 280, 52, ("1. env.step(action)", "wrappers, then core: the episode"), "blue")
    d.box(34, 140, 280, 52, ("2. service", "a request with a deadline"), "blue")
    d.box(34, 242, 280, 52, ("5. rewards", "the cost before minus the cost after"), "blue")
    d.box(514, 140, 212, 52, ("3. session", "one compiler's side"), "green")
    d.box(514, 226, 212, 68, ("4. compiler", "runs one pass,", "computes what was asked"), "green")
    d.arrow([(174, 108), (174, 140)])
    d.arrow([(314, 166), (514, 166)])
    d.arrow([(620, 192), (620, 226)])
    d.arrow([(514, 268), (314, 268)])
    d.text(414, 156, "one message", anchor="middle", size=13, color=SOFT)
    d.text(414, 240, "observations,", anchor="middle", size=13, color=SOFT)
    d.text(414, 257, "or a typed error", anchor="middle", size=13, color=SOFT)
    return d


def processes() -> Drawing:
    """The process model."""
    d = Drawing(WIDTH, 290, "A zygote has the compiler loaded and forks a worker per environment")
    d.box(20, 42, 160, 64, ("your process", "holds no compiler"), "blue")
    d.box(264, 42, 170, 64, ("zygote", "LLVM loaded once"), "sand")
    for number, name in enumerate(("worker: env 1", "worker: env 2", "worker: fork of env 2")):
        y = 20 + 92 * number
        d.box(536, y, 204, 56, (name, "own memory and limits"), "green")
    d.arrow([(434, 62), (536, 62)])
    d.arrow([(434, 88), (485, 88), (485, 140), (536, 140)])
    d.arrow([(638, 168), (638, 204)])
    d.text(650, 191, "env.fork()", size=13, color=SOFT)
    d.arrow([(180, 74), (264, 74)])
    d.text(222, 64, "starts", anchor="middle", size=13, color=SOFT)
    d.text(485, 50, "forks", anchor="middle", size=13, color=SOFT)
    d.text(20, 232, "Each worker answers your process over a socket of its own.")
    d.text(20, 254, "A worker that crashes, hangs or takes too much memory ends alone.")
    return d


def _steps(
    labels: Sequence[str], costs: Sequence[float], unit: str, level: tuple[str, float]
) -> Drawing:
    """Draw `costs` after each of `labels`, the first being the reset, against a `level`."""
    d = Drawing(WIDTH, 340, f"{unit} after each action of an episode")
    low, high = 0, max(*costs, level[1]) * 1.08
    gap = (WIDTH - 180) / (len(costs) - 1)

    def at(number: int, cost: float) -> tuple[float, float]:
        return round(70 + gap * number, 1), round(235 - (cost - low) / (high - low) * 190, 1)

    d.text(20, 30, unit, bold=True)
    d.line([at(0, level[1]), (WIDTH - 105, at(0, level[1])[1])], RED, dashed=True)
    d.text(WIDTH - 98, at(0, level[1])[1] + 5, f"{level[0]} {_short(level[1])}", color=RED, size=13)
    stairs: list[tuple[float, float]] = []
    for number, cost in enumerate(costs):
        if number:
            stairs.append((at(number, cost)[0], stairs[-1][1]))
        stairs.append(at(number, cost))
    d.line(stairs, BLUE, width=2.2)
    for number, (label, cost) in enumerate(zip(labels, costs, strict=True)):
        x, y = at(number, cost)
        d.dot(x, y, BLUE)
        if number == 0 or _short(cost) != _short(costs[number - 1]):
            d.text(x + 4, y - 9, _short(cost), size=13)
        d.parts.append(
            f'<text x="{x}" y="256" font-size="13" fill="{SOFT}" text-anchor="end" '
            f'transform="rotate(-32 {x} 256)">{label}</text>'
        )
    return d


def _short(cost: float) -> str:
    """Return a number that fits beside a line: 1,049, 1.31 or 10.5 M."""
    if cost >= 1e6:
        return f"{cost / 1e6:.3g} M"
    return f"{cost:.3g}" if cost < 100 and cost != round(cost) else f"{cost:,.0f}"


def episode_of_llvm() -> Drawing:
    """Ten passes on crc32."""
    names = "sroa early-cse simplifycfg instcombine reassociate gvn licm indvars adce globaldce"
    costs, level = _costs(names.split())
    return _steps(["reset", *names.split()], costs, "instructions", ("-Oz", level))


def _costs(passes: Sequence[str]) -> tuple[list[float], float]:
    """Return the instructions of crc32 at reset and after each of `passes`, and after -Oz."""
    with compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32") as env:
        env.reset()
        costs = [float(env.observation["IrInstructionCount"])]
        for name in passes:
            env.multistep([env.action_space[name]])
            costs.append(float(env.observation["IrInstructionCount"]))
        return costs, float(env.observation["IrInstructionCountOz"])


def episode_of_the_inliner() -> Drawing:
    """LLVM's own choices, question by question, against never inlining."""
    ends: dict[str, float] = {}
    asked: list[str] = []
    with compiler_gym.make("llvm-inline-v0", benchmark="cbench-v1/bitcount") as env:
        for choice in ("default", "inline", "no-inline"):
            env.reset()
            asked, terminated = [], False
            while not terminated:
                site = env.observation["CallSite"]
                asked.append(str(site["callee"]))
                terminated = env.step(env.action_space[choice])[2]
            ends[choice] = float(env.observation["IrInstructionCount"])
        level = float(env.observation["IrInstructionCountOz"])
    d = Drawing(WIDTH, 210, "How three ways to answer the inliner's questions end")
    d.text(20, 30, "instructions at the end, if every question gets the same answer", bold=True)
    top = max(*ends.values(), level)
    rows = [*ends.items(), ("clang -Oz", level)]
    for number, (name, cost) in enumerate(rows):
        y = 48 + 38 * number
        d.text(110, y + 18, name, anchor="end")
        width = cost / top * 540
        fill = SOFT if name == "clang -Oz" else BLUE
        d.parts.append(
            f'<rect x="122" y="{y}" width="{width:.0f}" height="26" fill="{fill}" '
            'fill-opacity="0.55"/>'
        )
        d.text(130 + width, y + 18, f"{cost:,.0f}", bold=True)
    return d


def episode_of_tails() -> Drawing:
    """Passes on one function after -Oz."""
    names = "load-store-vectorizer loop-reduce gvn early-cse simplifycfg".split()
    program = "cbench-v1/gsm?function=lpc_analysis"
    with compiler_gym.make("llvm-tails-v0", benchmark=program) as env:
        env.reset()
        costs = [float(env.observation["FunctionInstructionCount"])]
        for name in names:
            env.multistep([env.action_space[name]])
            costs.append(float(env.observation["FunctionInstructionCount"]))
    return _steps(["reset", *names], costs, "instructions of the function", ("-Oz", costs[0]))


def episode_of_rules() -> Drawing:
    """Rules about inlining, one after the other."""
    rules = ["inline = cost < 40", "inline = cost < 15", "inline = cost < 0"]
    with compiler_gym.make("llvm-rule-v0", benchmark="rule-programs-v0/small") as env:
        env.reset()
        costs = [float(env.observation["LoadedBytes"])]
        for rule in rules:
            env.step(rule)
            costs.append(float(env.observation["LoadedBytes"]))
    return _steps(["reset", *rules], costs, "loaded bytes", ("no rule", costs[0]))


def episode_of_gcc() -> Drawing:
    """Options one after the other on crc32."""
    options = "-Os -fno-gcse -fno-ivopts -fno-tree-ter -fipa-pta -fno-inline -fno-align-functions"
    with compiler_gym.make("gcc-v0", benchmark="cbench-v1/crc32") as env:
        env.reset()
        costs = [float(env.observation["text_size"])]
        for name in options.split():
            env.step(env.action_space[name])
            costs.append(float(env.observation["text_size"]))
        level = float(env.observation["text_size_os"])
    return _steps(["-O0", *options.split()], costs, "bytes of machine code", ("-Os", level))


def episode_of_loop_tool() -> Drawing:
    """Changes of a matmul's loops, by the static guess: times would differ each time."""
    words = "split_4 down swap_down swap_down unroll up up split_32 down swap_down swap_down"
    names = [*words.split(), "vectorise"]
    program = "loop_tool://matmul/m=128,n=128,k=128"
    with compiler_gym.make("loop_tool-v0", action_space="loops", benchmark=program) as env:
        env.reset()
        rates = [float(env.observation["flops_deterministic"])]
        for name in names:
            env.step(env.action_space[name])
            rates.append(float(env.observation["flops_deterministic"]))
    return _steps(
        ["reset", *names], rates, "GFLOPS, by a model without a clock", ("reset", rates[0])
    )


def episode_of_mlir() -> Drawing:
    """A schedule of a matmul, by the static cost."""
    names = ["block-8x32x4", "vectorize-operation"]
    with compiler_gym.make("mlir-v0", action_space="Schedule") as env:
        env.reset(benchmark="linalg-v0/matmul/128x128x128")
        costs = [float(env.observation["StaticCost"])]
        for name in names:
            env.step(env.action_space[name])
            costs.append(float(env.observation["StaticCost"]))
    return _steps(["reset", *names], costs, "instructions that run, estimated", ("reset", costs[0]))


def projects() -> Drawing:
    """Loaded bytes of real programs: with usual flags, with better flags, and tuned."""
    rows = sorted(read_ladder().items(), key=lambda row: row[1]["tune"] / row[1]["-O2"])
    d = Drawing(480, 84 + 62 * len(rows), "Loaded bytes of real programs, with -O2 and tuned")
    d.text(20, 30, f"{len(rows)} real programs, bytes loaded", bold=True, size=17)
    d.text(20, 52, "light: -O2, dark: -Oz -flto and three linker flags", color=SOFT, size=15)
    d.text(20, 72, "blue: compiler-gym tune", color=BLUE, size=15, bold=True)
    for number, (name, sizes) in enumerate(rows):
        y = 84 + 62 * number
        d.text(20, y + 32, name, bold=True, size=16)
        steps = (("-O2", SOFT, 0.25), ("baseline, packed", SOFT, 0.5), ("tune", BLUE, 0.85))
        for at, (step, color, opacity) in enumerate(steps):
            d.parts.append(
                f'<rect x="90" y="{y + 18 * at}" width="{280 * sizes[step] / sizes["-O2"]:.1f}" '
                f'height="16" rx="2" fill="{color}" fill-opacity="{opacity}"/>'
            )
            text_color = "#ffffff" if step == "tune" else INK
            d.text(96, y + 13 + 18 * at, f"{sizes[step]:,}", size=13, color=text_color)
        gain = sizes["tune"] / sizes["-O2"] - 1
        d.text(460, y + 34, f"{gain:+.0%}".replace("-", "\u2212"),
               bold=True, size=18, anchor="end", color=BLUE)  # fmt: skip
    return d


PICTURES: dict[str, Callable[[], Drawing]] = {
    "concept-loop": loop,
    "concept-reward": reward,
    "concept-state": state,
    "architecture-layers": architecture,
    "architecture-step": step,
    "architecture-processes": processes,
    "projects": projects,
    "episode-llvm-v0": episode_of_llvm,
    "episode-llvm-inline-v0": episode_of_the_inliner,
    "episode-llvm-rule-v0": episode_of_rules,
    "episode-llvm-tails-v0": episode_of_tails,
    "episode-gcc-v0": episode_of_gcc,
    "episode-loop_tool-v0": episode_of_loop_tool,
    "episode-mlir-v0": episode_of_mlir,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.draw", description=__doc__)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE")
    for name in parser.parse_args().pictures or PICTURES:
        PICTURES[name]().save(IMAGES / f"{name}.svg")
        print(IMAGES / f"{name}.svg")


if __name__ == "__main__":
    main()
