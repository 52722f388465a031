#pragma once

#include "tool/commands/command.h"

// The list of subcommands: one line each, in the order of `priornet --help`. X(NAME, SUMMARY) stands for the subcommand
// NAME, whose options the function describe_NAME fills in, in a file of its own; a subcommand of `priornet data` has
// describe_data_NAME (list, get and verify, which look at the same files, in data.cpp).

#define PRIORNET_SUBCOMMANDS(X)                                                                                     \
  X(reproduce, "Run the paper's experiments and report on them")                                                    \
  X(report, "Make one page with tables and charts from results, or print the tables alone")                         \
  X(train, "Train a network by a TOML file, or on any data set with defaults")                                      \
  X(evaluate, "Measure error, calibration, and detection of mistakes and of out-of-distribution inputs")            \
  X(calibrate, "Make a model file from a run, with thresholds from held-out inputs")                                \
  X(predict, "Print class, probability, uncertainties and verdict for each input")                                  \
  X(export, "Write a model for other runtimes, with every uncertainty measure and the verdict in its graph")        \
  X(serve, "Serve predictions with their uncertainties over HTTP, with a page to try a model")                      \
  X(measure, "Compute every uncertainty measure from a classifier's logits, in nats")                               \
  X(detect, "Measure how well scores tell a positive set (such as out-of-distribution inputs) from a negative one") \
  X(data, "List, get, check, show and compare data sets")                                                           \
  X(bench, "Measure the speed of our kernels beside plain LibTorch")                                                \
  X(manual, "Write man pages, and completions for bash, zsh and fish")

#define PRIORNET_DATA_SUBCOMMANDS(X)                                                       \
  X(list, "List the known data sets: where they are, their splits and terms")              \
  X(get, "Get data sets from the web, or from packages that hold them")                    \
  X(verify, "Check the sizes and checksums of the files of data sets")                     \
  X(show, "Show counts, classes, means and a contact sheet of a data set")                 \
  X(export, "Write the images of a set as PNG files, one folder per class")                \
  X(compare, "Say how different two sets are without any network: is an OOD test honest?") \
  X(synthesise, "Make out-of-distribution images from a set")

namespace priornet::tool {

#define PRIORNET_DECLARE(name, summary) void describe_##name(Command& command);
PRIORNET_SUBCOMMANDS(PRIORNET_DECLARE)
#undef PRIORNET_DECLARE
#define PRIORNET_DECLARE(name, summary) void describe_data_##name(Command& command);
PRIORNET_DATA_SUBCOMMANDS(PRIORNET_DECLARE)
#undef PRIORNET_DECLARE

}  // namespace priornet::tool
