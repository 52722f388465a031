"""Writes _measure_types.pyi, or, with --check, fails if it differs from the table of measures."""

from __future__ import annotations

import pathlib
import sys

from ._library import ops
from ._measure_table import describe, measure_table

_HEAD = '''# Written by `python3 -m priornet._write_types` from the table of measures; not to be edited.
from typing import Generic, NamedTuple, TypeVar

Array = TypeVar("Array")
'''


def text() -> str:
    """The stub."""
    parts = [_HEAD]
    for name, dirichlet, ensemble in (
        ("SoftmaxMeasures", False, False),
        ("EnsembleMeasures", False, True),
        ("DirichletMeasures", True, False),
        ("DirichletEnsembleMeasures", True, True),
    ):
        parts.append(f"\nclass {name}(NamedTuple, Generic[Array]):\n")
        for field in ops.measure_names(dirichlet, ensemble):
            parts.append(f"    {field}: Array  # {describe(measure_table[field], dirichlet)}\n")
        parts.append("    def _repr_html_(self) -> str: ...\n")
    return "".join(parts)


def main(arguments: list[str]) -> int:
    path = pathlib.Path(__file__).resolve().with_name("_measure_types.pyi")
    if arguments == ["--check"]:
        if path.read_text(encoding="utf-8") == text():
            return 0
        print(f"{path} is not what the table of measures says: python3 -m priornet._write_types", file=sys.stderr)
        return 1
    path.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
