import json
import math
import pickle
import threading

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import priornet

# (kind, shape of the logits) of the four kinds of models.
KINDS = [("dirichlet", (6, 4)), ("softmax", (6, 4)), ("dirichlet", (3, 5, 4)), ("softmax", (3, 5, 4))]
# I[mu, theta] is estimated from draws.
WITHOUT_GRADIENT = {"prediction", "mutual_information_mu_theta", "mutual_information_mu_theta_std_err"}


def logits_of(shape, generator, dtype=torch.float64, scale=2.0):
    return torch.randn(shape, generator=generator, dtype=dtype) * scale


def test_flat_dirichlet_has_its_closed_forms(device):
    measured = priornet.measures(torch.zeros(1, 3, dtype=torch.float64, device=device))
    assert measured.prediction.item() == 0
    assert measured.max_prob.item() == pytest.approx(1 / 3)
    assert measured.entropy.item() == pytest.approx(math.log(3))
    # -ln Gamma(3); of a flat Dirichlet over 3 classes E H = psi(4) - psi(2) = 1/2 + 1/3.
    assert measured.differential_entropy.item() == pytest.approx(-math.log(2))
    assert measured.expected_entropy.item() == pytest.approx(5 / 6)
    assert measured.precision.item() == pytest.approx(3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind, shape", KINDS)
def test_results_are_rows_of_the_logits_dtype_and_device(kind, shape, dtype, device, generator):
    logits = logits_of(shape, generator, dtype).to(device)
    measured = priornet.measures(logits, kind)
    for name, values in zip(measured._fields, measured):
        assert values.shape == (shape[-2],)
        assert values.device == logits.device
        assert values.dtype == (torch.int64 if name == "prediction" else dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind, shape", KINDS)
def test_the_tool_gives_the_same_bits(kind, shape, dtype, tool, tmp_path):
    logits = np.random.default_rng(5).normal(scale=4, size=shape).astype(dtype)
    np.save(tmp_path / "logits.npy", logits)
    name = "ensemble" if kind == "softmax" and len(shape) == 3 else kind
    tool("measure", tmp_path / "logits.npy", "--kind", name, "--out", tmp_path / "measures.json")
    theirs = json.loads((tmp_path / "measures.json").read_text())  # with all digits that a number of its type has
    ours = priornet.measures(logits, kind)
    # Of softmax logits the tool also gives the energy, which is not a measure of their probabilities.
    assert tuple(name for name in theirs if name != "energy") == ours._fields
    for field, values in zip(ours._fields, ours):
        np.testing.assert_array_equal(values, np.array(theirs[field], dtype=values.dtype), err_msg=field)


@pytest.mark.parametrize("kind, shape", KINDS)
def test_gradient_is_that_of_finite_differences(kind, shape, device, generator):
    def differentiable(logits):
        measured = priornet.measures(logits, kind, samples=0)
        return tuple(v for n, v in zip(measured._fields, measured) if n not in WITHOUT_GRADIENT)

    logits = logits_of(shape, generator).to(device).requires_grad_()
    assert gradcheck(differentiable, (logits,))


@pytest.mark.parametrize("name", [n for n in priornet.DirichletMeasures._fields if n != "prediction"])
def test_gradient_of_each_measure_alone(name, generator):
    logits = logits_of((5, 3), generator).requires_grad_()
    assert gradcheck(lambda z: getattr(priornet.measures(z), name), (logits,))


def test_a_strided_slice_gives_what_its_copy_gives(device, generator):
    logits = logits_of((8, 12), generator).to(device)[::2, ::3]
    for strided, copied in zip(priornet.measures(logits), priornet.measures(logits.contiguous())):
        assert torch.equal(strided, copied)


def test_what_was_not_estimated_is_nan(generator):
    measured = priornet.measures(logits_of((2, 3, 4), generator), samples=0)
    assert measured.mutual_information_mu_theta.isnan().all()
    assert measured.epkl.isfinite().all()


def test_numpy_comes_back_for_numpy_lists_and_read_only_arrays():
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    for given in (np.zeros((2, 3)), frozen, [[0.0, 0.0, 0.0]] * 2, np.zeros((2, 3), ">f8"), np.zeros((3, 2)).T):
        assert isinstance(priornet.measures(given).entropy, np.ndarray)


def test_a_list_of_tensors_is_stacked(generator):
    members = [torch.randn(4, 3, generator=generator).requires_grad_() for _ in range(2)]
    found, expected = priornet.measures(members), priornet.measures(torch.stack(members).detach().numpy())
    for ours, theirs in zip(found, expected):
        assert isinstance(ours, np.ndarray) and np.array_equal(ours, theirs, equal_nan=True)


def forward_mode(logits):
    return torch.autograd.forward_ad.make_dual(logits, torch.ones_like(logits))


@pytest.mark.parametrize(
    "call",
    [
        lambda logits: priornet.measures(forward_mode(logits)),
        lambda logits: priornet.measures(forward_mode(logits.clone().requires_grad_())),
        lambda logits: priornet.kl_divergence(logits, forward_mode(logits)),
        lambda logits: priornet.kl_divergence(logits.clone().requires_grad_(), forward_mode(logits)),
        lambda logits: priornet.log_density(forward_mode(logits), torch.log_softmax(logits, 1)),
        lambda logits: priornet.forward_kl(forward_mode(logits), torch.tensor([0, 1])),
        lambda logits: priornet.PriorNetworkLoss()(forward_mode(logits), torch.tensor([0, 1])),
    ],
)
def test_forward_mode_derivatives_are_refused_not_zero(call, generator):
    logits = torch.randn(2, 3, generator=generator)
    with torch.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match="has no forward-mode derivatives"):
        call(logits)


@pytest.mark.parametrize("kind, shape", KINDS)
def test_the_default_dtype_and_autocast_change_no_measure(kind, shape, generator, request):
    logits = logits_of(shape, generator, torch.float32)
    expected = priornet.measures(logits, kind)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under_autocast = priornet.measures(logits, kind)
    request.getfixturevalue("double_by_default")
    for found in (under_autocast, priornet.measures(logits, kind)):
        for ours, theirs in zip(found, expected):
            assert ours.dtype == theirs.dtype and ours.numpy().tobytes() == theirs.numpy().tobytes()
    assert torch.get_default_dtype() == torch.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_densities_of_half_precision_are_those_of_float32(dtype, generator):
    logits = logits_of((5, 3), generator, torch.float32).to(dtype)
    log_mu = torch.log_softmax(logits_of((5, 3), generator, torch.float32), 1).to(dtype)
    assert torch.equal(priornet.log_density(logits, log_mu), priornet.log_density(logits.float(), log_mu.float()))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_measured_in_float32(dtype, generator):
    logits = logits_of((4, 3), generator).to(dtype).requires_grad_()
    measured = priornet.measures(logits)
    assert torch.equal(measured.entropy, priornet.measures(logits.float()).entropy)
    measured.entropy.sum().backward()
    assert logits.grad is not None and logits.grad.dtype == dtype


def test_no_rows_give_no_rows(device):
    for kind, shape in (("dirichlet", (0, 3)), ("softmax", (0, 3)), ("dirichlet", (2, 0, 3)), ("softmax", (2, 0, 3))):
        assert all(len(values) == 0 for values in priornet.measures(torch.empty(shape, device=device), kind))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: priornet.measures(torch.zeros(3)), r"logits should be \[N, K\]"),
        (lambda: priornet.measures(torch.zeros(3, 1)), "at least 2 classes"),
        (lambda: priornet.measures(torch.zeros(2, 3, dtype=torch.int64)), "float32 or float64, found Long"),
        (lambda: priornet.measures(np.array([["a", "b"]])), "array of numbers"),
        (lambda: priornet.measures(torch.zeros(2, 3), "gaussian"), "kind should be 'dirichlet' or 'softmax'"),
        (lambda: priornet.measures(torch.zeros(2, 2, 3), samples=1), "samples should be at least 2"),
        (lambda: priornet.kl_divergence(torch.zeros(2, 3), torch.zeros(2, 4)), "shaped like"),
        (lambda: priornet.sample(torch.zeros(3)), r"\[N, K\]"),
        (lambda: priornet.simplex(torch.zeros(2, 4)), r"\[N, 3\]"),
        (lambda: priornet.measures([torch.zeros(3), torch.zeros(4)]), r"one shape, found \[3\] and \[4\]: torch.cat"),
        (lambda: priornet.measures(torch.zeros(2, 2, 3), seed=2**63), "measures: seed should be .* below 2"),
        (lambda: priornet.sample(torch.zeros(2, 3), seed=-(2**63) - 1), "sample: seed should be"),
    ],
)
def test_a_wrong_argument_is_a_value_error_with_the_library_s_message(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_second_derivative_is_refused(generator):
    logits = logits_of((2, 3), generator).requires_grad_()
    first = torch.autograd.grad(priornet.measures(logits).entropy.sum(), logits, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="can be differentiated only once"):
        first.sum().backward()


@pytest.mark.parametrize("kind, shape", KINDS)
def test_shapes_are_known_without_values(kind, shape):
    real = priornet.measures(torch.zeros(shape), kind)
    for value, without in zip(real, priornet.measures(torch.empty(shape, device="meta"), kind)):
        assert (without.shape, without.dtype, without.device.type) == (value.shape, value.dtype, "meta")


def test_threads_may_ask_at_once(generator):
    logits = logits_of((2000, 10), generator)
    alone = priornet.measures(logits)
    found = []

    def ask():
        for _ in range(5):
            found.append(all(torch.equal(a, b) for a, b in zip(priornet.measures(logits), alone)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


def test_divergence_density_and_draws_agree_with_torch_distributions(device, generator):
    p, q = (logits_of((5, 3), generator, scale=1.0).to(device).requires_grad_() for _ in range(2))
    of_p, of_q = (torch.distributions.Dirichlet(z.exp()) for z in (p, q))
    torch.testing.assert_close(priornet.kl_divergence(p, q), torch.distributions.kl_divergence(of_p, of_q))
    assert gradcheck(priornet.kl_divergence, (p, q))
    draws = priornet.sample(p, 4, seed=1)
    assert draws.shape == (4, 5, 3)
    assert torch.equal(draws, priornet.sample(p, 4, seed=1))
    torch.testing.assert_close(priornet.log_density(p, draws.log()), of_p.log_prob(draws), rtol=1e-9, atol=1e-9)
    assert gradcheck(lambda z: priornet.log_density(z, draws.log()), (p,))


def test_the_table_is_that_of_the_measures():
    assert [m.name for m in priornet.measure_table.values()] == list(priornet.measure_table)
    assert set(priornet.DirichletMeasures._fields) <= set(priornet.measure_table)
    assert priornet.measure_table["max_prob"].is_confidence
    assert not priornet.measure_table["prediction"].is_score
    assert priornet.measure_table["entropy"].unit == "nats"
    assert "Entropy, nats: an uncertainty" in priornet.DirichletMeasures.entropy.__doc__


def test_measures_print_as_a_table():
    lines = repr(priornet.measures(torch.zeros(2, 3))).splitlines()
    assert lines[0] == "DirichletMeasures of 2 inputs"
    assert lines[1].split() == ["unit", "mean", "min", "median", "max"]
    assert [line.split()[:3] for line in lines[2:4]] == [["↓", "max_prob", "0.3333"], ["↑", "entropy", "nats"]]
    assert "1 input" in repr(priornet.measures(np.zeros((1, 3))))


def test_measures_without_values_print_their_shapes():
    assert "device='meta'" in repr(priornet.measures(torch.empty(2, 3, device="meta")))


def test_measures_and_dirichlets_show_in_a_notebook(generator):
    shown = priornet.measures(logits_of((50, 3), generator))._repr_html_()
    assert shown.startswith("<table>") and "Differential entropy" in shown and shown.count("<svg") == 9
    drawn = priornet.simplex([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]], ["<cat>", "dog", "owl"])
    assert drawn._repr_html_().count("&lt;cat&gt;") == 2
    assert drawn.svg.startswith("<svg") and drawn.svg.count("<g ") == 2


def test_the_simplex_is_dark_where_the_dirichlet_is_dense(tmp_path):
    import re

    drawn = priornet.simplex([5.0, 0.0, 0.0])  # all at the first class, at the top
    darkest = re.search(r'points="([\d.]+),([\d.]+) [^"]*" fill="#10346e"', drawn.svg)
    assert darkest is not None and float(darkest.group(2)) < 40
    drawn.save(tmp_path / "simplex.svg")
    assert (tmp_path / "simplex.svg").read_text() == drawn.svg


def test_measures_are_pickled_as_they_are():
    measured = priornet.measures(np.zeros((2, 3)))
    again = pickle.loads(pickle.dumps(measured))
    assert type(again) is type(measured) and (again.entropy == measured.entropy).all()


@pytest.mark.parametrize("kind, shape", KINDS)
def test_measures_are_the_same_in_inference_mode(kind, shape, device, generator):
    logits = logits_of(shape, generator).to(device).requires_grad_()
    expected = priornet.measures(logits, kind)
    with torch.inference_mode():
        found = priornet.measures(logits * 1, kind)
    assert all(torch.equal(a, b) for a, b in zip(found, expected))
