// Types of the argument structs shared by shaders and host: sizes are fixed, and every compiler asserts them.
#pragma once

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif
