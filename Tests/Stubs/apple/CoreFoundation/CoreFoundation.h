// The types of CoreFoundation, and of headers it includes on a Mac, that metal-cpp's headers use.
#pragma once

#include <math.h>
#include <stdint.h>

typedef struct dispatch_data_s* dispatch_data_t;
typedef struct dispatch_queue_s* dispatch_queue_t;
typedef double CFTimeInterval;
typedef const void* CFTypeRef;
typedef struct CGSize {
  double width, height;
} CGSize;
