# Written by `python3 -m priornet._write_types` from the table of measures; not to be edited.
from typing import Generic, NamedTuple, TypeVar

Array = TypeVar("Array")

class SoftmaxMeasures(NamedTuple, Generic[Array]):
    prediction: Array  # Prediction
    max_prob: Array  # Max. probability: a confidence (total)
    entropy: Array  # Entropy, nats: an uncertainty (total)
    def _repr_html_(self) -> str: ...

class EnsembleMeasures(NamedTuple, Generic[Array]):
    prediction: Array  # Prediction
    max_prob: Array  # Max. probability: a confidence (total)
    entropy: Array  # Entropy, nats: an uncertainty (total)
    expected_entropy: Array  # Expected entropy, nats: an uncertainty (data)
    mutual_information: Array  # Mutual information, nats: an uncertainty (model)
    def _repr_html_(self) -> str: ...

class DirichletMeasures(NamedTuple, Generic[Array]):
    prediction: Array  # Prediction
    max_prob: Array  # Max. probability: a confidence (total)
    entropy: Array  # Entropy, nats: an uncertainty (total)
    expected_entropy: Array  # Expected entropy, nats: an uncertainty (data)
    mutual_information: Array  # Mutual information, nats: an uncertainty (distributional)
    differential_entropy: Array  # Differential entropy, nats: an uncertainty (distributional)
    precision: Array  # Precision: a confidence (distributional)
    expected_pairwise_kl: Array  # Expected pairwise KL, nats: an uncertainty (distributional)
    epistemic_variance: Array  # Epistemic variance: an uncertainty (distributional)
    aleatoric_variance: Array  # Aleatoric variance: an uncertainty (data)
    def _repr_html_(self) -> str: ...

class DirichletEnsembleMeasures(NamedTuple, Generic[Array]):
    prediction: Array  # Prediction
    max_prob: Array  # Max. probability: a confidence (total)
    entropy: Array  # Entropy, nats: an uncertainty (total)
    expected_entropy: Array  # Expected entropy, nats: an uncertainty (data)
    mutual_information: Array  # Mutual information, nats: an uncertainty (distributional)
    mutual_information_y_theta: Array  # M.I. of class and model, nats: an uncertainty (model)
    differential_entropy: Array  # Differential entropy, nats: an uncertainty (distributional)
    precision: Array  # Precision: a confidence (distributional)
    expected_pairwise_kl: Array  # Expected pairwise KL, nats: an uncertainty (distributional)
    epistemic_variance: Array  # Epistemic variance: an uncertainty (distributional)
    aleatoric_variance: Array  # Aleatoric variance: an uncertainty (data)
    epkl: Array  # Expected pairwise KL of members, nats: an uncertainty (model)
    mutual_information_mu_theta: Array  # M.I. of categorical and model, nats: an uncertainty (model)
    mutual_information_mu_theta_std_err: Array  # Standard error of the M.I. of categorical and model, nats
    def _repr_html_(self) -> str: ...
