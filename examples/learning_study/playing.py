# SPDX-License-Identifier: MIT
"""Plays a program with a number of compilations, and notes the best after each of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from training_programs import COST

Chooser = Callable[[Any, Any, int], int]
"""Takes what is seen, the masks and the number of the episode, and returns an action."""


@dataclass(slots=True)
class Played:
    """What came of some compilations of one program."""

    start: int
    """Instructions at first."""
    baseline: int
    """Instructions that clang -Oz leaves."""
    best: list[int] = field(default_factory=list[int])
    """The fewest instructions so far, after each compilation."""
    last: int = 0
    """Instructions at the end of the first episode, which is all that one shot has."""
    state: Any = None
    """The state that has the fewest."""

    def plain(self) -> dict[str, Any]:
        """Return the numbers, with the best only where it falls: ``[compilation, count]``."""
        steps = [
            [number + 1, count]
            for number, count in enumerate(self.best)
            if number == 0 or count < self.best[number - 1]
        ]
        return {
            "start": self.start,
            "baseline": self.baseline,
            "last": self.last,
            "compilations": len(self.best),
            "best": steps,
        }


def play(env: Any, program: str, choose: Chooser, compilations: int) -> Played:
    """Play episodes of `program` until that many compilations are used; one action is one.

    An action that fails is a compilation too, and ends the episode.
    """
    played = None
    episode = 0
    while played is None or len(played.best) < compilations:
        seen, _ = env.reset(options={"benchmark": program})
        observe = env.unwrapped.observation
        if played is None:
            played = Played(int(observe[COST]), int(observe[f"{COST}Oz"]))
        least = played.best[-1] if played.best else played.start
        ended = False
        while not ended and len(played.best) < compilations:
            action = choose(seen, env.action_masks(), episode)
            seen, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated
            if "error" not in info:
                count = int(observe[COST])
                played.last = played.last if episode else count
                if count < least or played.state is None:
                    least, played.state = min(count, least), env.unwrapped.state
            played.best.append(least)
        episode += 1
    return played


def at_random(seed: str) -> Chooser:
    """Return what chooses among the actions that are not masked, each as likely."""
    generator = random.Random(seed)

    def choose(seen: Any, masks: Any, episode: int) -> int:
        return int(generator.choice(np.flatnonzero(masks)))

    return choose
