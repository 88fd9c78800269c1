// SPDX-License-Identifier: Apache-2.0
//
// Which products a program fits, as far as arch plugins are installed.
#pragma once

#include <string>
#include <vector>

#include "neff/stats.h"

namespace opennrt::tools {

struct ProductVerdict {
  std::string arch, product, silicon;
  std::string reason;  // why it does not fit; empty: it fits
};

struct ProductSurvey {
  std::vector<ProductVerdict> products;
  std::vector<std::string> notes;  // plugins that are missing or refused
};

// By all installed arch plugins.
ProductSurvey survey_products(const Model& model, const Figures& figures);

}  // namespace opennrt::tools
