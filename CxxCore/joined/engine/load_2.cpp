// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/load/pipeline_plan.cpp"
#include "../../src/engine/load/policy_file.cpp"
#include "../../src/engine/load/prepare.cpp"
#include "../../src/engine/load/text_files.cpp"
#include "../../src/engine/load/vision.cpp"
#include "../../src/engine/load/weight_facts.cpp"
