#pragma once

#include <priornet/learning/classifier.h>
#include <priornet/learning/networks.h>

#include <memory>

// Networks that are programs: those that PyTorch scripted or traced (torch.jit), with the weights that they were saved
// with, and those that it compiled (AOTInductor packages, .pt2). Running one runs the program in its file, so a file of
// unknown origin is opened only where the user allows it.

namespace priornet {

/// Whether options.file names an AOTInductor package: it can be run, but neither trained nor looked into.
bool is_package(const ModelOptions& options);

/// The network of options.program, or else of the file options.file. With 0 classes in the options, it keeps its own
/// number.
///
/// A TorchScript network: if the classes differ from what it gives, or if options.dense is given, its last dense layer
/// is replaced by a perceptron (dense, slope, keep_dense; drawn from the generator) on that layer's inputs.
/// options.mean and deviation, per channel of values in [0, 1], come first.
///
/// Its parameters have the names that PyTorch gives them, behind `script.`; those of the new head begin with `head.`.
/// It gives features if its program gives (logits, features) and the logits follow from the features alone, or else if
/// its last dense layer can be found. It has no dropout samples, and cannot be recorded or exported. A traced network
/// trains in the mode it was traced in: in evaluation mode, for example.
///
/// An AOTInductor package (torch._inductor.aoti_compile_and_package): it has no parameters, gives logits alone, and
/// computes on the device that it was compiled for.
///
/// DataError that names the file: no file, no TorchScript, a package while LibTorch is older than 2.6, a network that
/// does not take inputs of that shape or does not give logits [N, K]. ConfigError if a last layer has to be replaced
/// and cannot be found.
std::shared_ptr<Classifier> make_program(const ModelOptions& options, const at::Generator& generator);

}  // namespace priornet
