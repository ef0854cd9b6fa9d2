// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/tier/host_store.cpp"
#include "../../src/engine/tier/prefix_copier.cpp"
#include "../../src/engine/tier/prefix_reader.cpp"
#include "../../src/engine/tier/prefix_store.cpp"
#include "../../src/engine/tier/prefix_tiers.cpp"
#include "../../src/engine/tier/prefix_writer.cpp"
