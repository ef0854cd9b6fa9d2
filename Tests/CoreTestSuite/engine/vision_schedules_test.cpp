// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/vision_schedules_test.cpp"
