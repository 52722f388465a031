"""Dirichlets over three classes, drawn on the simplex as SVG: in a notebook, or as a file."""

from __future__ import annotations

import html
import math
import os
import pathlib
from typing import TYPE_CHECKING, Optional, Sequence, Union

import torch

from ._arrays import as_logits
from ._library import ops

if TYPE_CHECKING:
    from ._arrays import ArrayLike

_STEPS = 36  # triangles along a side
_SIDE = 180.0
_MARGIN = 18.0
_HEIGHT = _SIDE * math.sqrt(3) / 2


def _place(mu: Sequence[float]) -> tuple[float, float]:
    """Where a categorical lies: the first class at the top, the second at the left, the third at the right."""
    return _MARGIN + _SIDE * (mu[2] + mu[0] / 2), _MARGIN + _HEIGHT * (1 - mu[0])


def _triangles() -> list[list[tuple[float, float, float]]]:
    """The simplex in small triangles, each as three categoricals."""

    def point(i: int, j: int) -> tuple[float, float, float]:
        return (i / _STEPS, j / _STEPS, (_STEPS - i - j) / _STEPS)

    found = []
    for i in range(_STEPS):
        for j in range(_STEPS - i):
            found.append([point(i, j), point(i + 1, j), point(i, j + 1)])
            if i + j < _STEPS - 1:
                found.append([point(i + 1, j), point(i, j + 1), point(i + 1, j + 1)])
    return found


def _colour(share: float) -> str:
    """From white to a dark blue."""
    low, high = (255, 255, 255), (16, 52, 110)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high))


class Simplex:
    """One picture per Dirichlet: the darker, the denser; each picture has its own scale."""

    def __init__(self, logits: ArrayLike, class_names: Optional[Sequence[str]] = None) -> None:
        tensor = as_logits(logits).detach().cpu().double()
        if tensor.dim() == 1:
            tensor = tensor.unsqueeze(0)
        if tensor.dim() != 2 or tensor.size(1) != 3:
            raise ValueError(f"simplex: logits should be [N, 3] or [3], found shape {list(tensor.shape)}")
        if class_names is not None and len(class_names) != 3:
            raise ValueError(f"simplex: class_names should be 3, found {len(class_names)}")
        self._logits = tensor
        self._names = [str(name) for name in class_names] if class_names is not None else ["1", "2", "3"]

    @property
    def svg(self) -> str:
        """All pictures, side by side."""
        triangles = _triangles()
        centres = torch.tensor(triangles, dtype=torch.float64).mean(1)
        rows = len(self._logits)
        log_mu = centres.log().unsqueeze(1).expand(-1, rows, -1).contiguous()
        densities = ops.log_density(self._logits, log_mu)  # [S, N]
        width, height = _SIDE + 2 * _MARGIN, _HEIGHT + 2 * _MARGIN
        parts = [self._picture(triangles, densities[:, row], row * width) for row in range(rows)]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{rows * width:.0f}" height="{height:.0f}" '
            f'font-family="sans-serif" font-size="11">{"".join(parts)}</svg>'
        )

    def _picture(
        self, triangles: list[list[tuple[float, float, float]]], log_density: torch.Tensor, left: float
    ) -> str:
        # Relative to the densest triangle; a flat Dirichlet is grey all over.
        shares = (log_density - log_density.max()).exp()
        if float(shares.min()) > 1 - 1e-9:
            shares = torch.full_like(shares, 0.3)
        parts = []
        for corners, share in zip(triangles, shares.tolist()):
            if share > 0.004:
                points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(_place, corners))
                colour = _colour(share)
                parts.append(f'<polygon points="{points}" fill="{colour}" stroke="{colour}" stroke-width="0.4"/>')
        corners = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(_place, corners))
        parts.append(f'<polygon points="{outline}" fill="none" stroke="#444"/>')
        for corner, name, anchor in zip(corners, self._names, ("middle", "start", "end")):
            x, y = _place(corner)
            y += -5 if corner[0] == 1.0 else 13
            parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(name)}</text>')
        return f'<g transform="translate({left:.1f} 0)">{"".join(parts)}</g>'

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the SVG to a file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        count = len(self._logits)
        return f"Simplex of {count} Dirichlet{'' if count == 1 else 's'}; show it in a notebook, or save('FILE.svg')"


def simplex(logits: ArrayLike, class_names: Optional[Sequence[str]] = None) -> Simplex:
    """Draws Dirichlets over three classes: logits [N, 3], or [3], alpha = exp(logits)."""
    return Simplex(logits, class_names)
