// Writing quantised files, for the public headers.
#include "pagoda/quantize.h"
#include "base/assign_or_return.h"

#include "api/guard.h"
#include "io/quantize/files.h"

namespace pagoda {

QuantizeResult quantize_model(const ModelSource& source, const std::string& folder, const QuantizeOptions& options,
                              QuantizeProgress progress, void* context) noexcept {
  return api::guarded_result<QuantizeResult>([&](QuantizeResult& result) -> Status {
    PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<io::ModelFiles> files, io::open_model_files(source));
    result = io::quantize_files(*files, folder, options,
                                [&](double fraction) { return !progress || progress(context, fraction); });
    return result.status;
  });
}

}  // namespace pagoda
