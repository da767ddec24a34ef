# SPDX-License-Identifier: MIT
"""Make hot functions fast and cold ones small, and show the trade-off.

A training run shows which functions are hot. Builds with different thresholds are timed, and the
fastest build of a search for speed; the front holds those that no other beats in both respects.
"""

from compiler_gym.builds import measure_sizes
from compiler_gym.tools.tune.comparing import as_speed
from compiler_gym.tools.tune.front import FrontBuild, select_front
from compiler_gym.tools.tune.journal import Tried
from compiler_gym.tools.tune.speed_decisions import add_choice
from compiler_gym.tools.tune.speed_search import SpeedSearch
from compiler_gym.validation import Comparison, compare_fastest

__all__ = ["search_front"]

_FASTEST = "fastest"
_FAIR = "fair"


def search_front(speed: SpeedSearch) -> tuple[FrontBuild, ...]:
    """Return the front of a program with a profile, from the smallest to the fastest."""
    bench, profiled = speed.bench, speed.profiled
    assert profiled is not None
    plans, paths = {"profile": profiled}, {"profile": speed.rival}
    decisions = bench.decisions
    remaining = {
        name: add_choice(profiled, choice, decisions.find_option)
        for name, choice in decisions.front.items()
    }
    while remaining:
        batch = dict(list(remaining.items())[: bench.subject.jobs])
        # All of these, the fastest build and the baseline are compared at the end.
        bench.compared = len(paths) + len(batch) + 2
        if decisions.front_base not in remaining and not bench.has_time(builds=len(batch)):
            break
        for name, path in bench.build_plans(batch).items():
            plans[name], paths[name] = batch[name], path
        for name in batch:
            del remaining[name]
        bench.subject.watch("front", Tried((), bench.seconds))
    if remaining:
        bench.notes.append(f"no time was left for {', '.join(remaining)}: increase --time")
    bench.compared = len(paths) + 2
    base = decisions.front_base if decisions.front_base in plans else "profile"
    plan, path = speed.improve(plans[base], paths[base])
    if path not in paths.values():
        plans[_FASTEST], paths[_FASTEST] = plan, path
    # The baseline itself may be the best build.
    plans[_FAIR], paths[_FAIR] = speed.none, bench.fair
    times = dict(zip(paths, bench.run.alternate(list(paths.values()), bench.rounds), strict=True))
    speeds = {name: compare_fastest(times[_FAIR], series) for name, series in times.items()}
    speeds[_FAIR] = Comparison(1.0, 1.0, 1.0)
    return select_front(
        FrontBuild(name, plans[name], path, measure_sizes(path).text, as_speed(speeds[name]))
        for name, path in paths.items()
    )
