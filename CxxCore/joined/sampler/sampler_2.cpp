// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/sampler/logit_blocks.cpp"
#include "../../src/sampler/logit_bounds.cpp"
#include "../../src/sampler/philox.cpp"
#include "../../src/sampler/sampler.cpp"
#include "../../src/sampler/shape.cpp"
