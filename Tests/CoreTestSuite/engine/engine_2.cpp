// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/flat_memory_test.cpp"
#include "../../CxxCoreTests/engine/flights_test.cpp"
#include "../../CxxCoreTests/engine/leader_test.cpp"
#include "../../CxxCoreTests/engine/pool_test.cpp"
#include "../../CxxCoreTests/engine/progress_test.cpp"
#include "../../CxxCoreTests/engine/synthetic_model_test.cpp"
#include "../../CxxCoreTests/engine/vision_files_test.cpp"
#include "../../CxxCoreTests/engine/vision_llama_cpp_test.cpp"
