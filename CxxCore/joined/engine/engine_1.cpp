// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/active_request.cpp"
#include "../../src/engine/activity_log.cpp"
#include "../../src/engine/adapters.cpp"
#include "../../src/engine/answer_text.cpp"
#include "../../src/engine/batch_builder.cpp"
