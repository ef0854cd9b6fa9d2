// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/vision_test.cpp"
