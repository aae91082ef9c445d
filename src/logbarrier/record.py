"""Record: what a simulation measured, and its statistics."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .base import validate
from .base.files import whole_file
from .statistics import ANYWHERE, quantiles, stuck_share, t_interval

FORMAT = 1


class Record:
    """Metrics of many runs at the checkpoints.

    steps       (C,) after how many updates each value was taken; 0 is the start, the last is the horizon
    values      name -> (runs, C); `record[name]` reads one
    settings    what was simulated: rule, problem, horizon, runs, seed, ... as plain JSON values
    provenance  how: engine, threads, seconds, versions. Not part of the result and not in `digest`.
    ranges      name -> the least and the greatest value the metric can have; any where it is not listed

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=3), horizon=50, runs=4, seed=0)
    >>> record["optimal_probability"].shape == (4, len(record.steps))
    True
    """

    def __init__(
        self,
        steps: np.ndarray,
        values: Mapping[str, np.ndarray],
        settings: Mapping[str, Any],
        provenance: Mapping[str, Any],
        ranges: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.steps = steps
        self.values = dict(values)
        self.settings = dict(settings)
        self.provenance = dict(provenance)
        self.ranges = dict(ranges or {})

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.values:
            raise KeyError(f"Record: no metric {name!r}; it has {', '.join(self.values)}")
        return self.values[name]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of what was measured."""
        return tuple(self.values)

    @property
    def runs(self) -> int:
        """How many runs."""
        return len(next(iter(self.values.values())))

    @property
    def horizon(self) -> int:
        """How many steps."""
        return int(self.steps[-1])

    def mean(self, name: str) -> np.ndarray:
        """Mean over runs (C,)."""
        return np.asarray(self[name].mean(axis=0))

    def interval(self, name: str, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Student-t interval (low, high) of the mean, each (C,), cut to the range of the metric: a probability stays in [0, 1].

        Infinite for a single run, which says nothing of spread.
        """
        if not 0 < validate.number("Record.interval", "level", level) < 1:
            raise ValueError(f"Record.interval: level must be between 0 and 1, got {level}")
        if self.runs < 2:
            unknown = np.full(len(self.steps), np.inf)
            return -unknown, unknown
        return t_interval(self[name], level, self.ranges.get(name, ANYWHERE))

    def quantiles(self, name: str, q: float | Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> np.ndarray:
        """Quantiles over runs, (len(q), C), or (C,) for a single q."""
        wanted = np.asarray(q, dtype=np.float64)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise ValueError(f"Record.quantiles: q must be between 0 and 1, got {q}")
        return quantiles(self[name], q)

    def stuck(self, threshold: float = 0.5) -> np.ndarray:
        """Fraction of runs (C,) in which one wrong arm holds more than `threshold` of the probability."""
        return stuck_share(self["wrong_probability"], threshold)

    def stuck_fraction(self, threshold: float = 0.5) -> float:
        """That fraction at the end."""
        return float(self.stuck(threshold)[-1])

    def digest(self) -> str:
        """SHA-256 of the result (settings, steps and values), the same whatever threads, chunks or machine made it."""
        digest = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode())
        for name, array in [("steps", self.steps), *sorted(self.values.items())]:
            digest.update(name.encode() + str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: settings, provenance, and for each checkpoint mean, interval and median of each metric."""
        summary = {}
        for name in self.metrics:
            low, high = self.interval(name)
            summary[name] = {
                "mean": self.mean(name).tolist(),
                "low": [x if np.isfinite(x) else None for x in low.tolist()],
                "high": [x if np.isfinite(x) else None for x in high.tolist()],
                "median": self.quantiles(name, 0.5).tolist(),
            }
        plain = {
            "settings": self.settings,
            "provenance": self.provenance,
            "digest": self.digest(),
            "steps": self.steps.tolist(),
            "metrics": summary,
        }
        if "wrong_probability" in self.values:
            plain["stuck"] = self.stuck().tolist()
        return plain

    def to_frame(self) -> Any:
        """A pandas DataFrame, one row per run and checkpoint: run, step, and a column per metric."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise ImportError(
                "Record.to_frame: needs pandas; install it with pip install pandas, or use Record.to_csv"
            ) from None
        return pandas.DataFrame(self._columns())

    def to_csv(self, path: str | Path) -> Path:
        """Write the table of `to_frame` as .csv, whole or not at all; returns its path."""
        columns = self._columns()
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        try:
            with whole_file(Path(path)) as file:
                file.write(text.getvalue().encode())
        except OSError as error:
            raise OSError(f"Record.to_csv: cannot write {path}: {error.strerror}") from None
        return Path(path)

    def _columns(self) -> dict[str, np.ndarray]:
        """run, step and every metric, each (runs * C,)."""
        numbers = self.settings.get("first_run", 0) + np.arange(self.runs)
        at = {"run": np.repeat(numbers, len(self.steps)), "step": np.tile(self.steps, self.runs)}
        return {**at, **{name: values.ravel() for name, values in self.values.items()}}

    def plot(self, metric: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Plot a metric on Matplotlib axes `ax`, which are returned, or as a figure of its own; see `plots.learning_curves`."""
        curves = import_module(".plots.curves", __package__)  # plots import records, and Matplotlib takes a second to load
        return curves.learning_curves(self, metric, ax=ax, **options)

    def save(self, path: str | Path) -> Path:
        """Write one .npz, whole or not at all; returns its path."""
        target = Path(path)
        header = {"format": FORMAT, "settings": self.settings, "provenance": self.provenance, "ranges": self.ranges}
        try:
            with whole_file(target) as file:
                np.savez(file, header=np.array(json.dumps(header)), steps=self.steps, **self.values)  # type: ignore[arg-type]
        except OSError as error:
            raise OSError(f"Record.save: cannot write {target}: {error.strerror}") from None
        return target

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read what `save` wrote."""
        try:
            with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(str(arrays.pop("header")))
            if header["format"] != FORMAT:
                raise ValueError(f"Record.load: {path} has format {header['format']}, this version reads {FORMAT}")
            steps = arrays.pop("steps")
            if not arrays or any(array.ndim != 2 or array.shape[1:] != steps.shape for array in arrays.values()):
                raise ValueError
            ranges = {name: (float(least), float(most)) for name, (least, most) in header.get("ranges", {}).items()}
            return cls(steps, arrays, header["settings"], header["provenance"], ranges)
        except FileNotFoundError:
            raise FileNotFoundError(f"Record.load: there is no file {path}") from None
        except ValueError as error:
            if str(error).startswith("Record.load"):
                raise
            raise ValueError(f"Record.load: {path} is not a record, or is damaged") from None
        except Exception:
            raise ValueError(f"Record.load: {path} is not a record, or is damaged") from None

    @property
    def _size(self) -> str:
        """How large the problem is, in words."""
        if "n_states" in self.settings:
            return f"{self.settings['n_states']} states, {self.settings['n_actions']} actions"
        return f"{self.settings.get('n_arms', '?')} arms"

    def __repr__(self) -> str:
        rule = dict(self.settings.get("rule", {}))
        name = rule.pop("rule", "?")
        parameters = ", ".join(f"{key}={value}" for key, value in rule.items())
        count = f"{self.runs} runs" if self.runs > 1 else "1 run (which has no interval)"
        lines = [
            f"Record of {name}({parameters})",
            f"  {self.settings.get('problem', {}).get('problem', '?')}, {self._size}, "
            f"{count}, horizon {self.horizon:,}, seed {self.settings.get('seed', '?')}, "
            f"{self.provenance.get('engine', '?')} engine, {self.provenance.get('seconds', float('nan')):.2f} s",
        ]
        for metric in self.metrics:
            low, high = self.interval(metric)
            interval = f"   [{low[-1]:.5g}, {high[-1]:.5g}]" if self.runs > 1 else ""
            lines.append(f"  {metric:<28}{self.mean(metric)[-1]:>12.5g}{interval}")
        if "wrong_probability" in self.values:
            lines.append(f"  {'stuck on a wrong arm':<28}{self.stuck_fraction():>12.3g}")
        return "\n".join(lines)
