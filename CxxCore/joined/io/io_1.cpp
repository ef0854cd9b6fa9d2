// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/checkpoint.cpp"
#include "../../src/io/file_identity.cpp"
#include "../../src/io/file_writer.cpp"
#include "../../src/io/folder_names.cpp"
