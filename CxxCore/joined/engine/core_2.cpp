// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/core/masks.cpp"
#include "../../src/engine/core/owner_rows.cpp"
#include "../../src/engine/core/pool.cpp"
#include "../../src/engine/core/prepare.cpp"
#include "../../src/engine/core/sample.cpp"
#include "../../src/engine/core/score.cpp"
#include "../../src/engine/core/stats.cpp"
