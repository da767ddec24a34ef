# SPDX-License-Identifier: MIT
"""The effects of the last pipeline of an episode. Runs in a worker."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions.marks.marking import MarkedPoint, choose

__all__ = ["PassHistory"]

Options = Sequence[tuple[str, str]]
"""Values of LLVM's command-line options."""


class _Marked(NamedTuple):
    point: MarkedPoint


class PassHistory:
    """The pipelines of an episode and the effects of the last one.

    Recording costs more than most passes, so it starts only when a record is first requested: the
    episode is then repeated to catch up, which gives the same module.
    """

    def __init__(self, load: Callable[[], _llvm.Module]) -> None:
        self._load = load
        self._pipelines: list[tuple[str, Options] | _Marked] = []
        self._record: dict[str, Any] | None = None
        self._is_recording = False
        self._marked = False
        """True if the last mark changed anything."""

    def run(self, module: _llvm.Module, pipeline: str, options: Options = ()) -> bool:
        """Run `pipeline` and return whether the IR changed."""
        if options:
            return self._run(module, pipeline, lambda text: module.run_with(text, options), options)
        return self._run(module, pipeline, module.run)

    def apply(self, module: _llvm.Module, pipeline: str) -> bool:
        """Run `pipeline` without detecting changes; return whether the IR may have changed."""
        return self._run(module, pipeline, module.apply)

    def _run(
        self,
        module: _llvm.Module,
        pipeline: str,
        run: Callable[[str], bool],
        options: Options = (),
    ) -> bool:
        self._pipelines.append((pipeline, options))
        if not self._is_recording:
            return run(pipeline)
        self._record = None
        self._record = _llvm.run_recorded(module, pipeline, options)
        return bool(self._record["changed"])

    def skip(self) -> None:
        """Record an action that ran nothing."""
        self._pipelines.append(("", ()))
        self._record = None

    def note(self, mark: MarkedPoint, *, changed: bool) -> None:
        """Record an action that marked the module."""
        self._pipelines.append(_Marked(mark))
        self._record, self._marked = None, changed

    def last(self) -> dict[str, Any]:
        """Return the plain value of ``PassStatistics``."""
        self._is_recording = True
        if self._record is None:
            self._record = self._record_again()
        remarks = [dict(zip(_REMARK, remark, strict=True)) for remark in self._record["remarks"]]
        return {**self._record, "remarks": remarks}

    def _record_again(self) -> dict[str, Any]:
        last = self._pipelines[-1] if self._pipelines else ("", ())
        if isinstance(last, _Marked):
            return {**_NOTHING, "changed": self._marked}
        if not last[0]:
            return _NOTHING
        module = self._load()
        for action in self._pipelines[:-1]:
            if isinstance(action, _Marked):
                choose(module, action.point)
            elif action[1]:
                module.run_with(*action)
            elif action[0]:
                module.apply(action[0])
        return _llvm.run_recorded(module, *last)


_REMARK = ("kind", "pass", "name", "function", "message")
_NOTHING: dict[str, Any] = {
    "changed": False,
    "added": bytes(70 * 8),
    "removed": bytes(70 * 8),
    **{name: [] for name in ("changed_functions", "new_functions", "lost_functions", "remarks")},
}
