// Finds kernels by name, and assembles the texts that Metal's compiler and NVRTC receive.
#include "device/gpu/kernel_table.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pagoda::device::gpu {
namespace {

constexpr std::string_view kInclude = "#include \"", kSystemInclude = "#include <";

// Appends texts, with the headers that they include.
struct Splicer {
  void add(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
      text.remove_prefix(line.size());
      if (line.starts_with(kInclude)) add_header(line.substr(kInclude.size(), line.rfind('"') - kInclude.size()));
      else if (has_system_headers || !line.starts_with(kSystemInclude)) into += line;
    }
  }
  void add_header(std::string_view name) {
    const auto header = std::ranges::find(headers, name, &KernelHeader::name);
    if (header == headers.end() || std::ranges::find(seen, name) != seen.end()) return;
    seen.push_back(name);
    add(header->text);
  }

  bool has_system_headers;  // those of Metal
  std::span<const KernelHeader> headers;
  std::vector<std::string_view> seen;
  std::string into;
};

}  // namespace

std::string metal_text(const KernelSource& source) {
  Splicer splicer{true, generated::headers(), {}, {}};
  splicer.add_header("device/gpu/shim/metal.h");
  splicer.add(source.text);
  return std::move(splicer.into);
}

namespace {

constexpr std::string_view kInstance = "MSL_INSTANCE(";  // name, template, arguments; see shim/metal.h

}  // namespace

bool is_instance(const KernelSource& source, std::string_view kernel) {
  return source.text.find(std::string(kInstance) + std::string(kernel) + ",") != std::string_view::npos;
}

std::string metal_text(const KernelSource& source, std::string_view kernel) {
  std::string text(source.text);
  for (size_t at = 0; (at = text.find(kInstance, at)) != std::string::npos;) {
    const size_t name = at + kInstance.size(), end = text.find(')', at);
    if (end == std::string::npos) break;
    if (text.compare(name, kernel.size() + 1, std::string(kernel) + ",") == 0) at = end;
    else text.erase(at, end + 1 - at);
  }
  KernelSource part = source;
  part.text = text;
  return metal_text(part);
}

std::string cuda_text(const KernelSource& source) {
  Splicer splicer{false, generated::cuda_headers(), {}, {}};
  splicer.add_header("device/gpu/shim/cuda/msl.h");
  splicer.add("namespace metal {\n");
  splicer.headers = generated::headers();
  splicer.add(source.text);
  splicer.add(source.cuda_entries);
  splicer.add("MSL_ENTRY(MSL_ONLY)\n}\n");
  return std::move(splicer.into);
}

const KernelInfo* find_kernel(std::span<const KernelFile> files, std::string_view name) noexcept {
  for (const KernelFile& file : files)
    for (const KernelInfo& kernel : file.kernels)
      if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace pagoda::device::gpu
