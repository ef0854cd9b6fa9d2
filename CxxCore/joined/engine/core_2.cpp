// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/core/losses.cpp"
#include "../../src/engine/core/prefix_restorer.cpp"
#include "../../src/engine/core/queries.cpp"
#include "../../src/engine/core/request_builder.cpp"
#include "../../src/engine/core/step.cpp"
#include "../../src/engine/core/step_recorder.cpp"
