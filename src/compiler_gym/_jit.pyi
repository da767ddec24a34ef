"""Machine code of textual LLVM IR, called in process."""

from collections.abc import Mapping, Sequence
import enum


class Stages:
    """Wall time of each stage of a compilation, in seconds."""

    @property
    def read(self) -> float:
        """Reading and verifying the text."""

    @property
    def optimise(self) -> float:
        """The passes of the level."""

    @property
    def generate(self) -> float:
        """Generating machine code."""

    @property
    def link(self) -> float:
        """Linking it in memory."""

class CacheUse:
    """Statistics of the cache."""

    @property
    def hits(self) -> int:
        """Requests that compiled nothing."""

    @property
    def misses(self) -> int:
        """Requests that had to compile."""

class Code:
    """The functions of one module: their addresses live as long as this."""

    def address(self, name: str) -> int:
        """Return the address of a function, or raise `CompilerDiagnosticError`."""

    @property
    def size(self) -> int:
        """The bytes of the object file."""

    @property
    def stages(self) -> Stages:
        """Times of the compilation."""

def compile(ir: str, level: int, symbols: Mapping[str, int] = {}) -> Code:
    """Compile textual IR for this machine."""

def compile_cached(ir: str, level: int, symbols: Mapping[str, int] = {}) -> Code:
    """
    Compile textual IR for this machine, or return the result of a recent equal request.
    """

def cache_use() -> CacheUse:
    """Return the hits and misses of `compile_cached`."""

def clear_cache() -> None:
    """Empty the cache of `compile_cached`."""

def host_cpu() -> str:
    """Return LLVM's name of this machine's processor."""

def host_triple() -> str:
    """Return LLVM's triple of this machine."""

def host_features() -> dict[str, bool]:
    """Return the features of this machine's processor."""

def vector_bits() -> int:
    """Return the width of its widest vector register in bits."""

def vector_registers() -> int:
    """Return the number of its vector registers."""

def assembly(ir: str, triple: str = '', cpu: str = '', features: str = '', level: int = 2) -> str:
    """
    Return assembly of textual IR: for this machine, or PTX for nvptx64-nvidia-cuda.
    """

class Clock(enum.Enum):
    """The clock for measurements."""

    wall = 0

    processor = 1

class Call:
    """
    A function with one array of addresses as its argument, and that array.
    """

    def __init__(self, function: int, buffers: Sequence[int]) -> None: ...

    @property
    def function(self) -> int:
        """The address of the function."""

    @property
    def buffers(self) -> list[int]:
        """The addresses in its array."""

    def run(self) -> None:
        """Call it once."""

def time_in_turns(calls: Sequence[Call], rounds: int, repeats: Sequence[int], clock: Clock) -> list[list[float]]:
    """
    Return the seconds of one run of each call in each round, each the mean of its `repeats`.
    """

def thread_count() -> int:
    """Return the number of threads that share a parallel loop."""

def set_thread_count(count: int) -> None:
    """
    Share parallel loops among `count` threads; 0 is one for each processor of this process.
    """
