// The kernel tables agree with the kernel sources: names, bindings, constants, for each device's source.
#include "device/gpu/kernel_table.h"

#include <algorithm>
#include <set>
#include <string>

#include "device/gpu/generated/bindings.h"
#include "device/gpu/tensor_texts.h"
#include "support/test.h"

namespace pagoda::device::gpu {
namespace {

bool has(std::string_view text, const std::string& part) { return text.find(part) != std::string_view::npos; }

PAGODA_TEST(gpu_table_names_are_in_the_texts) {
  std::set<std::string_view> names;
  for (const KernelFile& file : generated::files()) {
    CHECK(!file.kernels.empty());
    const std::string metal = metal_text(file.source), cuda = cuda_text(file.source);
    for (const KernelInfo& kernel : file.kernels) {
      test::note("kernel " + std::string(kernel.name));
      CHECK(names.insert(kernel.name).second);
      CHECK_EQ(std::string(kernel.file), std::string(file.source.file));
      CHECK(find_kernel(generated::files(), kernel.name) == &kernel);
      // The text declares it, directly or as a template instance.
      const std::string name(kernel.name);
      bool declared = has(metal, "kernel void " + name + "(");
      for (size_t i = name.find('_'); i != std::string::npos; i = name.find('_', i + 1))
        declared |= has(metal, "kernel void " + name.substr(0, i) + "(");
      CHECK(declared);
      CHECK(has_tensors(file.source) || has(cuda, "#define MSL_ENTRY_" + name + " "));
      int last = -1;
      for (const BindingInfo& binding : kernel.bindings) {
        test::note("binding " + std::string(binding.name));
        CHECK(has(metal, std::string(binding.name) + " [[buffer(" + std::to_string(binding.index) + ")]]"));
        CHECK(binding.index > last);
        CHECK(binding.element_bytes > 0);
        last = binding.index;
      }
      for (const ConstantInfo& constant : kernel.constants) {
        test::note("constant " + std::string(constant.name));
        const std::string declaration = ", " + std::string(constant.name) + ", " + std::to_string(constant.index) + ")";
        CHECK(has(metal, declaration) && has(cuda, declaration));
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
    const std::string metal = metal_text(file.source), cuda = cuda_text(file.source);
    CHECK(!has(metal, "#include \""));  // Metal compiles it from memory
    CHECK(has(metal, "#include <metal_stdlib>"));
    CHECK(metal.starts_with("#pragma METAL fp contract(off)\n"));  // no contraction except explicit fma()
    CHECK(!has(cuda, "#include") && !has(cuda, "#pragma METAL"));
    CHECK(has(cuda, "#define kernel ") && cuda.ends_with("MSL_ENTRY(MSL_ONLY)\n}\n"));
  }
  for (const auto& headers : {generated::cuda_headers(), generated::headers()})
    for (const KernelHeader& header : headers) CHECK(!header.text.empty());
}

PAGODA_TEST(gpu_table_headers_are_spliced_once_and_in_order) {
  const KernelSource source{
      "a", "first\n#include \"args/types.h\"\n#include <any>\nlast\n#include \"args/types.h\"\nwithout an end", {}};
  const auto headers = generated::headers();
  const auto types = std::ranges::find(headers, "args/types.h", &KernelHeader::name);
  REQUIRE(types != headers.end());
  const std::string text(types->text);
  CHECK(metal_text(source).ends_with("\nfirst\n" + text + "#include <any>\nlast\nwithout an end"));
  CHECK(has(cuda_text(source), "\nnamespace metal {\nfirst\n" + text + "last\nwithout an end"));
}

// What Metal compiles for a pipeline: one instance of a template, and all kernels that are none.
PAGODA_TEST(gpu_table_a_metal_text_has_one_instance) {
  const auto instances = [](std::string_view text) {
    int count = 0;
    for (size_t at = 0; (at = text.find("\nMSL_INSTANCE(", at)) != std::string_view::npos; ++at) ++count;
    return count;
  };
  int most = 0;
  for (const KernelFile& file : generated::files()) {
    const std::string whole = metal_text(file.source);
    most = std::max(most, instances(whole));
    for (const KernelInfo& kernel : file.kernels) {
      test::note("kernel " + std::string(kernel.name));
      const std::string text = metal_text(file.source, kernel.name), name(kernel.name);
      CHECK_EQ(instances(text), is_instance(file.source, kernel.name) ? 1 : 0);
      CHECK(has(text, "\nMSL_INSTANCE(" + name + ",") || has(text, "kernel void " + name + "("));
      CHECK_EQ(std::ranges::count(text, '{'), std::ranges::count(whole, '{'));
    }
  }
  CHECK(most > 40);
}

}  // namespace
}  // namespace pagoda::device::gpu
