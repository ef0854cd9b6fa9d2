// Maps addresses to lines with llvm-symbolizer or addr2line, and recognises the program's own memory by linker symbols.
#include "source_line.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" char __executable_start, _end;

namespace pagoda::device::gpu::software {

// For inlined frames, the innermost one, which is the access.
std::string source_line(const void* pc) {
  if (std::getenv("PAGODA_TEST_FAIL_FAST")) return "";  // only the verdict matters then; symbolizers take seconds
  const auto at = reinterpret_cast<uintptr_t>(pc) - reinterpret_cast<uintptr_t>(&__executable_start) - 1;
  char command[160], line[512] = "";
  std::snprintf(command, sizeof command,
                "{ llvm-symbolizer -s -f=none -e /proc/%d/exe 0x%zx || addr2line -s -e /proc/%d/exe 0x%zx; } 2>&1",
                getpid(), static_cast<size_t>(at), getpid(), static_cast<size_t>(at));
  if (FILE* pipe = popen(command, "r")) {
    while (std::fgets(line, sizeof line, pipe)) {
      std::string text = line;
      const size_t name = text.find(".metal:"), header = text.find(".h:");
      if (name == std::string::npos && header == std::string::npos) continue;
      const size_t colon = text.find(':', (name != std::string::npos ? name : header) + 1);
      size_t end = colon + 1;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      pclose(pipe);
      return text.substr(0, end) + ": ";
    }
    pclose(pipe);
  }
  return "";
}

bool is_program_memory(const void* at) noexcept {
  const char* p = static_cast<const char*>(at);
  if (p >= &__executable_start && p < &_end) return true;
  static thread_local char probe;  // the program's thread-local variables are next to it
  return p > &probe - 4096 && p < &probe + 4096;
}

}  // namespace pagoda::device::gpu::software
