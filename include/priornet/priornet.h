#pragma once

// Everything in one header. It takes long to compile: including one component, or one header, takes less time.

#include <priornet/deploy.h>
#include <priornet/learning.h>
#include <priornet/uncertainty.h>
#include <priornet/version.h>
