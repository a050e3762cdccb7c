#include "register/op_def_registry.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = platform.GetCoreNumAiv();
  context->SetBlockDim(cores);
  context->SetScheduleMode(1);
  return ge::GRAPH_SUCCESS;
}
} // namespace optiling
