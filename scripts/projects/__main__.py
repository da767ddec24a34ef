# SPDX-License-Identifier: MIT
"""``python -m scripts.projects``: fetch, list, test and measure real projects.

python -m scripts.projects fetch --into /tmp/projects            sources, scripts, inputs
python -m scripts.projects sizes --into /tmp/projects lua xz     bytes of linked binaries
python -m scripts.projects speeds --into /tmp/projects --rounds 5
python -m scripts.projects random --compilations 500             what blind chance finds for size
python -m scripts.projects check --into /tmp/projects            the projects' own tests
python -m scripts.projects ladder --compilations 60              the table on the home page
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from compiler_gym.files.paths import cache_path
from compiler_gym.statistics import geometric_mean
from scripts.projects.building import BUILDS, Build, build, by_recipe, run
from scripts.projects.fetching import fetch, make_inputs
from scripts.projects.ladder import measure_ladder
from scripts.projects.measuring import instructions, seconds, sizes
from scripts.projects.random_search import random_text
from scripts.projects.table import Project, chosen

_SIZE_BASELINE = "clang -Oz -flto, folded"
_SPEED_BASELINE = "clang -O3 -flto"


def fetch_all(wanted: Sequence[Project], into: Path) -> None:
    """Fetch `wanted` and write a note of what is ready."""
    make_inputs(into)
    for project in wanted:
        fetch(project, into)
        _note(into)
        print(f"{project.name}: {into / project.name}", flush=True)


def _note(into: Path) -> None:
    lines = [
        "Each project NAME: NAME/source (copy it: builds happen in the copy), and",
        "NAME/build.sh, test.sh, bench.sh, to run in the copy; they read CC, CFLAGS, LDFLAGS, AR,",
        "RANLIB, PART (a benchmark does one PART-th) and RUN (words before the judged binary).",
        "",
    ]
    ready = [project for project in chosen(()) if (into / project.name / "bench.sh").exists()]
    lines += [f"{row.name:8} {row.binary:14} {row.about}" for row in ready]
    (into / "README.txt").write_text("\n".join(lines) + "\n")


def check_all(wanted: Sequence[Project], into: Path, made_by: Sequence[Build]) -> None:
    """Run the tests of `wanted` on each build, and compare what their benchmarks print."""
    for project in wanted:
        printed: set[bytes] = set()
        for way in made_by:
            folder = build(project, way, into)
            log = folder.with_name(f"{folder.name}.test.log")
            run(project.test, folder, into, variables=way.variables, log=log)
            printed.add(seconds(project, folder, into, part=16)[1])
            print(f"{project.name}: {way.name}: tests pass", flush=True)
        if len(printed) > 1:
            raise SystemExit(f"{project.name}: the builds print different things")


def print_sizes(wanted: Sequence[Project], into: Path, made_by: Sequence[Build]) -> None:
    """Print the bytes of code and of the whole file, of each build, linked and stripped."""
    found = {
        (project.name, way.name): sizes(build(project, way, into) / project.binary)
        for project in wanted
        for way in made_by
    }
    for title, of in (("`.text`", "text"), ("whole file", "total")):
        _print_table(
            f"Bytes, linked and stripped: {title}",
            wanted,
            made_by,
            lambda name, way, of=of: float(getattr(found[name, way], of)),
            _SIZE_BASELINE,
            "{:,.0f}",
        )


def print_speeds(
    wanted: Sequence[Project], into: Path, made_by: Sequence[Build], rounds: int, part: int
) -> None:
    """Print the least processor time of `rounds` runs in turns, and instructions executed."""
    times: dict[tuple[str, str], float] = {}
    counts: dict[tuple[str, str], float] = {}
    for project in wanted:
        folders = {way.name: build(project, way, into) for way in made_by}
        for _ in range(rounds):
            for name, folder in folders.items():
                spent, _ = seconds(project, folder, into)
                times[project.name, name] = min(spent, times.get((project.name, name), spent))
        if part:
            for name, folder in folders.items():
                counts[project.name, name] = instructions(project, folder, into, part=part) / 1e6
    rows: list[tuple[str, dict[tuple[str, str], float], str]] = [
        ("Seconds of processor time", times, "{:.3f}"),
        (f"Million instructions of one {part}th of a benchmark", counts, "{:,.1f}"),
    ]
    for title, found, form in rows:
        if found:
            _print_table(
                title, wanted, made_by,
                lambda name, way, found=found: found[name, way],
                _SPEED_BASELINE, form,
            )  # fmt: skip


def _print_table(
    title: str,
    wanted: Sequence[Project],
    made_by: Sequence[Build],
    value: Callable[[str, str], float],
    baseline: str,
    form: str,
) -> None:
    """Print one table in Markdown; its last row compares each build with `baseline`."""
    print(f"\n{title}\n")
    print(_row(["project", *(way.name for way in made_by)]))
    print(_row(["---", *("---:" for _ in made_by)]))
    for project in wanted:
        print(_row([project.name, *(form.format(value(project.name, w.name)) for w in made_by)]))
    if baseline in {way.name for way in made_by}:
        ratios = (
            geometric_mean([value(p.name, way.name) / value(p.name, baseline) for p in wanted])
            for way in made_by
        )
        print(_row([f"of {baseline}", *(f"{ratio:.3f}" for ratio in ratios)]))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(prog="python -m scripts.projects", description=__doc__)
    words.formatter_class = argparse.RawDescriptionHelpFormatter
    words.add_argument("command", choices=("fetch", "check", "sizes", "speeds", "random", "ladder"))
    words.add_argument("projects", nargs="*", help="names; all where none is given")
    words.add_argument("--into", type=Path, default=cache_path("projects"))
    names = [way.name for way in BUILDS]
    words.add_argument("--build", action="append", choices=names, help="only this; may repeat")
    words.add_argument("--recipe", action="append", default=[], help="and by this; may repeat")
    words.add_argument("--rounds", type=int, default=3, help="runs of each benchmark")
    words.add_argument(
        "--part", type=int, default=0, help="count the instructions of one PART-th of a benchmark"
    )
    words.add_argument("--compilations", type=int, default=500, help="of a search")
    return words.parse_intermixed_args()


def main() -> None:
    """Run the command that was asked for."""
    given = _arguments()
    wanted, into = chosen(given.projects), given.into.resolve()
    made_by = [way for way in BUILDS if not given.build or way.name in given.build]
    fetch_all(wanted, into)
    made_by += [by_recipe(name, into) for name in given.recipe]
    if given.command == "check":
        check_all(wanted, into, made_by)
    elif given.command == "sizes":
        print_sizes(wanted, into, made_by)
    elif given.command == "random":
        for project in wanted:
            text = random_text(project, into, given.compilations)
            print(f"{project.name}: {text:,} bytes of .text", flush=True)
    elif given.command == "ladder":
        for project in wanted:
            measure_ladder(project, into, given.compilations)
    elif given.command == "speeds":
        chosen_ways = made_by if given.build else [way for way in BUILDS if "-O3" in way.name]
        print_speeds(wanted, into, chosen_ways, given.rounds, given.part)


if __name__ == "__main__":
    main()
