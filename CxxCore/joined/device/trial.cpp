// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/trial/product_choice.cpp"
#include "../../src/device/trial/scalar_choice.cpp"
#include "../../src/device/trial/scalar_trial.cpp"
#include "../../src/device/trial/tensor_trial.cpp"
#include "../../src/device/trial/trial_side.cpp"
#include "../../src/device/trial/verdict.cpp"
