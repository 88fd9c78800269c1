// SPDX-License-Identifier: Apache-2.0
//
// nrt_model_t* is the model's number with the kind of handle above it; never an
// address.
#pragma once

#include "base/handle_table.h"
#include "base/status.h"
#include "kmgr/models.h"
#include "nrt/nrt.h"

namespace opennrt::api {

inline constexpr unsigned kModelKindShift = 44, kModelIdShift = 4;

inline nrt_model_t* handle_of_model(kmgr::ModelId id) {
  return reinterpret_cast<nrt_model_t*>(static_cast<std::uintptr_t>(HandleKind::kModel)
                                            << kModelKindShift |
                                        static_cast<std::uintptr_t>(id) << kModelIdShift);
}

// 0, which no model has, for anything that is no model handle.
inline kmgr::ModelId model_of_handle(const nrt_model_t* model) {
  const auto id =
      static_cast<kmgr::ModelId>(reinterpret_cast<std::uintptr_t>(model) >> kModelIdShift);
  return handle_of_model(id) == model ? id : 0;
}

inline Status unknown_model(const nrt_model_t* model) {
  return Status::make(NRT_INVALID_HANDLE,
                      "{} is not a loaded model; a model is what nrt_load gave, until nrt_unload",
                      static_cast<const void*>(model));
}

}  // namespace opennrt::api
