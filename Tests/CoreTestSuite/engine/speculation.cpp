// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/speculation/copy_task_test.cpp"
#include "../../CxxCoreTests/engine/speculation/speculation_test.cpp"
#include "../../CxxCoreTests/engine/speculation/state_test.cpp"
