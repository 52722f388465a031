"""Tables shaped like those of the real world: gaps, text, dates, rare classes, few rows. Each is a function of a seed."""

import numpy as np
import pandas as pd


def _labels(draws, scores, names, noise=1.0):
    """The class of the largest score, after logistic noise."""
    scores = np.asarray(scores, dtype=float).T
    return np.array(names)[np.argmax(scores + noise * draws.gumbel(size=scores.shape), axis=1)]


def loans(rows=2500, seed=1):
    """Numbers with heavy tails, and gaps that say something."""
    draws = np.random.default_rng(seed)
    income = np.exp(draws.normal(10, 1, rows))
    debt = np.exp(draws.normal(8, 1.5, rows))
    age = draws.integers(18, 80, rows)
    late = draws.poisson(0.4, rows).astype(float)
    risk = 1.2 * np.log(debt / income) + 1.0 * late - 0.03 * age + 3.4
    kind = _labels(draws, [np.zeros(rows), risk], ["repaid", "default"], 0.6)
    table = pd.DataFrame({"loan_id": np.arange(rows) + 10_000, "income": income.round(2), "debt": debt.round(2), "age": age,
                          "late payments": late, "currency": "EUR", "status": kind})
    table.loc[draws.random(rows) < np.where(kind == "default", 0.3, 0.1), "income"] = np.nan
    table.loc[draws.random(rows) < 0.08, "late payments"] = np.nan
    return table, "status", {"na_rep": "NA"}


def visitors(rows=3000, seed=2):
    """Categories of few and of many levels, truths, free text."""
    draws = np.random.default_rng(seed)
    browsers = np.array(["firefox", "chrome", "safari", "edge", "opera"])
    browser = browsers[draws.choice(5, rows, p=[0.2, 0.5, 0.2, 0.07, 0.03])]
    city = draws.zipf(1.3, rows) % 400
    member = draws.random(rows) < 0.4
    minutes = draws.gamma(2, 5, rows)
    score = 1.5 * (browser == "safari") - 1.0 * (browser == "edge") + 1.6 * member + 0.12 * minutes - 2.2 + 1.5 * (city == 1)
    kind = _labels(draws, [np.zeros(rows), score, 0.5 * score - 0.8], ["left", "bought", "asked"], 0.5)
    table = pd.DataFrame({"session": [f"s-{value:08x}" for value in draws.integers(0, 2**32, rows)],
                          "browser": browser, "city": [f"city {value}" for value in city],
                          "member": np.where(member, "yes", "no"), "minutes": minutes.round(2),
                          "outcome": kind})
    table.loc[draws.random(rows) < 0.1, "browser"] = "?"
    return table, "outcome", {}


def orders(rows=3000, seed=3):
    """Dates and times, semicolons and decimal commas."""
    draws = np.random.default_rng(seed)
    when = pd.Timestamp("2023-01-01") + pd.to_timedelta(draws.integers(0, 2 * 365 * 24 * 60, rows), unit="min")
    weight = draws.gamma(2, 3, rows)
    score = 2.5 * (when.hour >= 17) + 2.0 * (when.dayofweek >= 5) + 0.25 * weight - 3.0
    kind = _labels(draws, [np.zeros(rows), score], ["on time", "late"], 0.4)
    table = pd.DataFrame({"ordered": when.strftime("%d/%m/%Y %H:%M"), "weight": weight.round(3),
                          "carrier": draws.choice(["A", "B", "C"], rows), "arrived": kind})
    return table, "arrived", {"sep": ";", "decimal": ","}


def frauds(rows=5000, seed=4):
    """One row in twenty has the class that is looked for; separated by tabs."""
    draws = np.random.default_rng(seed)
    fraud = draws.random(rows) < 0.05
    amount = np.exp(draws.normal(3 + 1.5 * fraud, 1.2))
    distance = np.exp(draws.normal(1 + 2.0 * fraud, 1.0))
    night = draws.random(rows) < np.where(fraud, 0.6, 0.15)
    table = pd.DataFrame({"amount": amount.round(2), "distance": distance.round(3), "at night": night,
                          "merchant": draws.choice(["food", "fuel", "web", "travel"], rows),
                          "is fraud": np.where(fraud, "fraud", "fine")})
    return table, "is fraud", {"sep": "\t"}


def patients(rows=300, seed=5):
    """Few rows of three classes; a label whose name has a comma in it."""
    draws = np.random.default_rng(seed)
    kind = draws.integers(0, 3, rows)
    table = pd.DataFrame({"pressure": draws.normal(120 + 14 * kind, 9).round(1), "pulse": draws.normal(75 - 9 * kind, 8).round(0),
                          "sex": draws.choice(["f", "m"], rows), "smokes": draws.random(rows) < 0.2 + 0.25 * kind,
                          "stage, at entry": np.array(["mild", "moderate", "severe"])[kind]})
    table.loc[draws.random(rows) < 0.1, "pulse"] = np.nan
    return table, "stage, at entry", {}


def million(rows=1_000_000, seed=6):
    """Twenty mixed columns."""
    draws = np.random.default_rng(seed)
    table = pd.DataFrame({f"x{i}": draws.normal(0, 10.0**i, rows).astype(np.float32).round(4) for i in range(8)})
    for i in range(5):
        table[f"c{i}"] = np.array([f"level {j}" for j in range(4 + 4 * i)])[draws.integers(0, 4 + 4 * i, rows)]
    table["town"] = np.char.add("t", draws.integers(0, 5000, rows).astype(str))
    for i in range(3):
        table[f"b{i}"] = draws.random(rows) < 0.5
    when = np.datetime64("2020-01-01") + draws.integers(0, 1500, rows).astype("timedelta64[D]")
    table["day"] = when.astype(str)
    table["id"] = np.arange(rows)
    table.loc[draws.random(rows) < 0.1, "x3"] = np.nan
    score = table["x0"] / 1.0 + 1.5 * (table["c0"] == "level 1") + 1.0 * table["b0"] - 1.0
    table["kind"] = _labels(draws, [np.zeros(rows), score.to_numpy()], ["no", "yes"], 0.4)
    return table, "kind", {}


ALL = {"loans": loans, "visitors": visitors, "orders": orders, "frauds": frauds, "patients": patients}
