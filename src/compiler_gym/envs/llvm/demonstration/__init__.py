# SPDX-License-Identifier: MIT
"""The parts of ``compiler-gym demo``.

``comparison`` is one program's numbers and the metrics made of them, ``display``
shows the running search, ``check`` runs the found pipelines through LLVM's own
``opt``, ``plot`` draws the result and ``report`` prints and writes it.
"""
