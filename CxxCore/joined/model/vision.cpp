// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/model/vision/positions.cpp"
#include "../../src/model/vision/tower.cpp"
#include "../../src/model/vision/tower_encode.cpp"
#include "../../src/model/vision/weights.cpp"
