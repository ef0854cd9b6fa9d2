// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/mapped_file.cpp"
#include "../../src/io/model_files.cpp"
#include "../../src/io/output_folder.cpp"
#include "../../src/io/prefix_file.cpp"
#include "../../src/io/weight_table.cpp"
