#!/usr/bin/env python3
"""A Prior Network as the last step of a scikit-learn pipeline: scaled, searched, cross-validated.

The data are the wines that come with scikit-learn. A row far from all wines is one that the network should not know.
"""

import argparse

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import priornet


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="has no effect: the example is always quick")
    parser.parse_args()

    features, kinds = load_wine(return_X_y=True)
    learnt, asked, learnt_kinds, asked_kinds = train_test_split(features, kinds, random_state=0, stratify=kinds)

    def pipeline():
        return make_pipeline(StandardScaler(), priornet.PriorNetworkClassifier())

    scores = cross_val_score(pipeline(), learnt, learnt_kinds, cv=3)
    print(f"accuracy in 3-fold cross-validation: {scores.mean():.3f}")

    fitted = pipeline().fit(learnt, learnt_kinds)
    print(f"accuracy on {len(asked)} wines that it never saw: {fitted.score(asked, asked_kinds):.3f}")

    # The steps before the classifier prepare rows for its uncertainty, too.
    def uncertainty(rows):
        return fitted[-1].uncertainty(fitted[:-1].transform(rows), "differential_entropy")

    strange = asked + 10 * features.std(axis=0) * np.random.default_rng(0).choice([-1, 1], asked.shape)
    print(f"mean differential entropy of wines: {uncertainty(asked).mean():.2f}, of strange rows: {uncertainty(strange).mean():.2f}")


if __name__ == "__main__":
    main()
