"""The named tuples of measures, made from the C++ library's table of measures.

_measure_types.pyi says the same to type checkers: `python3 -m priornet._write_types` writes it from the table, and a
test compares.
"""

from __future__ import annotations

import collections
from typing import Any

from ._display import measures_html, measures_text
from ._library import ops
from ._measure_table import describe, measure_table


def _made(name: str, dirichlet: bool, ensemble: bool, what: str) -> Any:
    fields = ops.measure_names(dirichlet, ensemble)
    made: Any = collections.namedtuple(name, fields, module=__name__)  # type: ignore[misc]
    made.__doc__ = f"{what}: one value per input, as tensors or NumPy arrays."
    for field in fields:
        getattr(made, field).__doc__ = describe(measure_table[field], dirichlet)
    # Methods are put into the class itself: PyTorch takes only direct children of tuple for named tuples.
    made.__repr__ = lambda self: measures_text(self)
    made._repr_html_ = lambda self: measures_html(self)
    return made


SoftmaxMeasures = _made("SoftmaxMeasures", False, False, "Measures of one softmax model")
EnsembleMeasures = _made("EnsembleMeasures", False, True, "Measures of an ensemble of softmax models")
DirichletMeasures = _made("DirichletMeasures", True, False, "Measures of Dirichlets")
DirichletEnsembleMeasures = _made("DirichletEnsembleMeasures", True, True, "Measures of an ensemble of Dirichlets")
