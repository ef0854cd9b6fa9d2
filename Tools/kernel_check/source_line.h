// Says which line of the text an instruction comes from, and which addresses are the program's own.
#pragma once

#include <string>

namespace pagoda::device::gpu::software {

std::string source_line(const void* pc);          // "rms_norm.metal:12: ", or "" where nothing is known
bool is_program_memory(const void* at) noexcept;  // constants and thread-local variables of the program

}  // namespace pagoda::device::gpu::software
