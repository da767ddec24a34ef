# SPDX-License-Identifier: MIT
# Matplotlib types its arguments partially:
# pyright: reportUnknownMemberType=false
"""Draw how Autophase moves along clang's -Oz pipeline: ``python -m docs.plot_autophase``.

The pipeline is LLVM's own, applied to a bundled program pass by pass.
"""

import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations import AUTOPHASE_FEATURES
from compiler_gym.envs.llvm.toolchain.commands import split_pipeline

__all__ = ["autophase_along_oz"]

PROGRAM = "benchmark://cbench-v1/sha"
IMAGE = Path(__file__).with_name("images") / "autophase-oz.svg"
MOST_SHOWN = 8


def autophase_along_oz(program: str = PROGRAM) -> tuple[list[str], NDArray[np.int64]]:
    """Return the passes of -Oz and Autophase before the first and after each of them."""
    printed = subprocess.run(
        ["opt-22", "-passes=default<Oz>", "-print-pipeline-passes", "-disable-output"],
        input=b"", capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    passes = split_pipeline(printed.strip())
    with compiler_gym.make("llvm-v0", benchmark=program, observation_space="Autophase") as env:
        assert isinstance(env, LlvmEnv)
        first, _ = env.reset()
        rows = [first]
        for text in passes:
            env.send_param("llvm.apply_pipeline", text)
            rows.append(env.observation["Autophase"])
    return passes, np.array(rows)


def main() -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "compiler_gym"
    import matplotlib.pyplot as plt

    passes, values = autophase_along_oz()
    moved = (
        np.ptp(values, axis=0) / np.maximum(values.max(axis=0), 1) * np.log1p(values.max(axis=0))
    )
    chosen = np.argsort(-moved)[:MOST_SHOWN]
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    for column in chosen:
        axes.plot(values[:, column], label=AUTOPHASE_FEATURES[int(column)], drawstyle="steps-post")
    axes.set_xlabel(f"passes of -Oz applied to {PROGRAM.rpartition('/')[2]} ({len(passes)} in all)")
    axes.set_ylabel("count")
    axes.legend(fontsize="small", ncols=2)
    figure.savefig(IMAGE, metadata={"Date": None})
    print(IMAGE)


if __name__ == "__main__":
    main()
