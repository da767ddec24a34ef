# SPDX-License-Identifier: MIT
"""Record the build of Debian's zlib as a dataset, and shrink what was recorded."""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import CorpusDataset, import_corpus
from compiler_gym.search import Budget, SearchResult, run_search

CC = "compiler-gym cc"
BIN = Path(sys.executable).parent
"""Where this program is; a path with a blank would not do as a part of ``CC``."""
MIRROR = "deb http://deb.debian.org/debian bookworm main"


def fetch(package: str, folder: Path) -> Path:
    """Fetch Debian's source of `package` without touching this system's lists; unpack it."""
    lists = folder / "apt"
    for needed in ("state/lists/partial", "cache/archives/partial"):
        (lists / needed).mkdir(parents=True, exist_ok=True)
    (lists / "sources.list").write_text(MIRROR.replace("deb ", "deb-src ", 1) + "\n")
    apt = [
        "apt-get",
        "-qq",
        *_option("Dir::Etc::sourcelist", lists / "sources.list"),
        *_option("Dir::Etc::sourceparts", "/dev/null"),
        *_option("Dir::State", lists / "state"),
        *_option("Dir::State::status", "/var/lib/dpkg/status"),
        *_option("Dir::Cache", lists / "cache"),
        *_option("APT::Sandbox::User", "root"),
    ]
    run([*apt, "update"], folder)
    run([*apt, "source", "--download-only", package], folder)
    (archive,) = folder.glob(f"{package}_*.orig.tar.*")
    source = folder / "source"
    source.mkdir()
    run(["tar", "-xf", str(archive), "-C", str(source)], folder)
    (top,) = source.iterdir()
    return top


def _option(name: str, value: object) -> tuple[str, str]:
    return "-o", f"{name}={value}"


def build(source: Path, recorded: Path) -> None:
    """Build as anybody would, with our stand-in as the compiler; then run the package's tests."""
    run(["./configure"], source, CC=CC)
    run(["make", f"CC={CC}"], source, COMPILER_GYM_CC_OUTPUT=str(recorded))
    run(["make", f"CC={CC}", "test"], source)


def run(command: Sequence[str], folder: Path, **variables: str) -> None:
    """Run `command` in `folder`; show its output only when it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")


def record(source: Path, recorded: Path, name: str, site: Path) -> CorpusDataset:
    """Build `source` and return what was compiled as the dataset `name`."""
    build(source, recorded)
    report = import_corpus(name, recorded / "modules", site_data_base=site)
    print(f"{report.added} programs of {source.name}, {report.duplicates} recorded twice")
    return CorpusDataset(report.path)


def shrink(dataset: CorpusDataset, seconds: float) -> list[SearchResult]:
    """Search for a smaller form of every program, for `seconds` together."""

    def make_env() -> CompilerEnv:
        env = compiler_gym.make(
            "llvm-v0", action_space="PassesAndPipelines", reward_space="IrInstructionCount"
        )
        env.datasets.add(dataset)
        return env

    with make_env() as env:
        oz = env.action_space["-Oz"]
    return run_search(
        make_env,
        list(dataset.benchmark_uris()),
        budget=Budget(seconds=seconds),
        starts=[[oz]],
    )


def show(results: list[SearchResult], dataset: CorpusDataset) -> None:
    """Print how many instructions every program has at first, after -Oz, and as it was found."""
    print(f"{'program':<44} {'first':>7} {'-Oz':>7} {'found':>7}")
    with compiler_gym.make("llvm-v0") as env:
        env.datasets.add(dataset)
        for result in results:
            env.reset(benchmark=result.benchmark)
            first, oz = (
                env.observation[name] for name in ("IrInstructionCount", "IrInstructionCountOz")
            )
            found = first - round(result.reward)
            print(f"{result.benchmark.partition('://')[2]:<44} {first:>7} {oz:>7} {found:>7}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="a folder for everything")
    parser.add_argument("--package", default="zlib")
    parser.add_argument("--seconds", type=float, default=30.0, help="of search, for all programs")
    options = parser.parse_args()
    output = options.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("COMPILER_GYM_SITE_DATA", str(output / "site"))
    source = fetch(options.package, output)
    site = Path(os.environ["COMPILER_GYM_SITE_DATA"])
    dataset = record(source, output / "recorded", f"{options.package}-v0", site)
    show(shrink(dataset, options.seconds), dataset)


if __name__ == "__main__":
    main()
