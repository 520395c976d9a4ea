// SPDX-License-Identifier: BSL-1.0
#pragma once

// A kernel that does nothing; as host code sees it.
void empty_kernel(float* data, float value, int count);
