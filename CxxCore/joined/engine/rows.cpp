// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/rows/drafting.cpp"
#include "../../src/engine/rows/mask_gate.cpp"
#include "../../src/engine/rows/owner_rows.cpp"
#include "../../src/engine/rows/pooled_states.cpp"
#include "../../src/engine/rows/prompt_scorer.cpp"
#include "../../src/engine/rows/row_sampler.cpp"
#include "../../src/engine/rows/token_sampler.cpp"
