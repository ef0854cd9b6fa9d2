// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/pipeline/pipeline.cpp"
#include "../../src/pipeline/pipeline_model.cpp"
#include "../../src/pipeline/split.cpp"
#include "../../src/pipeline/stage.cpp"
#include "../../src/pipeline/tcp.cpp"
