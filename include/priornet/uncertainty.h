#pragma once

// Functions on tensors: measures, ensembles, losses, metrics, decisions. Needs LibTorch alone.

#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/drift.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/losses.h>
#include <priornet/uncertainty/measure_table.h>
#include <priornet/uncertainty/measures.h>
#include <priornet/uncertainty/named_tensor.h>
#include <priornet/uncertainty/random.h>
#include <priornet/uncertainty/rank_correlation.h>
