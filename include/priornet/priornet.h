#pragma once

// Everything, for who would rather not choose. It is much to compile: one component, or one header, is less.

#include <priornet/deploy.h>
#include <priornet/learning.h>
#include <priornet/uncertainty.h>
#include <priornet/version.h>
