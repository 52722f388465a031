#pragma once

// Models in use: the model file, prediction, export.

#include <priornet/deploy/inputs.h>
#include <priornet/deploy/model_export.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/predictor.h>
#include <priornet/deploy/thresholds.h>
