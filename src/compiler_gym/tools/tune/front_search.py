# SPDX-License-Identifier: MIT
"""Make hot functions fast and cold ones small, and show what one costs the other.

One training run says what is hot. Builds that draw the line elsewhere, and the fastest that a
search for speed finds, are timed in turns: those that no other beats in both are the front.
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
    waiting = {
        name: add_choice(profiled, choice, decisions.find_option)
        for name, choice in decisions.front.items()
    }
    while waiting:
        batch = dict(list(waiting.items())[: bench.subject.jobs])
        # Each is compared at the end, with the fastest and the fair rival.
        bench.compared = len(paths) + len(batch) + 2
        if decisions.front_base not in waiting and not bench.has_time(builds=len(batch)):
            break
        for name, path in bench.build_plans(batch).items():
            plans[name], paths[name] = batch[name], path
        for name in batch:
            del waiting[name]
        bench.subject.watch("front", Tried((), bench.seconds))
    if waiting:
        bench.notes.append(f"there was no time for {', '.join(waiting)}: give more --time")
    bench.compared = len(paths) + 2
    base = decisions.front_base if decisions.front_base in plans else "profile"
    plan, path = speed.improve(plans[base], paths[base])
    if path not in paths.values():
        plans[_FASTEST], paths[_FASTEST] = plan, path
    # The fair rival may be the best there is.
    plans[_FAIR], paths[_FAIR] = speed.none, bench.fair
    times = dict(zip(paths, bench.run.alternate(list(paths.values()), bench.rounds), strict=True))
    speeds = {name: compare_fastest(times[_FAIR], each) for name, each in times.items()}
    speeds[_FAIR] = Comparison(1.0, 1.0, 1.0)
    return select_front(
        FrontBuild(name, plans[name], path, measure_sizes(path).text, as_speed(speeds[name]))
        for name, path in paths.items()
    )
