# SPDX-License-Identifier: MIT
"""How a program is run: ``run_spec`` says with what and what is expected of it, ``packed_run``
carries that to a worker, ``contained`` runs it in a sandbox within limits, ``measured`` times it
and counts its instructions.
"""
