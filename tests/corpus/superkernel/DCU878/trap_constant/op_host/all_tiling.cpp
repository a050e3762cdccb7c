#include "register/op_def_registry.h"

namespace optiling {
constexpr uint32_t BATCH_MODE = 1;
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  context->SetBlockDim(platform.GetCoreNumAiv());
  context->SetScheduleMode(BATCH_MODE);
  return ge::GRAPH_SUCCESS;
}
} // namespace optiling
