// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/core/caller_prefixes.cpp"
#include "../../src/engine/core/commit.cpp"
#include "../../src/engine/core/device_faults.cpp"
#include "../../src/engine/core/engine_core.cpp"
#include "../../src/engine/core/event_writer.cpp"
#include "../../src/engine/core/image_queue.cpp"
