# SPDX-License-Identifier: MIT
"""Draw the pictures of the guide to loop nests: ``python -m docs.draw_nests``.

The nests are made by the actions that the guide plays; the roofline has the GFLOPS of this machine,
so it is drawn again together with the numbers of the guide.
"""

from collections.abc import Iterator
from pathlib import Path

from compiler_gym_loop_tool import LoopToolEnv
from compiler_gym_loop_tool.pictures import roofline_svg

__all__ = ["STEPS", "draw"]

IMAGES = Path(__file__).with_name("images")
_TALLER = "up up up up up split_8 down swap_down swap_down unroll "
STEPS = {
    "naive": "",
    "rows": "split_4 down swap_down swap_down unroll",
    "vectors": "up up split_32 down swap_down swap_down vectorise",
    "taller": f"{'undo ' * 12}{_TALLER}up up split_32 down swap_down swap_down vectorise",
}
"""The actions of each step, from where the one before it ends, by the name of its picture."""


def draw() -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each picture; the roofline, with the slower nests, is last."""
    with LoopToolEnv(action_space="loops") as env:
        env.reset(benchmark="loop_tool://matmul/m=128,n=128,k=128")
        env.timing_seconds = 1
        reached: list[float] = []
        for name, words in STEPS.items():
            env.multistep([env.action_space[word] for word in words.split()])
            reached.append(float(env.observation["flops"]))
            yield name, env.tree_svg()
        # A ring as high as the dot would lie under it, and its number on the roof.
        below = [one for one in reached if one < reached[-1] / 2]
        yield "roofline", roofline_svg(env.observation["roofline"], below)


def main() -> None:
    for name, svg in draw():
        path = IMAGES / f"loop-tool-{name}.svg"
        path.write_text(f"{svg}\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
