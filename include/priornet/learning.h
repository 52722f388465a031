#pragma once

// Data sets, networks, training, trained runs.

#include <priornet/learning/augmentation.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/class_overlap.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/columns.h>
#include <priornet/learning/config.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/evaluation.h>
#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/images.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/local_launch.h>
#include <priornet/learning/logits.h>
#include <priornet/learning/method.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/odin.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/outliers.h>
#include <priornet/learning/processes.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/resize.h>
#include <priornet/learning/run_folder.h>
#include <priornet/learning/scoring.h>
#include <priornet/learning/settings.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/learning/trained_run.h>
#include <priornet/learning/training.h>
#include <priornet/learning/training_sets.h>
#include <priornet/learning/transforms.h>
#include <priornet/learning/trivial_statistics.h>
