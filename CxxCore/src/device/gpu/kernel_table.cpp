// Finds kernels by name, and assembles the sources that Metal compiles.
#include "device/gpu/kernel_table.h"

#include <algorithm>
#include <vector>

namespace pagoda::device::gpu {
namespace {

constexpr std::string_view kInclude = "#include \"";

void splice(std::string_view text, std::vector<std::string_view>& seen, std::string& into) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    if (!line.starts_with(kInclude)) {
      into += line;
      continue;
    }
    const std::string_view name = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
    const auto headers = generated::metal_headers();
    const auto header = std::ranges::find(headers, name, &KernelHeader::name);
    if (header == headers.end() || std::ranges::find(seen, name) != seen.end()) continue;
    seen.push_back(name);
    splice(header->text, seen, into);
  }
}

}  // namespace

std::string metal_text(const KernelSource& source) {
  std::string text;
  std::vector<std::string_view> seen;
  splice(source.metal, seen, text);
  return text;
}

const KernelInfo* find_kernel(std::span<const KernelFile> files, std::string_view name) noexcept {
  for (const KernelFile& file : files)
    for (const KernelInfo& kernel : file.kernels)
      if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace pagoda::device::gpu
