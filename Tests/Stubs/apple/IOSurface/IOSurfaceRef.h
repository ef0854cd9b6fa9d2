// A type that metal-cpp's headers name.
#pragma once

typedef struct __IOSurface* IOSurfaceRef;
