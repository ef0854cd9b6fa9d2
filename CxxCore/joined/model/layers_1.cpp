// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/model/layers/attention.cpp"
#include "../../src/model/layers/embed.cpp"
#include "../../src/model/layers/expert_mlp.cpp"
#include "../../src/model/layers/gdn.cpp"
#include "../../src/model/layers/indexer.cpp"
#include "../../src/model/layers/kda.cpp"
