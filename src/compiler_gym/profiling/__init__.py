# SPDX-License-Identifier: MIT
"""Profiles of an episode: its time, from the user's call down to the compiler's passes.

``recording`` plays an episode and measures it, and ``profile`` holds the result and writes it as a
flame graph.
"""

from compiler_gym.profiling.profile import Profile, ProfileRow, Span, to_folded, to_speedscope
from compiler_gym.profiling.recording import profile
from compiler_gym.session import Layer

__all__ = ["Layer", "Profile", "ProfileRow", "Span", "profile", "to_folded", "to_speedscope"]
