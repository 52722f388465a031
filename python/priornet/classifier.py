"""A Prior Network as a scikit-learn classifier."""

from __future__ import annotations

import pathlib
import tempfile
import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
import torch

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, check_random_state
except ImportError as error:
    raise ImportError("priornet.PriorNetworkClassifier needs scikit-learn (Debian: python3-sklearn)") from error

from ._arrays import as_tensor
from ._inputs import Inputs, check_frame, check_rounding, known_labels
from ._library import classes, ops, with_files
from .calibration import calibrate
from .model import Model, load
from .training import Run, check_varied, train

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    Array = NDArray[Any]


#: What fit() learns, beside what scikit-learn sets.
_LEARNT = ("classes_", "n_iter_", "_run", "_files", "_model", "_model_file")


class PriorNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that also says how sure it is and why: a Prior Network on rows of numbers.

    Rows may be measurements, or embeddings of any encoder. They are standardised; out-of-distribution rows to learn
    from are made from the training rows by factor analysis.

    hidden: widths of the layers between inputs and logits.
    method: one of priornet.losses.methods. epochs: passes over the data; None: a number that suits its size.
    members: networks of the ensemble.
    rate: the share of rows like those of the training set that verdict() may reject, on average.
    calibration_share: the share of the rows, of every class alike, that is kept back for verdict(). If that is too few
        for the rate, fit() warns, learns from all rows, and there are no verdicts; 0 asks for none.
    settings: other keys of the configuration, as priornet.train takes them.
    folder: where the run is stored, for the tool; None: nowhere. It should be new or empty. If it holds a run, fit()
        replaces that run. If it holds other files, fit() raises OSError.
    random_state: the same value gives the same classifier, on one device with one number of threads. The network has
        dropout by default, which draws from PyTorch's one generator: other work that draws from it during fit(), such as
        a fit in another thread, changes the classifier.
    device: auto, cpu or cuda. verbose: shows progress.
    """

    classes_: Array
    n_iter_: int
    _run: Optional[Run]
    _files: dict[str, bytes]
    _model: Optional[Model]
    _model_file: bytes

    def __init__(
        self,
        hidden: Sequence[int] = (64, 64),
        *,
        method: str = "dpn-reverse",
        epochs: Optional[int] = None,
        members: int = 1,
        rate: float = 0.05,
        calibration_share: float = 0.1,
        settings: Optional[Mapping[str, Any]] = None,
        folder: Union[str, os.PathLike[str], None] = None,
        random_state: Any = 0,
        device: str = "auto",
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.method = method
        self.epochs = epochs
        self.members = members
        self.rate = rate
        self.calibration_share = calibration_share
        self.settings = settings
        self.folder = folder
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> PriorNetworkClassifier:
        """Trains by the library's loop. X: [N, D]; y: [N], labels of two or more classes.

        A fit that fails or is stopped by Ctrl-C leaves the classifier unfitted, also if it was fitted before.
        """
        self._forget()
        try:
            self.__dict__.update(self._learnt(X, y))  # all of it, or nothing
        except KeyboardInterrupt:
            self._forget()
            raise KeyboardInterrupt("fit was stopped: the classifier is not fitted") from None
        except BaseException:
            self._forget()
            raise
        return self

    def _forget(self) -> None:
        for name in (*_LEARNT, "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def _learnt(self, X: Any, y: Any) -> dict[str, Any]:
        """What fit() sets."""
        given = np.asarray(y)
        if given.ndim == 1:
            known_labels(given, "PriorNetworkClassifier")
        if hasattr(X, "iloc"):
            check_frame(X)
        exact, labels = _validated(self, X, y, fitting=True)
        check_classification_targets(labels)
        found, numbers = np.unique(labels, return_inverse=True)
        if len(found) < 2:
            raise ValueError("PriorNetworkClassifier: y should have at least 2 classes, found one class")
        seed = self._seed()
        kept = self._kept_back(numbers, seed)
        names_differ = len({str(name) for name in found}) == len(found)
        targets = found[numbers] if names_differ else numbers
        columns = [str(name) for name in getattr(self, "feature_names_in_", [])]
        rows = _as_float32(exact, columns)

        def of(chosen: Array) -> tuple[Inputs, Array]:
            return Inputs(torch.from_numpy(rows[chosen]), columns), targets[chosen]

        learnt = of(~kept)
        with tempfile.TemporaryDirectory(prefix="priornet-") as temporary:
            folder = pathlib.Path(temporary) / "run" if self.folder is None else pathlib.Path(self.folder)
            _check_may_be_replaced(folder)
            run = train(
                data=learnt,
                out=folder,
                settings=self._settings(seed),
                force=True,
                device=self.device,
                progress=self.verbose,
            )
            files = _files_of(run, folder)
            model: Optional[Model] = None
            model_file = b""
            if kept.any():
                model = calibrate(run, of(kept), self.rate, training=learnt, progress=self.verbose)
                model_file = _saved(model, pathlib.Path(temporary))
        if self.folder is None:
            run.folder = None
        return dict(zip(_LEARNT, (found, len(run.metrics), run, files, model, model_file)))

    def _seed(self) -> int:
        random = self.random_state
        return int(random if isinstance(random, Integral) else check_random_state(random).randint(2**31))

    def _kept_back(self, numbers: Array, seed: int) -> Array:
        """bool [N]: the rows for verdict(), the same share of every class."""
        if not 0 <= self.calibration_share < 1:
            raise ValueError(f"calibration_share should be from 0 to below 1, found {self.calibration_share}")
        if not 0 < self.rate < 1:
            raise ValueError(f"PriorNetworkClassifier: rate should be between 0 and 1, found {self.rate}")
        order = np.random.default_rng(seed).permutation(len(numbers))
        kept = np.zeros(len(numbers), dtype=bool)
        for number, count in enumerate(_shares(np.bincount(numbers), self.calibration_share)):
            kept[order[numbers[order] == number][:count]] = True
        needed = ops.least_calibration_size(self.rate)
        if kept.sum() >= needed:
            return kept
        if self.calibration_share > 0:
            warnings.warn(
                f"PriorNetworkClassifier: there will be no verdicts: a rate of {self.rate} takes {needed} rows that are kept "
                f"back, found {kept.sum()}; more rows, a higher rate or a larger calibration_share help",
                stacklevel=4,
            )
        return np.zeros_like(kept)

    def _settings(self, seed: int) -> dict[str, Any]:
        settings: dict[str, Any] = {
            # It learns from all rows that it gets.
            "data": {"validation_share": 0.0, "calibration_share": 0.0},
            "model": {"dense": list(self.hidden)},
            "method": {"name": self.method},
            "training": {"epochs": self.epochs, "seed": seed, "keep_checkpoints": 1, "checkpoint_every": 1_000_000},
        }
        if self.members != 1:
            settings["method"]["members"] = self.members
        for key, value in (self.settings or {}).items():
            table, _, name = key.partition(".")
            if isinstance(value, Mapping):
                settings.setdefault(key, {}).update(value)
            else:
                settings.setdefault(table, {})[name] = value
        return settings

    @property
    def run_(self) -> Run:
        """The trained run."""
        check_is_fitted(self, "classes_")
        if self._run is None:  # out of a pickle
            with tempfile.TemporaryDirectory(prefix="priornet-") as folder:
                for name, content in self._files.items():
                    path = pathlib.Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                self._run = Run(folder, device=self.device, allow_torchscript=True)
                self._run.folder = None
        return self._run

    def predict_proba(self, X: Any) -> Array:
        """Probabilities [N, K], in the order of classes_."""
        run = self.run_
        probabilities: Array = run.predict_proba(_validated(self, X))
        return probabilities

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        numbers = self.predict_proba(X).argmax(1)
        chosen: Array = self.classes_[numbers]
        return chosen

    def uncertainty(self, X: Any, measure: Optional[str] = None) -> Any:
        """How uncertain each prediction is, and why: every measure as NumPy arrays [N] in a named tuple
        (priornet.measures), or one of them by its name.
        """
        run = self.run_
        measured = run.measures(_validated(self, X))
        if measure is None:
            return measured
        if measure not in measured._fields:
            raise ValueError(f"uncertainty: measure should be one of {', '.join(measured._fields)}, found {measure!r}")
        return getattr(measured, measure)

    @property
    def model_(self) -> Model:
        """The calibrated model behind verdict(): it can be saved for the tool and its server."""
        check_is_fitted(self, "classes_")
        if not self._model_file:
            raise ValueError(
                f"verdict: too few rows could be kept back at fit: a rate of {self.rate} takes "
                f"{ops.least_calibration_size(self.rate)} of them, found a calibration_share of {self.calibration_share}"
            )
        if self._model is None:  # out of a pickle
            with tempfile.TemporaryDirectory(prefix="priornet-") as folder:
                path = pathlib.Path(folder, "model.priornet")
                path.write_bytes(self._model_file)
                self._model = load(path, device=self.device, allow_torchscript=True)
        return self._model

    def verdict(self, X: Any) -> Array:
        """Whether to trust each prediction, [N]: "accept", or why not: "ambiguous", "unfamiliar" or "undecided"."""
        model = self.model_
        return np.array(model.predict(_validated(self, X)).verdict)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_run", "_model"):
            if name in state:
                state[name] = None  # the files hold everything
        return state


def _validated(estimator: PriorNetworkClassifier, X: Any, y: Any = None, *, fitting: bool = False) -> Any:
    """X, or X and y, checked by scikit-learn, whose versions have different names for that function."""
    # To learn from float64 rows it should be known what float32 loses of them.
    arguments: dict[str, Any] = {"dtype": [np.float64, np.float32] if fitting else np.float32, "reset": fitting}
    if fitting:
        if y is None:
            raise ValueError(
                "This PriorNetworkClassifier estimator requires y to be passed, but the target y is None."
            )
        arguments["y"] = y
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:
        return estimator._validate_data(X, **arguments)
    return validate_data(estimator, X, **arguments)


def _as_float32(exact: Array, columns: Sequence[str]) -> Array:
    check_rounding(as_tensor(exact), columns)
    with np.errstate(over="ignore"):
        rows: Array = exact.astype(np.float32, copy=False)
    if not np.isfinite(rows).all():
        raise ValueError("PriorNetworkClassifier: X should be finite float32 numbers, found infinity or a value too large for it")
    check_varied(as_tensor(rows), "PriorNetworkClassifier")
    return rows


def _shares(sizes: Array, share: float) -> Array:
    """int [K]: this share of all rows, divided among classes of these sizes by largest remainders; a row of each is left."""
    exact = share * sizes
    counts = np.floor(exact + 1e-9).astype(int)
    missing = int(share * sizes.sum() + 1e-9) - counts.sum()
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return np.minimum(counts, sizes - 1)


def _saved(model: Model, folder: pathlib.Path) -> bytes:
    path = folder / "model.priornet"
    model.save(path)
    return path.read_bytes()


def _check_may_be_replaced(folder: pathlib.Path) -> None:
    """OSError for a folder with files that are not a run's: train() would remove those that are named as a run's are."""
    if not folder.is_dir() or not any(path.is_file() for path in folder.rglob("*")):
        return
    try:
        if not (folder / "checkpoints").is_dir() and not (folder / "member-1").is_dir():
            raise OSError("it has no checkpoints")
        with_files(classes.Training().configure_by_file, str(folder / "config.toml"), [])
    except (OSError, ValueError):
        raise FileExistsError(
            f"PriorNetworkClassifier: folder should be new, empty, or hold a run, which fit() replaces; {folder} holds "
            "other files: choose another folder"
        ) from None


def _files_of(run: Run, folder: pathlib.Path) -> dict[str, bytes]:
    """The files that the run is loaded from."""
    parts = [folder] + [folder / f"member-{number + 1}" for number in range(run.members) if run.members > 1]
    paths: list[pathlib.Path] = []
    for part in parts:
        paths += [part / name for name in ("config.toml", "preparation.safetensors", "metrics.jsonl", "network.pt")]
        paths += sorted(part.glob("checkpoints/step-*.safetensors"))[-1:]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}
