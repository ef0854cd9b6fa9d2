// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/mini_model_test.cpp"
#include "../../CxxCoreTests/model/mtp_gguf_test.cpp"
#include "../../CxxCoreTests/model/rope_scaling_test.cpp"
#include "../../CxxCoreTests/model/row_table_test.cpp"
#include "../../CxxCoreTests/model/schedules_test.cpp"
#include "../../CxxCoreTests/model/smollm2_test.cpp"
#include "../../CxxCoreTests/model/state_copy_test.cpp"
