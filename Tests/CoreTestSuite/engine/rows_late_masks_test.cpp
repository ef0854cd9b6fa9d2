// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/rows/late_masks_test.cpp"
