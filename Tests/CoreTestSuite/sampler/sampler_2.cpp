// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/sampler/logit_blocks_test.cpp"
#include "../../CxxCoreTests/sampler/philox_test.cpp"
#include "../../CxxCoreTests/sampler/sampler_test.cpp"
#include "../../CxxCoreTests/sampler/shape_test.cpp"
#include "../../CxxCoreTests/sampler/top_p_test.cpp"
