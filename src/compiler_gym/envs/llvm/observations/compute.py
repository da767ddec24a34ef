# SPDX-License-Identifier: MIT
"""How the engine makes the observations of a program's structure. Runs in a worker."""

import math
from collections.abc import Callable
from typing import Any

from compiler_gym import _llvm
from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path

__all__ = ["COSTS", "STRUCTURE", "PassHistory"]

_vocabularies: dict[str, _llvm.Ir2VecVocabulary] = {}


class PassHistory:
    """The pipelines of an episode, and what the last of them did.

    A record costs more than most passes, so none is made until one is asked for: the
    episode is then repeated to catch up, which gives the same module.
    """

    def __init__(self, load: Callable[[], _llvm.Module]) -> None:
        self._load = load
        self._pipelines: list[str] = []
        self._record: dict[str, Any] | None = None
        self._is_recording = False

    def run(self, module: _llvm.Module, pipeline: str) -> bool:
        """Run `pipeline` and return whether the IR changed."""
        self._pipelines.append(pipeline)
        if not self._is_recording:
            return module.run(pipeline)
        self._record = None
        self._record = _llvm.run_recorded(module, pipeline)
        return bool(self._record["changed"])

    def skip(self) -> None:
        """Note an action that ran nothing."""
        self._pipelines.append("")
        self._record = None

    def last(self) -> dict[str, Any]:
        """Return the plain value of ``PassStatistics``."""
        self._is_recording = True
        if self._record is None:
            self._record = self._recorded_again()
        remarks = [dict(zip(_REMARK, remark, strict=True)) for remark in self._record["remarks"]]
        return {**self._record, "remarks": remarks}

    def _recorded_again(self) -> dict[str, Any]:
        if not self._pipelines or not self._pipelines[-1]:
            return _NOTHING
        module = self._load()
        for pipeline in filter(None, self._pipelines[:-1]):
            module.run(pipeline)
        return _llvm.run_recorded(module, self._pipelines[-1])


_REMARK = ("kind", "pass", "name", "function", "message")
_NOTHING: dict[str, Any] = {
    "changed": False,
    "added": bytes(70 * 8),
    "removed": bytes(70 * 8),
    **{name: [] for name in ("changed_functions", "new_functions", "lost_functions", "remarks")},
}


def _vocabulary() -> _llvm.Ir2VecVocabulary:
    path = str(vocabulary_path())
    if path not in _vocabularies:
        _vocabularies[path] = _llvm.Ir2VecVocabulary(path)
    return _vocabularies[path]


def _program(vectors: dict[str, Any]) -> bytes:
    return vectors["program"]


def _functions(vectors: dict[str, Any]) -> dict[str, Any]:
    return {"names": vectors["names"], "vectors": vectors["functions"]}


STRUCTURE: dict[str, Callable[[_llvm.Module], Any]] = {
    "ProgramlJson": _llvm.program_graph_json,
    "ProgramlArrays": _llvm.program_graph,
    "LexedIrArrays": _llvm.lexed_ir,
    "LexedIrWords": _llvm.lexed_words,
    "FunctionFeatures": _llvm.function_table,
    "CallGraph": _llvm.call_graph,
    "LoopForest": _llvm.loop_forest,
    "Inst2vecPreprocessedText": _llvm.inst2vec_statements,
    "IR2Vec": lambda module: _program(_vocabulary().symbolic(module)),
    "IR2VecFunctions": lambda module: _functions(_vocabulary().symbolic(module)),
    "IR2VecFlowAware": lambda module: _program(_vocabulary().flow_aware(module)),
    "IR2VecFlowAwareFunctions": lambda module: _functions(_vocabulary().flow_aware(module)),
}
"""From the name of an observation to its plain value."""


def _mca_cycles(module: _llvm.Module) -> float:
    runs = dict(_llvm.call_frequencies(module))
    blocks = _llvm.machine_blocks(module)
    return math.fsum(runs.get(name, 1.0) * frequency * cycles
                     for name, _, _, _, frequency, cycles in blocks)  # fmt: skip


COSTS: dict[str, Callable[[_llvm.Module], float]] = {
    "IrInstructionCount": lambda module: module.instruction_count(),
    "ObjectTextSizeBytes": lambda module: module.object_text_size(),
    "ObjectInstructionCount": _llvm.object_instruction_count,
    "McaCycles": _mca_cycles,
}
"""From the name of a cost to its value; these need neither a linker nor a run."""
