import copy
import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck
from torch.distributions import Dirichlet, kl_divergence

import priornet
from priornet import losses


@pytest.fixture
def batch(generator, device):
    """Logits of 4 rows in distribution and 3 outside, labels, a teacher's probabilities."""
    logits = torch.randn(7, 5, generator=generator, dtype=torch.float64).to(device).requires_grad_()
    labels = torch.randint(0, 5, (4,), generator=generator).to(device)
    probabilities = torch.softmax(torch.randn(4, 5, generator=generator, dtype=torch.float64), 1).to(device)
    return logits, labels, probabilities


def sharp(labels, alpha0, epsilon, classes=5):
    alpha = torch.full((len(labels), classes), alpha0 * epsilon, dtype=torch.float64, device=labels.device)
    return alpha.scatter_(1, labels.unsqueeze(1), alpha0 * (1 - (classes - 1) * epsilon))


def test_row_losses_are_divergences_from_their_targets(batch):
    logits, labels, probabilities = batch
    inside = logits[:4]
    model = Dirichlet(inside.exp())
    for target, alpha in (
        (priornet.smoothed_labels(labels, 50, 0.02), sharp(labels, 50, 0.02)),
        (priornet.flat(), torch.ones_like(inside)),
        (priornet.teacher(probabilities, 30), 30 * probabilities),
    ):
        torch.testing.assert_close(target.concentrations(inside), alpha)
        torch.testing.assert_close(priornet.forward_kl(inside, target), kl_divergence(Dirichlet(alpha), model))
        torch.testing.assert_close(priornet.reverse_kl(inside, target), kl_divergence(model, Dirichlet(alpha)))


def test_labels_stand_for_their_smoothed_target(batch):
    logits, labels, _ = batch
    expected = priornet.forward_kl(logits[:4], priornet.smoothed_labels(labels))
    assert torch.equal(priornet.forward_kl(logits[:4], labels), expected)


@pytest.mark.parametrize("divergence", [priornet.forward_kl, priornet.reverse_kl])
@pytest.mark.parametrize("kind", ["labels", "flat", "teacher"])
def test_row_losses_have_the_gradient_of_finite_differences(divergence, kind, batch):
    logits, labels, probabilities = batch
    target = {
        "labels": priornet.smoothed_labels(labels, 50),
        "flat": priornet.flat(),
        "teacher": priornet.teacher(probabilities, 50),
    }[kind]
    assert gradcheck(lambda z: divergence(z[:4], target), (logits,))


@pytest.mark.parametrize("method", list(losses.methods))
def test_every_method_has_the_gradient_of_finite_differences(method, batch):
    logits, labels, probabilities = batch
    info = losses.methods[method]
    rows = logits if info.needs_outside else logits[:4]
    targets = {"probabilities": probabilities} if info.needs_teacher else {"labels": labels}
    assert gradcheck(lambda z: priornet.method_loss(method, z, **targets).total, (rows.detach().requires_grad_(),))


def test_an_evidential_loss_is_held_to_its_prior(batch):
    logits, labels, _ = batch
    prior = 0.1
    rows = torch.log(prior + logits[:4].detach().exp()).requires_grad_()
    misleading = rows.detach().exp().scatter(1, labels.unsqueeze(1), prior)
    expected = kl_divergence(Dirichlet(misleading), Dirichlet(torch.full_like(misleading, prior))).mean()
    loss = priornet.method_loss("evidential", rows, labels, prior=prior)
    torch.testing.assert_close(loss.inside, expected)
    assert gradcheck(lambda z: priornet.method_loss("evidential", z, labels, prior=prior).total, (rows,))
    module = priornet.MethodLoss("evidential", prior=prior)
    assert torch.equal(module(rows, labels), loss.total) and "prior=0.1" in repr(module)


@pytest.mark.parametrize("method", [name for name, info in losses.methods.items() if not info.needs_outside])
def test_an_empty_batch_has_no_loss(method):
    labels = torch.zeros(0, dtype=torch.int64)
    assert float(priornet.method_loss(method, torch.zeros(0, 3), labels).total) == 0


def test_a_teacher_may_be_certain(batch):
    logits = batch[0].detach().float()[:2].requires_grad_()
    certain = torch.eye(5, device=logits.device)[:2]
    least = torch.finfo(torch.float32).eps
    target = priornet.teacher(certain, 50)
    torch.testing.assert_close(target.concentrations(logits), 50 * certain.clamp_min(least))
    for divergence in (priornet.forward_kl, priornet.reverse_kl):
        expected = divergence(logits, priornet.teacher(certain.clamp_min(least), 50))
        assert torch.isfinite(expected).all() and torch.equal(divergence(logits, target), expected)
    total = priornet.distillation_loss(logits, certain).total
    assert torch.isfinite(total) and torch.isfinite(torch.autograd.grad(total, logits)[0]).all()


def test_the_prior_network_loss_is_the_weighted_sum_of_its_parts(batch):
    logits, labels, _ = batch
    loss = priornet.prior_network_loss(
        logits, labels, alpha0=100, epsilon=0.01, divergence_weight=2, outside_weight=3, cross_entropy_weight=0.5
    )
    inside = priornet.forward_kl(logits[:4], priornet.smoothed_labels(labels, 100, 0.01)).mean()
    outside = priornet.forward_kl(logits[4:], priornet.flat()).mean()
    cross_entropy = torch.nn.functional.cross_entropy(logits[:4], labels)
    torch.testing.assert_close(loss.inside, inside)
    torch.testing.assert_close(loss.outside, outside)
    torch.testing.assert_close(loss.cross_entropy, cross_entropy)
    torch.testing.assert_close(loss.total, 2 * inside + 3 * outside + 0.5 * cross_entropy)
    assert loss.total.requires_grad and not loss.inside.requires_grad


def test_outlier_exposure_and_distillation_are_their_formulas(batch):
    logits, labels, probabilities = batch
    uniform = -torch.log_softmax(logits[4:], 1).mean()
    exposure = priornet.outlier_exposure_loss(logits, labels, outside_weight=0.5)
    expected = torch.nn.functional.cross_entropy(logits[:4], labels) + 0.5 * uniform
    torch.testing.assert_close(exposure.total, expected)
    distilled = priornet.distillation_loss(logits, probabilities, alpha0=20)
    inside = priornet.forward_kl(logits[:4], priornet.teacher(probabilities, 20)).mean()
    outside = priornet.forward_kl(logits[4:], priornet.flat()).mean()
    torch.testing.assert_close(distilled.total, inside + outside)


@pytest.mark.parametrize(
    "module, function",
    [
        (lambda: priornet.PriorNetworkLoss(alpha0=100), lambda *a: priornet.prior_network_loss(*a, alpha0=100)),
        (lambda: priornet.PriorNetworkLoss(reverse=True), lambda *a: priornet.prior_network_loss(*a, reverse=True)),
        (lambda: priornet.OutlierExposureLoss(outside_weight=0.5), lambda *a: priornet.outlier_exposure_loss(*a, outside_weight=0.5)),
        (lambda: priornet.DistillationLoss(alpha0=10), lambda *a: priornet.distillation_loss(*a, alpha0=10)),
        (lambda: priornet.MethodLoss("dpn"), priornet.prior_network_loss),
    ],
)
def test_modules_give_what_functions_give(module, function, batch):
    logits, labels, probabilities = batch
    loss = module()
    targets = probabilities if isinstance(loss, priornet.DistillationLoss) else labels
    total = loss(logits, targets)
    assert torch.equal(total, function(logits, targets).total)
    assert torch.equal(loss(logits[:4], targets, logits[4:]), total)
    assert torch.equal(copy.deepcopy(loss)(logits, targets), total)
    assert all(torch.equal(a, b) for a, b in zip(loss.parts(logits, targets), function(logits, targets)))


def test_gradients_arrive_at_both_parts_of_a_batch(batch):
    logits, labels, _ = batch
    inside, outside = (part.detach().requires_grad_() for part in (logits[:4], logits[4:]))
    loss = priornet.PriorNetworkLoss(alpha0=100)
    loss(inside, labels, outside).backward()
    loss(logits, labels).backward()
    assert torch.equal(torch.cat([inside.grad, outside.grad]), logits.grad)


def test_a_network_learns_by_the_loss(device):
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(60, 2, generator=generator)
    labels = (inputs[:, 0] > 0).long()
    outside = 8 * torch.randn(60, 2, generator=generator)
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2)).to(device)
    loss = priornet.PriorNetworkLoss(reverse=True, alpha0=20, epsilon=0.05)
    optimiser = torch.optim.Adam(network.parameters(), 0.02)
    inputs, labels, outside = inputs.to(device), labels.to(device), outside.to(device)
    first = None
    for _ in range(100):
        optimiser.zero_grad()
        total = loss(network(torch.cat([inputs, outside])), labels)
        first = first or total.item()
        total.backward()
        optimiser.step()
    assert total.item() < first / 2
    assert priornet.measures(network(inputs)).prediction.eq(labels).float().mean() > 0.9


def test_mixed_precision_is_lost_in_float32(batch):
    logits, labels, _ = batch
    half = logits.detach().to(torch.bfloat16).requires_grad_()
    total = priornet.PriorNetworkLoss()(half, labels)
    assert total.dtype == torch.float32
    total.backward()
    assert half.grad.dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_targets_of_half_precision_become_float32(dtype, batch):
    logits, _, probabilities = (part.detach() for part in batch)
    half = probabilities.to(dtype)
    for rows in (logits.float(), logits.to(dtype)):
        expected = priornet.distillation_loss(rows.float(), half.float())
        assert torch.equal(priornet.distillation_loss(rows, half).total, expected.total)
        assert torch.equal(priornet.DistillationLoss()(rows, half), expected.total)
        wanted = priornet.forward_kl(rows[:4].float(), priornet.teacher(half.float()))
        assert torch.equal(priornet.forward_kl(rows[:4], priornet.teacher(half)), wanted)
        assert priornet.teacher(half).concentrations(rows[:4]).dtype == torch.float32


def test_help_tells_every_setting():
    for documented in (priornet.PriorNetworkLoss, priornet.prior_network_loss):
        for key, setting in losses.methods["dpn"].settings.items():
            assert f"{key}: {setting.what}" in documented.__doc__


def test_a_module_prints_its_method_and_settings():
    assert repr(priornet.PriorNetworkLoss(reverse=True, alpha0=100)) == "PriorNetworkLoss('dpn-reverse', alpha0=100)"


def test_shapes_are_known_without_values():
    logits = torch.empty(7, 5, device="meta", requires_grad=True)
    labels = torch.empty(4, dtype=torch.int64, device="meta")
    total = priornet.PriorNetworkLoss()(logits, labels)
    assert total.shape == ()
    assert priornet.forward_kl(logits[:4], labels).shape == (4,)
    total.backward()
    assert logits.grad.shape == (7, 5)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: priornet.PriorNetworkLoss(alpha=3.0), "there is no setting alpha"),
        (lambda: priornet.PriorNetworkLoss(alpha0=-3.0), "alpha0 should be above 0"),
        (lambda: priornet.PriorNetworkLoss(alpha0=math.inf), "finite"),
        (lambda: priornet.MethodLoss("unknown"), "unknown"),
        (lambda: priornet.MethodLoss("evidential", prior=0.0), "prior should be positive and finite, found 0"),
        (lambda: priornet.MethodLoss("dpn", prior=0.1), "dpn: takes no prior, found 0.1"),
        (lambda: priornet.forward_kl(torch.zeros(2, 3), torch.tensor([0, 3])), r"in \[0, 3\), found 3"),
        (lambda: priornet.forward_kl(torch.zeros(2, 3), torch.tensor([0, 1, 2])), r"of shape \[2\]"),
        (lambda: priornet.prior_network_loss(torch.zeros(2, 3), torch.tensor([0, 1, 2])), "first of 2 rows"),
        (lambda: priornet.method_loss("dnn", torch.zeros(2, 3), torch.tensor([0])), "nothing from out-of-distribution rows"),
        (lambda: priornet.method_loss("distil", torch.zeros(2, 3), torch.tensor([0])), "probabilities should be"),
        (lambda: priornet.prior_network_loss(torch.zeros(2, 3), torch.tensor([0]), epsilon=0.6), "epsilon should be"),
        (lambda: priornet.distillation_loss(torch.zeros(2, 3), torch.ones(2, 3).double() / 3), "Float, like logits"),
        (lambda: priornet.PriorNetworkLoss(100.0), "reverse should be True or False, found 100.0; .* alpha0=100.0"),
        (lambda: priornet.prior_network_loss(torch.zeros(2, 3), [0, 1], reverse="yes"), "found 'yes'"),
        (lambda: priornet.distillation_loss(torch.zeros(1, 2), torch.tensor([[0.4, 0.4]])), r"found sum 0.8 .* in row 0 \(counted from 0\)$"),
        (lambda: priornet.DistillationLoss()(torch.zeros(1, 2), torch.tensor([[3.0, -1.0]])), "look like logits: apply softmax"),
        (lambda: priornet.teacher(torch.tensor([[2.0, -1.0]])), "look like logits: apply softmax"),
        (lambda: priornet.PriorNetworkLoss()(torch.zeros(2, 3), [0, 1], torch.zeros(2, 4)), r"K classes .* found \[2, 4\] beside"),
        (lambda: priornet.outlier_exposure_loss(torch.zeros(2, 3), [0, 1], torch.zeros(3)), r"found \[3\] beside"),
    ],
)
def test_a_wrong_argument_is_a_value_error_with_the_library_s_message(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_labels_may_be_arrays_and_lists(batch):
    logits, labels, probabilities = batch
    inside = logits[:4]
    unsigned = [labels.cpu().numpy().astype(kind) for kind in ("uint16", "uint32", "uint64")]
    for given in (labels.cpu().numpy(), labels.tolist(), list(labels.cpu()), *unsigned):
        assert torch.equal(priornet.forward_kl(inside, given), priornet.forward_kl(inside, labels))
        assert torch.equal(priornet.PriorNetworkLoss()(logits, given), priornet.PriorNetworkLoss()(logits, labels))
        assert torch.equal(
            priornet.outlier_exposure_loss(logits, given).total, priornet.outlier_exposure_loss(logits, labels).total
        )


@pytest.mark.parametrize("method", list(losses.methods))
def test_the_default_dtype_and_autocast_change_no_loss(method, batch, request):
    logits, labels, probabilities = batch
    logits, probabilities = logits.detach().float(), probabilities.float()
    taught, outside = losses.methods[method].needs_teacher, losses.methods[method].needs_outside

    def computed():
        given = (logits if outside else logits[: len(labels)]).clone().requires_grad_()
        loss = priornet.MethodLoss(method)(given, probabilities if taught else labels)
        return loss.detach(), torch.autograd.grad(loss, given)[0]

    expected = computed()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under_autocast = computed()
    request.getfixturevalue("double_by_default")
    for found in (under_autocast, computed()):
        assert all(ours.dtype == theirs.dtype and torch.equal(ours, theirs) for ours, theirs in zip(found, expected))


def test_a_second_derivative_is_refused(batch):
    logits, labels, _ = batch
    first = torch.autograd.grad(priornet.PriorNetworkLoss()(logits, labels), logits, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="can be differentiated only once"):
        first.sum().backward()


@pytest.mark.parametrize("method", list(losses.methods))
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_losses_are_the_same_without_a_graph(method, mode, batch):
    logits, labels, probabilities = batch
    info = losses.methods[method]
    targets = {"probabilities": probabilities} if info.needs_teacher else {"labels": labels}
    expected = priornet.method_loss(method, logits if info.needs_outside else logits[:4], **targets)
    with mode():
        copy_made_here = (logits if info.needs_outside else logits[:4]) * 1
        found = priornet.method_loss(method, copy_made_here, **targets)
    assert not found.total.requires_grad
    assert all(torch.equal(a, b) for a, b in zip(found, expected))


def test_divergences_take_arrays_and_lists():
    logits = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.25, 3.0]], dtype=torch.float64)
    for divergence in (priornet.forward_kl, priornet.reverse_kl):
        expected = divergence(logits, torch.tensor([1, 2]))
        for given in (logits.numpy(), logits.tolist()):
            for labels in ([1, 2], np.array([1, 2]), torch.tensor([1, 2])):
                torch.testing.assert_close(divergence(given, labels), expected)
