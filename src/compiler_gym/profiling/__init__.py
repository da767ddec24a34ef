# SPDX-License-Identifier: MIT
"""Where the time of an episode goes, from the user's call down to the compiler's passes.

``recording`` plays an episode and listens, ``profile`` is what it found, and ``flame`` writes
that as a flame graph.
"""

from compiler_gym.profiling.flame import to_folded, to_speedscope
from compiler_gym.profiling.profile import Profile, ProfileRow, Span
from compiler_gym.profiling.recording import profile
from compiler_gym.session import Layer

__all__ = ["Layer", "Profile", "ProfileRow", "Span", "profile", "to_folded", "to_speedscope"]
