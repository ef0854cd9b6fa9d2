// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/pipeline/addresses.cpp"
#include "../../src/pipeline/link.cpp"
#include "../../src/pipeline/messages.cpp"
#include "../../src/pipeline/mpi.cpp"
