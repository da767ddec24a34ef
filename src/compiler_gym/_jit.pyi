"""Machine code of textual LLVM IR, called in process."""

from collections.abc import Mapping, Sequence
import enum


class Stages:
    """Seconds of wall time that each stage of a compilation took."""

    @property
    def read(self) -> float:
        """Reading and verifying the text."""

    @property
    def optimise(self) -> float:
        """The passes of the level."""

    @property
    def generate(self) -> float:
        """Making machine code."""

    @property
    def link(self) -> float:
        """Putting it where it runs."""

class CacheUse:
    """How many requests were answered by the cache."""

    @property
    def hits(self) -> int:
        """Requests that compiled nothing."""

    @property
    def misses(self) -> int:
        """Requests that had to compile."""

class Code:
    """The functions of one module: their addresses live as long as this."""

    def address(self, name: str) -> int:
        """Return where a function is, or raise `CompilerDiagnosticError`."""

    @property
    def size(self) -> int:
        """The bytes of the object file."""

    @property
    def stages(self) -> Stages:
        """What the compilation took."""

def compile(ir: str, level: int, symbols: Mapping[str, int] = {}) -> Code:
    """Compile textual IR for this machine."""

def compile_cached(ir: str, level: int, symbols: Mapping[str, int] = {}) -> Code:
    """
    Compile textual IR for this machine, or return what an equal request did of late.
    """

def cache_use() -> CacheUse:
    """Return how often `compile_cached` found what was asked for."""

def clear_cache() -> None:
    """Let go of what `compile_cached` keeps."""

def host_cpu() -> str:
    """Return what LLVM calls this machine's processor."""

def host_triple() -> str:
    """Return what LLVM calls this machine."""

def host_features() -> dict[str, bool]:
    """Return what this machine's processor can do."""

def vector_bits() -> int:
    """Return how many bits its widest vector register holds."""

def vector_registers() -> int:
    """Return how many vector registers it has."""

def assembly(ir: str, triple: str = '', cpu: str = '', features: str = '', level: int = 2) -> str:
    """
    Return assembly of textual IR: for this machine, or PTX for nvptx64-nvidia-cuda.
    """

class Clock(enum.Enum):
    """What a measured second is."""

    wall = 0

    processor = 1

class Call:
    """A function of one array of addresses, and that array."""

    def __init__(self, function: int, buffers: Sequence[int]) -> None: ...

    @property
    def function(self) -> int:
        """The address of the function."""

    @property
    def buffers(self) -> list[int]:
        """What its array holds."""

    def run(self) -> None:
        """Call it once."""

def time_in_turns(calls: Sequence[Call], rounds: int, repeats: Sequence[int], clock: Clock) -> list[list[float]]:
    """
    Return the seconds of one run of each call in each round, each the mean of its `repeats`.
    """

def thread_count() -> int:
    """Return how many threads share a parallel loop."""

def set_thread_count(count: int) -> None:
    """
    Share parallel loops among `count` threads; 0 is one for each processor of this process.
    """
