// Maps an instruction to its source line, and reports whether an address belongs to the program itself.
#pragma once

#include <string>

namespace pagoda::device::gpu::software {

std::string source_line(const void* pc);          // "rms_norm.metal:12: ", or "" if unknown
bool is_program_memory(const void* at) noexcept;  // constants and thread-local variables of the program

}  // namespace pagoda::device::gpu::software
