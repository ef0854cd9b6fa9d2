// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/state_dtype_test.cpp"
#include "../../CxxCoreTests/model/streamed_experts_test.cpp"
#include "../../CxxCoreTests/model/vision_tower_test.cpp"
#include "../../CxxCoreTests/model/weight_cache_choice_test.cpp"
#include "../../CxxCoreTests/model/weight_cache_gpu_test.cpp"
#include "../../CxxCoreTests/model/weight_cache_test.cpp"
#include "../../CxxCoreTests/model/weights_test.cpp"
