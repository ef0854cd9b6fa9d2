// A type that metal-cpp's headers use.
#pragma once

typedef struct __IOSurface* IOSurfaceRef;
