// The tables of kernels say what the texts say: names, bindings, constants, for each device's text.
#include "device/gpu/kernel_table.h"

#include <set>
#include <string>

#include "device/gpu/generated/bindings.h"
#include "device/gpu/metal/metal_backend.h"
#include "support/test.h"

namespace pagoda::device::gpu {
namespace {

bool has(std::string_view text, const std::string& part) { return text.find(part) != std::string_view::npos; }

PAGODA_TEST(gpu_table_names_are_in_the_texts) {
  std::set<std::string_view> names;
  for (const KernelFile& file : generated::files()) {
    CHECK(!file.kernels.empty());
    for (const KernelInfo& kernel : file.kernels) {
      test::note("kernel " + std::string(kernel.name));
      CHECK(names.insert(kernel.name).second);
      CHECK_EQ(std::string(kernel.file), std::string(file.source.file));
      CHECK(find_kernel(generated::files(), kernel.name) == &kernel);
      // The text declares it, itself or as an instance of a template; instances may be made by a macro.
      const std::string name(kernel.name);
      bool declared = has(file.source.metal, "kernel void " + name + "(");
      for (size_t i = name.find('_'); i != std::string::npos; i = name.find('_', i + 1))
        declared |= has(file.source.metal, "kernel void " + name.substr(0, i) + "(");
      CHECK(declared);
      CHECK(has(file.source.cuda, " " + name + "("));
      int last = -1;
      for (const BindingInfo& binding : kernel.bindings) {
        test::note("binding " + std::string(binding.name));
        CHECK(has(file.source.metal, std::string(binding.name) + " [[buffer(" + std::to_string(binding.index) + ")]]"));
        CHECK(binding.index > last);
        CHECK(binding.element_bytes > 0);
        last = binding.index;
      }
      for (const ConstantInfo& constant : kernel.constants) {
        test::note("constant " + std::string(constant.name));
        CHECK(has(file.source.metal,
                  std::string(constant.name) + " [[function_constant(" + std::to_string(constant.index) + ")]]"));
        CHECK(has(file.source.cuda, "MSL_FUNCTION_CONSTANT("));
      }
      CHECK(kernel.max_threads % 32 == 0 && kernel.max_threads >= 32 && kernel.max_threads <= 1024);
      CHECK(kernel.entry != nullptr);
    }
  }
  CHECK(names.size() > 0);
}

PAGODA_TEST(gpu_table_says_which_bindings_a_kernel_writes) {
  const KernelInfo* kernel = find_kernel(generated::files(), kernels::rms_norm::kernel);
  REQUIRE(kernel);
  for (const BindingInfo& binding : kernel->bindings) {
    const bool written = binding.index == kernels::rms_norm::x || binding.index == kernels::rms_norm::out;
    CHECK_EQ(binding.written, written);
    CHECK(binding.kind == (binding.index == kernels::rms_norm::args ? BindingKind::values : BindingKind::buffer));
  }
}

PAGODA_TEST(gpu_table_texts_stand_alone) {
  for (const KernelFile& file : generated::files()) {
    CHECK(!has(file.source.metal, "#include \""));  // Metal compiles it from memory
    CHECK(has(file.source.metal, "#include <metal_stdlib>"));
    CHECK(file.source.metal.starts_with("#pragma METAL fp contract(off)\n"));  // nothing fused but where fma() says so
  }
  for (const ShimHeader& header : generated::cuda_headers()) CHECK(!header.text.empty());
}

#ifndef __APPLE__
PAGODA_TEST(gpu_metal_says_that_it_is_for_apple_systems) {
  CHECK_EQ(metal::make_metal_backend().status.message, std::string("metal: only on Apple systems"));
}
#endif

}  // namespace
}  // namespace pagoda::device::gpu
