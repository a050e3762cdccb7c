#include "register/op_def_registry.h"

namespace optiling {
static uint32_t rows = 40;
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  uint32_t used = std::min(rows, 20U);
  context->SetBlockDim(used); //! DCU880
  context->SetScheduleMode(1);
  return ge::GRAPH_SUCCESS;
}
} // namespace optiling
