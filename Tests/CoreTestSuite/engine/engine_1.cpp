// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/activity_test.cpp"
#include "../../CxxCoreTests/engine/agents_burst_test.cpp"
#include "../../CxxCoreTests/engine/allocation_failure_test.cpp"
#include "../../CxxCoreTests/engine/answer_text_test.cpp"
#include "../../CxxCoreTests/engine/device_faults_test.cpp"
#include "../../CxxCoreTests/engine/engine_core_test.cpp"
#include "../../CxxCoreTests/engine/engine_thread_test.cpp"
