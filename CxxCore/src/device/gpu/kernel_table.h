// The kernels of Shaders/ as the backends see them: names, bindings, function constants and sources, all generated from
// the source itself by Tools/mslc/generate.sh. Read-only, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pagoda::device::gpu {

// In a release build for Apple platforms, tables omit what only the software device calls and what only NVRTC compiles,
// so that the compiler removes it from an app.
#ifdef PAGODA_METAL_ONLY
constexpr bool kIsMetalOnly = true;
#else
constexpr bool kIsMetalOnly = false;
#endif

// A kernel's identifier in host code; generated/bindings.h has one per kernel.
struct KernelId {
  int number = 0;  // below kernels::kCount
  std::string_view name;
  constexpr operator std::string_view() const noexcept { return name; }  // NOLINT
};

enum class BindingKind : uint8_t {
  buffer,  // device memory
  values,  // a struct copied at launch: `constant T&` in the source, a by-value parameter in CUDA
};

struct BindingInfo {
  std::string_view name;
  int index = 0;  // n of [[buffer(n)]]
  BindingKind kind = BindingKind::buffer;
  size_t element_bytes = 0;  // for values: of the whole struct
  bool written = false;      // whether the source may write it
};

enum class ConstantType : uint8_t { bool_, int_, uint_, float_ };

struct ConstantInfo {
  using Setter = void (*)(uint32_t bits) noexcept;
  constexpr ConstantInfo(std::string_view name, int index, ConstantType type, Setter set = nullptr) noexcept
      : name(name), index(index), type(type), set(kIsMetalOnly ? nullptr : set) {}

  std::string_view name;
  int index = 0;  // n of [[function_constant(n)]]
  ConstantType type = ConstantType::bool_;
  Setter set = nullptr;  // for the software device: sets it for the calling thread
};

// Position attributes of a kernel's threads, as named in the Metal Shading Language.
struct U3 {
  uint32_t x, y, z;
};
struct Builtins {
  U3 thread_position_in_grid, thread_position_in_threadgroup, threadgroup_position_in_grid;
  U3 threads_per_grid, threads_per_threadgroup, threadgroups_per_grid;
  uint32_t thread_index_in_threadgroup, simdgroup_index_in_threadgroup, thread_index_in_simdgroup;
  uint32_t simdgroups_per_threadgroup, threads_per_simdgroup;
};

constexpr int kMaxBindings = 31;
struct KernelInputs {
  void* buffers[kMaxBindings] = {};  // by binding index
};

struct KernelInfo {
  using Entry = void (*)(const KernelInputs&, const Builtins&);
  constexpr KernelInfo(std::string_view name, std::string_view file, std::span<const BindingInfo> bindings,
                       std::span<const ConstantInfo> constants, uint32_t max_threads, Entry entry = nullptr) noexcept
      : name(name),
        file(file),
        bindings(bindings),
        constants(constants),
        max_threads(max_threads),
        entry(kIsMetalOnly ? nullptr : entry) {}

  std::string_view name;
  std::string_view file;  // .metal file name without extension
  std::span<const BindingInfo> bindings;  // by ascending index
  std::span<const ConstantInfo> constants;
  uint32_t max_threads = 0;  // per threadgroup
  Entry entry = nullptr;  // runs one thread, for the software device
};

struct KernelSource {
  constexpr KernelSource(std::string_view file, std::string_view text, std::string_view cuda_entries) noexcept
      : file(file), text(text), cuda_entries(kIsMetalOnly ? std::string_view() : cuda_entries) {}

  std::string_view file;
  std::string_view text;          // for both compilers; includes headers of generated::headers()
  std::string_view cuda_entries;  // macros that define its entry points; empty if CUDA has no such kernels
};

struct KernelFile {
  std::span<const KernelInfo> kernels;
  KernelSource source;
};

struct KernelHeader {
  std::string_view name, text;
};

namespace generated {
std::span<const KernelFile> files() noexcept;
std::span<const KernelHeader> headers() noexcept;
std::span<const KernelHeader> cuda_headers() noexcept;
}  // namespace generated

// A source with its headers inlined, each once: Metal's compiler takes a single text and cannot include headers by name.
std::string metal_text(const KernelSource& source);
// The same with one instance of its kernel templates: compiling all 44 of matmul_few took longer than a first start may.
std::string metal_text(const KernelSource& source, std::string_view kernel);
// Whether a kernel is an instance of a template.
bool is_instance(const KernelSource& source, std::string_view kernel);
// The same for NVRTC. -DMSL_ONLY=<kernel> selects its entry point; constants are macros MSL_CONSTANT_<name>.
std::string cuda_text(const KernelSource& source);

// Null if no kernel has that name.
const KernelInfo* find_kernel(std::span<const KernelFile> files, std::string_view name) noexcept;

}  // namespace pagoda::device::gpu
