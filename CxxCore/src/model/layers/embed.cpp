// Embeddings of a step's rows.
#include "model/layers/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

Status embed_tokens(device::Encoder& encoder, const Step& step, const device::Weight* table,
                    const device::Tensor& out) {
  PAGODA_RETURN_IF_ERROR(ops::embedding(encoder, {.ids = step.token_ids, .table = table, .out = out}));
  if (step.image_rows.empty()) return ok_status();
  const device::Tensor embeddings = device::slice(step.image_embeddings, 1, 0, out.shape[1]);
  int64_t done = 0;
  for (const ImageRows& image : step.image_rows) {
    PAGODA_RETURN_IF_ERROR(ops::gather_rows(encoder, {.x = embeddings,
                                                      .rows = device::slice(step.image_order, 0, done, image.num_rows),
                                                      .out = device::slice(out, 0, image.first_row, image.num_rows)}));
    done += image.num_rows;
  }
  return ok_status();
}

}  // namespace pagoda::model
