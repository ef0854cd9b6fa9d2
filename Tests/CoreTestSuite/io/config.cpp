// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/io/config/model_config_refusals_test.cpp"
#include "../../CxxCoreTests/io/config/model_config_test.cpp"
#include "../../CxxCoreTests/io/config/qwen4_config_test.cpp"
