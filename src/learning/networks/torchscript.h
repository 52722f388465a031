#pragma once

#include <priornet/learning/classifier.h>
#include <priornet/learning/networks.h>

#include <memory>

// Networks that are programs: those that PyTorch scripted or traced (torch.jit), with the weights that they were saved
// with, and those that it compiled (AOTInductor packages, .pt2). Running one runs the program in its file, so a file of
// unknown origin is opened only where the user allows it.

namespace priornet {

/// Whether options.file names an AOTInductor package: it can be asked, and neither trained nor looked into.
bool is_package(const ModelOptions& options);

/// The network of options.program, or else of the file options.file; of no classes (0), as many as it gives.
///
/// A TorchScript network: where the classes differ from what it gives, or
/// options.dense is given, its last dense layer is replaced by a perceptron (dense, slope, keep_dense; drawn from the
/// generator) on the features that came to it. options.mean and deviation, per channel of values in [0, 1], come first.
///
/// Its parameters have the names that PyTorch gives them, behind `script.`; those of the new head begin with `head.`.
/// It gives features where its program gives (logits, features) and the logits follow from the features alone, or else
/// where its last dense layer can be found. It has no dropout samples, and cannot be recorded or
/// exported. A traced network trains as it was traced: in evaluation mode, say.
///
/// An AOTInductor package (torch._inductor.aoti_compile_and_package): it has no parameters, gives logits alone, and
/// computes on the device that it was compiled for.
///
/// DataError that names the file: none there, no TorchScript, a package where LibTorch is older than 2.6, a network
/// that does not take inputs of that shape or does not give logits [N, K]. ConfigError for a last layer that would have
/// to be replaced and cannot be found.
std::shared_ptr<Classifier> make_program(const ModelOptions& options, const at::Generator& generator);

}  // namespace priornet
