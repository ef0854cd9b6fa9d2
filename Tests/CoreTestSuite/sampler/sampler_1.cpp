// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/sampler/adjust_test.cpp"
#include "../../CxxCoreTests/sampler/check_params_test.cpp"
#include "../../CxxCoreTests/sampler/draw_lists_test.cpp"
#include "../../CxxCoreTests/sampler/listed_tokens_test.cpp"
