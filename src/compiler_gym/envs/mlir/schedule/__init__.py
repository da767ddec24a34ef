# SPDX-License-Identifier: MIT
"""What an episode consists of: ``moves`` are its words, ``pieces`` writes a move in the transform
dialect, ``operations`` says what the payload's operations are, ``program`` is the payload and the
moves so far, and ``menu`` the flat list of moves with its mask; ``matrix`` and ``subactions`` are
the actions of CompilerGym 0.2.5. What reads IR runs in a worker.
"""
