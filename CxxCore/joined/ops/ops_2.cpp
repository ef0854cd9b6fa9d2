// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/ops/gates.cpp"
#include "../../src/ops/gelu.cpp"
#include "../../src/ops/index.cpp"
#include "../../src/ops/kda.cpp"
#include "../../src/ops/latents.cpp"
#include "../../src/ops/ngrams.cpp"
