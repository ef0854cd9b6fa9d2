// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/allocation_test.cpp"
#include "../../CxxCoreTests/model/batch_test.cpp"
#include "../../CxxCoreTests/model/config_keys_test.cpp"
#include "../../CxxCoreTests/model/gguf_model_test.cpp"
#include "../../CxxCoreTests/model/matches_transformers_test.cpp"
#include "../../CxxCoreTests/model/memory_test.cpp"
