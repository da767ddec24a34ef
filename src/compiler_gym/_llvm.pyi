"""LLVM 22 in process: one module, changed by pass pipelines."""

from collections.abc import Sequence


LLVM_VERSION: str = '22.1.8'

OUT_OF_MEMORY_STATUS: int = 86

def start() -> None:
    """Register targets and error handlers now rather than at the first use."""

def exit_on_out_of_memory(enabled: bool) -> None:
    """
    End the process with OUT_OF_MEMORY_STATUS when memory runs out, or raise MemoryError.
    """

def autophase_names() -> list[str]:
    """The names of Module.autophase(), in order."""

def inst_count_names() -> list[str]:
    """The names of Module.inst_count(), in order."""

def link_modules(modules: Sequence[bytes]) -> bytes:
    """Link modules into one, or raise `BenchmarkInitError`."""

def split_functions(data: bytes) -> list[tuple[str, bytes]]:
    """One module for each defined function, as (name, bitcode)."""

def strip_noop_bitcasts(data: bytes) -> bytes:
    """The same module without casts from a type to itself."""

class Module:
    """One LLVM module, changed in place by passes."""

    def __init__(self, data: bytes, name: str = '') -> None:
        """Read bitcode or textual IR, or raise `BenchmarkInitError`."""

    def run(self, pipeline: str) -> bool:
        """Run a textual pass pipeline; return whether the IR changed, exactly."""

    def limit_instructions(self, most: int) -> None:
        """
        From now on `run` raises `ModuleTooLargeError` after a change to more than `most`
        instructions; 0 sets no limit.
        """

    def bitcode(self) -> bytes:
        """The bytes that `opt` would write."""

    def text(self) -> str:
        """The text that `opt -S` would print, less the line that names a file."""

    def ir_hash(self) -> bytes:
        """Sixteen bytes that differ when the IR differs, equal in every process."""

    def instruction_count(self) -> int:
        """How many instructions the module holds now."""

    def verify(self) -> None:
        """Raise `InvalidIrError` if the module is not valid IR."""

    def set_goal(self, goal: str) -> None:
        """Mark every definition for `size`, or take those marks off for `speed`."""

    def apply_level(self, level: str) -> None:
        """
        Give the attributes of a clang level, `O0` to `Oz`, and run its pipeline.
        """

    def autophase(self) -> bytes:
        """The 56 AutoPhase features as little-endian int64."""

    def inst_count(self) -> bytes:
        """The 70 instruction counts as little-endian int64."""

    def object_code(self) -> bytes:
        """The ELF object that `llc -filetype=obj` would make."""

    def object_text_size(self) -> int:
        """
        The bytes of machine code: the executable sections of the object, as
        `llvm-size -A` lists them. The `text` of plain `llvm-size` adds read-only data.
        """

    @property
    def triple(self) -> str:
        """The target triple."""

    @property
    def data_layout(self) -> str:
        """The data layout string."""

    @property
    def source_filename(self) -> str:
        """The source file name that the IR records."""

def check_pipeline(pipeline: str) -> None:
    """
    Raise `PipelineError` if the text is refused, or accepted and then fatal to all programs.
    """

def registered_passes() -> list[tuple[str, str, str]]:
    """Every pass LLVM knows as (kind, name, parameters)."""
