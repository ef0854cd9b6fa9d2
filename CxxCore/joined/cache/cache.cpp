// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/cache/block_manager.cpp"
#include "../../src/cache/checkpoint_plan.cpp"
#include "../../src/cache/checkpoint_queue.cpp"
#include "../../src/cache/checkpoints.cpp"
#include "../../src/cache/prefix_cache.cpp"
#include "../../src/cache/prefix_children.cpp"
#include "../../src/cache/prefix_index.cpp"
