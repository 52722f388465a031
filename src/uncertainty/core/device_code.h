#pragma once

/// Marks a function that also runs on a GPU.

#if defined(__CUDACC__)
#define PRIORNET_DEVICE __host__ __device__
#else
#define PRIORNET_DEVICE
#endif
