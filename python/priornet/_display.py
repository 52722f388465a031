"""How measures, runs and models look in a terminal and in a notebook."""

from __future__ import annotations

import html
from typing import Any, Iterator, NamedTuple

import torch

from ._measure_table import measure_table


class _Summary(NamedTuple):
    name: str
    label: str
    unit: str
    arrow: str
    values: torch.Tensor

    def numbers(self) -> list[str]:
        finite = self.values[self.values.isfinite()].sort().values
        count = len(finite)
        if count == 0:
            return [f"{float(self.values[0]):g}" if len(self.values) else "-"] * 4
        median = (finite[(count - 1) // 2] + finite[count // 2]) / 2
        return [f"{float(value):.4g}" for value in (self.values.mean(), finite[0], median, finite[-1])]


_COLUMNS = ("mean", "min", "median", "max")


def _rows(measures: Any) -> Iterator[_Summary]:
    for name, column in zip(measures._fields, measures):
        measure = measure_table[name]
        if measure.is_score:
            values = torch.as_tensor(column).detach().cpu().double().reshape(-1)
            yield _Summary(name, measure.label, measure.unit, "\u2193" if measure.is_confidence else "\u2191", values)


def _count(measures: Any) -> str:
    count = len(measures[0])
    return f"{count} input" + ("" if count == 1 else "s")


def _has_values(measures: Any) -> bool:
    """False while torch.compile traces, or on the device `meta`."""
    first = measures[0]
    if not isinstance(first, torch.Tensor):
        return hasattr(first, "dtype") and first.ndim == 1 and first.dtype.kind in "if"
    return type(first) is torch.Tensor and first.device.type != "meta" and first.dim() == 1


def measures_text(measures: Any) -> str:
    """Name, mean, min, median, max of each measure; an arrow up marks an uncertainty, one down a confidence."""
    title = type(measures).__name__
    if not _has_values(measures):
        fields = ", ".join(f"{name}={value!r}" for name, value in zip(measures._fields, measures))
        return f"{title}({fields})"
    rows = [(f"{row.arrow} {row.name}", row.unit, *row.numbers()) for row in _rows(measures)]
    rows = [("", "unit", *_COLUMNS), *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [f"{title} of {_count(measures)}"]
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        cells += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _histogram(values: torch.Tensor, width: int = 120, height: int = 24, bins: int = 30) -> str:
    finite = values[values.isfinite()]
    if len(finite) < 2 or float(finite.min()) == float(finite.max()):
        return ""
    counts = torch.histc(finite, bins=bins)
    step = width / bins
    bars = "".join(
        f'<rect x="{i * step:.1f}" y="{height - h:.1f}" width="{step - 0.5:.1f}" height="{h:.1f}"/>'
        for i, h in enumerate((counts / counts.max() * height).tolist())
        if h > 0
    )
    return f'<svg width="{width}" height="{height}" style="fill:#4477aa" role="img">{bars}</svg>'


def measures_html(measures: Any) -> str:
    """The same as a table, with a histogram of each measure."""
    title = html.escape(type(measures).__name__)
    if not _has_values(measures):
        return f"<pre>{html.escape(measures_text(measures))}</pre>"
    head = "".join(f"<th>{column}</th>" for column in ("measure", "unit", *_COLUMNS, "distribution"))
    lines = []
    for row in _rows(measures):
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in (row.unit, *row.numbers()))
        lines.append(
            f'<tr><td style="text-align:left" title="{html.escape(row.name)}">{row.arrow} {html.escape(row.label)}</td>'
            f"{cells}<td>{_histogram(row.values)}</td></tr>"
        )
    return (
        f"<table><caption>{title} of {_count(measures)}; \u2191 uncertainty, \u2193 confidence</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def facts_text(title: str, facts: list[tuple[str, str]]) -> str:
    """One line per fact."""
    return "\n".join([title, *(f"  {key}: {value}" for key, value in facts)])


def facts_html(title: str, facts: list[tuple[str, str]]) -> str:
    """A table with one fact per row."""
    cell = 'style="text-align:left"'
    rows = "".join(
        f"<tr><th {cell}>{html.escape(key)}</th><td {cell}>{html.escape(value)}</td></tr>" for key, value in facts
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{rows}</tbody></table>"
