# SPDX-License-Identifier: MIT
"""Running programs: ``run_spec`` defines inputs and expected outputs, ``packed_run`` serialises
them for a worker, ``contained`` runs a program in a sandbox with limits, and ``measured`` times
it and counts its instructions.
"""
