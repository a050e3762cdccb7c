#include "register/op_def_registry.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  context->SetBlockDim(platform.GetCoreNumAiv());
  return ge::GRAPH_SUCCESS;
}
} // namespace optiling
