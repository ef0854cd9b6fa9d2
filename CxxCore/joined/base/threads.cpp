// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/base/threads/thread_level.cpp"
#include "../../src/base/threads/thread_pool.cpp"
#include "../../src/base/threads/usable_cores.cpp"
