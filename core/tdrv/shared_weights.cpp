// SPDX-License-Identifier: Apache-2.0
#include "tdrv/shared_weights.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "log/log.h"

namespace opennrt::tdrv {

SharedWeights::~SharedWeights() {
  for (const auto& [id, constant] : constants_)
    software_->forget(allocator_->pool()->device_index(), constant.memory->address(),
                      constant.memory->size());
}

Result<std::uint64_t> SharedWeights::place(const neff::Variable& constant) {
  const std::size_t digest = std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(constant.content.data()), constant.content.size()});
  const std::lock_guard lock(mutex_);
  if (const auto found = constants_.find(constant.var_id); found != constants_.end()) {
    const Constant& known = found->second;
    if (known.digest == digest && known.memory->size() >= constant.size)
      return known.memory->address();
    ONRT_LOG(kTdrv, kWarn,
             "variable '{}' has other bytes than in the model of the same uuid that is loaded; it "
             "gets a copy of its own",
             constant.name);
    return UINT64_MAX;
  }
  ONRT_ASSIGN(DmemPtr memory,
              allocator_->allocate({.bytes = std::max<std::uint64_t>(constant.size, 1),
                                    .alignment = constant.alignment,
                                    .usage = Usage::kWeight,
                                    .hint = constant.name}));
  ONRT_TRY(memory->copy_in(0, constant.content.data(), constant.content.size()));
  const std::uint64_t address = memory->address();
  constants_[constant.var_id] = {std::move(memory), digest};
  return address;
}

}  // namespace opennrt::tdrv
