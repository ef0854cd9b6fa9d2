// The door to writing quantised files.
#include "pagoda/quantize.h"

#include <exception>
#include <new>

#include "io/quantize/files.h"

namespace pagoda {

QuantizeResult quantize_model(const ModelSource& source, const std::string& folder, const QuantizeOptions& options,
                              QuantizeProgress progress, void* context) noexcept {
  QuantizeResult result;
  try {
    Result<std::unique_ptr<io::ModelFiles>> files = io::open_model_files(source);
    if (!files.is_ok()) {
      result.status = files.status;
    } else {
      result = io::quantize_files(**files, folder, options,
                                  [&](double fraction) { return !progress || progress(context, fraction); });
    }
  } catch (const std::bad_alloc&) {
    result.status = {StatusCode::out_of_memory, {}};  // an empty message: making one could throw again
  } catch (const std::exception& error) {
    result.status = make_error(StatusCode::internal, error.what());
  }
  return result;
}

}  // namespace pagoda
