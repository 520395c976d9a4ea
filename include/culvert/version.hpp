// SPDX-License-Identifier: BSL-1.0
//
// The version of culvert, the oldest CUDA toolkit it takes, and the inline namespace that
// tells apart builds whose inline functions differ.
#pragma once

#include <cuda_runtime_api.h>

#define CULVERT_VERSION_MAJOR 0
#define CULVERT_VERSION_MINOR 1
#define CULVERT_VERSION_PATCH 0
#define CULVERT_VERSION_STRING "0.1.0"

#if CUDART_VERSION < 12000
#error "culvert needs CUDA 12.0 or later."
#endif

// 1 where the translation unit is compiled with exceptions.
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define CULVERT_HAS_EXCEPTIONS 1
#else
#define CULVERT_HAS_EXCEPTIONS 0
#endif

// CUDA_API_PER_THREAD_DEFAULT_STREAM renames the runtime's functions, and -fno-exceptions
// changes what a failure does. The same inline function would then have two bodies in one
// program. The inline namespace gives each build its own names, so that a mix is two sets
// of functions, or a link error where a type crosses the border; never the wrong one. The
// name of the usual build is v0.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#if CULVERT_HAS_EXCEPTIONS
#define CULVERT_ABI v0_per_thread
#else
#define CULVERT_ABI v0_per_thread_no_exceptions
#endif
#else
#if CULVERT_HAS_EXCEPTIONS
#define CULVERT_ABI v0
#else
#define CULVERT_ABI v0_no_exceptions
#endif
#endif

namespace culvert {
inline namespace CULVERT_ABI {}
}  // namespace culvert
