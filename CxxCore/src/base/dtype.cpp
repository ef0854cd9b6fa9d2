// Names of element types, as config.json and torch spell them.
#include "base/dtype.h"

namespace pagoda {

std::string_view dtype_name(DType type) noexcept {
  switch (type) {
    case DType::f32: return "float32";
    case DType::f16: return "float16";
    case DType::bf16: return "bfloat16";
    case DType::f64: return "float64";
    case DType::i8: return "int8";
    case DType::u8: return "uint8";
    case DType::i16: return "int16";
    case DType::u16: return "uint16";
    case DType::i32: return "int32";
    case DType::u32: return "uint32";
    case DType::i64: return "int64";
    case DType::u64: return "uint64";
    case DType::boolean: return "bool";
    case DType::f8_e4m3: return "float8_e4m3";
    case DType::f8_e5m2: return "float8_e5m2";
  }
  return "unknown";
}

}  // namespace pagoda
