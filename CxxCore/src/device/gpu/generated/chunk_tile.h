// chunk_tile.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 6 "Shaders/chunk_tile.h"
#include "device/gpu/generated/stored.h"
