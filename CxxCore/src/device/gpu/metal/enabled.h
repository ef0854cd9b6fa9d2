// Whether the Metal backend is compiled: on Apple systems, and for checks of its types elsewhere.
#pragma once

#if defined(__APPLE__) || defined(PAGODA_METAL_TYPES)
#define PAGODA_METAL 1
#endif
