// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/sampler/adjust.cpp"
#include "../../src/sampler/check_params.cpp"
#include "../../src/sampler/draw_lists.cpp"
#include "../../src/sampler/dry.cpp"
#include "../../src/sampler/listed_tokens.cpp"
