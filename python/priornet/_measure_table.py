"""The table of measures of the C++ library."""

from __future__ import annotations

from typing import NamedTuple

from ._library import ops


class Measure(NamedTuple):
    """A row of the table of measures."""

    name: str
    label: str
    unit: str
    direction: str
    cause: str
    softmax_cause: str

    @property
    def is_confidence(self) -> bool:
        """Whether it is high if the model is sure."""
        return self.direction == "confidence"

    @property
    def is_score(self) -> bool:
        """Whether it ranks inputs at all."""
        return self.direction != "none"


#: All measures, by name.
measure_table: dict[str, Measure] = {row[0]: Measure(*row) for row in ops.measure_table()}


def describe(measure: Measure, dirichlet: bool) -> str:
    """A measure in one line: "Entropy, nats: an uncertainty (total)"."""
    cause = measure.cause if dirichlet else measure.softmax_cause
    unit = f", {measure.unit}" if measure.unit else ""
    if not measure.is_score:
        return f"{measure.label}{unit}"
    return f"{measure.label}{unit}: {'a confidence' if measure.is_confidence else 'an uncertainty'} ({cause})"
