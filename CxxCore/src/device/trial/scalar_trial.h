// The trial of a device's products of up to four rows without matrix units: whether they have the bits of those with
// them, and whether they save time.
#pragma once

#include <span>

#include "device/support.h"
#include "device/trial/tensor_trial.h"

namespace pagoda::device {

// The time of a product of one row without matrix units, relative to that with them, over weights of all `formats`
// (f16, bf16, q8, q4, and stored ones that the device keeps). An error names the first product whose bits differ, or is
// the device's own.
//
// Compares some 11,000 products of each format, of 1 to 4 rows: usual numbers, exponents 40 apart, denormals and sums
// of them, sums that overflow, infinities. A NaN need only be a NaN in both, and with a stored format only
// finite results are compared (stored_scalar.h). The device's own scratch is reserved for
// the trial: call reserve() again. Leaves matrix units in use.
Result<double> try_scalar_products(Device& tested, ScalarProducts& scalars, std::span<const WeightFormat> formats,
                                   const TrialOptions& options = {});

}  // namespace pagoda::device
