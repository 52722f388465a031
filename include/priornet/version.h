#pragma once

// The version, here and nowhere else: CMake reads this file.

#define PRIORNET_VERSION_MAJOR 0
#define PRIORNET_VERSION_MINOR 2
#define PRIORNET_VERSION_PATCH 0
#define PRIORNET_VERSION "0.2.0"
