// Chooses whether products of up to four rows do without matrix units: if a trial finds the same bits and less time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/trial/product_choice.h"

namespace pagoda::device {

class ScalarProducts;

// Does nothing on devices that know the answer, or without weights of 16 bits or fewer. Never fails: on any error
// matrix units multiply, and the device's description says why.
class ScalarChoice {
 public:
  ScalarChoice(Device& device, std::span<const ProductShape> shapes, const ProductOptions& options);
  void choose() const;

 private:
  Device& device_;
  ScalarProducts* scalars_;
  const ProductOptions& options_;
  std::vector<WeightFormat> formats_;  // of `shapes`, each once
  std::string path_;                   // of the verdict
};

}  // namespace pagoda::device
