# SPDX-License-Identifier: MIT
"""A policy that decides from the features of a call whether to inline it."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, PolicyAnswerError, PolicyCrashedError

__all__ = ["Decide", "FeaturePolicy", "llvms_own"]

Decide = Callable[[NDArray[np.int64]], Any]
"""Decides whether to inline a call with these ``InlineFeatures``: True, False, 1 or 0."""

_FEATURES = "InlineFeatures"


class FeaturePolicy:
    """A policy for whole compilations, in an environment or for a compiler over pipes.

    `begin` is called once for each compilation. It returns a context manager whose value decides
    all calls of that compilation, so the state of a policy ends with the compilation.

        >>> policy = FeaturePolicy.of(lambda features: features[-1])  # as LLVM would
        >>> import compiler_gym
        >>> with compiler_gym.make("llvm-inline-v0", benchmark="cbench-v1/crc32") as env:
        ...     _ = env.reset()
        ...     policy(env)
        ...     saved = env.observation["ObjectTextSizeOz"] - env.observation["ObjectTextSizeBytes"]
        >>> int(saved), policy.asked == policy.agreed
        (0, True)
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[Decide]]) -> None:
        self._begin = begin
        self.asked = 0
        """Number of requested decisions."""
        self.agreed = 0
        """Number of decisions that equal LLVM's own."""

    @classmethod
    def of(cls, decide: Decide | type) -> "FeaturePolicy":
        """Return a policy for a function, or for a class with one object per compilation."""

        @contextmanager
        def begin() -> Generator[Decide]:
            yield decide() if isinstance(decide, type) else decide

        return cls(begin)

    def __call__(self, env: CompilerEnv) -> None:
        """Decide all calls of the current episode of `env`.

        The reward is computed once, at the end.

        Raises:
            PolicyError: The policy failed. The episode remains at that call.
        """
        with self.compilation() as decide:
            features = env.observation[_FEATURES]
            while env.in_episode:
                # Without a call to decide, the features are zeros and any action ends the episode.
                inline = decide(features) if features.any() else False
                action: Any = env.action_space
                step = action["inline" if inline else "no-inline"]
                (features,), *_ = env.step(step, observation_spaces=[_FEATURES], reward_spaces=[])
            env.multistep([], observation_spaces=[])  # compute the reward

    @contextmanager
    def compilation(self) -> Generator[Callable[[NDArray[np.int64]], bool]]:
        """Yield the decision function of one compilation, which may raise `PolicyError`."""
        with self._begin() as decide:

            def decide_features(features: NDArray[np.int64]) -> bool:
                try:
                    answer = decide(features)
                except CompilerGymError:
                    raise
                except Exception as error:
                    raise PolicyCrashedError(
                        f"the policy raised {type(error).__name__}: {error}"
                    ) from error
                inline = _read_truth(answer)
                self.asked += 1
                self.agreed += inline == bool(features[-1])
                return inline

            yield decide_features


def llvms_own(features: NDArray[np.int64]) -> bool:
    """Return LLVM's own decision about a call."""
    return bool(features[-1])


def _read_truth(answer: object) -> bool:
    if isinstance(answer, (int, np.bool_, np.integer)):
        number = int(answer)  # pyright: ignore[reportUnknownArgumentType]  # of any width
        if number in (0, 1):
            return bool(number)
    raise PolicyAnswerError(
        f"the policy answered {answer!r:.80}; return 1 to inline the call, or 0 otherwise"
    )
