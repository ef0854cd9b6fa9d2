// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/disk/folder.cpp"
#include "../../src/engine/disk/store.cpp"
#include "../../src/engine/disk/writer.cpp"
