// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/text/chat_template_origin_test.cpp"
#include "../../CxxCoreTests/text/chat_template_seam_test.cpp"
#include "../../CxxCoreTests/text/chat_template_test.cpp"
#include "../../CxxCoreTests/text/detokenizer_test.cpp"
