#pragma once
// Where the rules of an Ascend SuperKernel come from. Pages are documentation; sources are what was read in public code,
// which no document promises.

#define ASC_DEVKIT "https://github.com/mirror-cann/asc-devkit/blob/"
#define SUPERKERNEL_PAGES                                                                                    \
  "/docs/zh/guide/%E7%BC%96%E7%A8%8B%E6%8C%87%E5%8D%97/%E9%AB%98%E7%BA%A7%E7%BC%96%E7%A8%8B/SuperKernel/"
/// "What an operator must mind"
#define ADAPTATION                                                                                           \
  ASC_DEVKIT "013c151f548e5080ef8c82e146914545c49996c2" SUPERKERNEL_PAGES                                    \
             "%E7%AE%97%E5%AD%90%E9%80%82%E9%85%8D%E8%AF%B4%E6%98%8E.md"
/// "What kernels that are launched with <<<>>> must mind"
#define DIRECT_PAGE                                                                                          \
  ASC_DEVKIT "12402351ba53745d271d5129d4f9afa4031436a8" SUPERKERNEL_PAGES                                    \
             "%E6%A0%B8%E5%87%BD%E6%95%B0%E7%9B%B4%E8%B0%83%E7%AE%97%E5%AD%90%E9%A2%9D%E5%A4%96%E9%80%82%"   \
             "E9%85%8D%E8%AF%B4%E6%98%8E.md"
#define SYNC_API                                                                                             \
  ASC_DEVKIT "013c151f548e5080ef8c82e146914545c49996c2/docs/zh/api/SIMD-API/%E5%9F%BA%E7%A1%80API/"          \
             "%E5%90%8C%E6%AD%A5%E6%8E%A7%E5%88%B6/"
#define EARLY_START SYNC_API "%E4%BB%BB%E5%8A%A1%E9%97%B4%E5%90%8C%E6%AD%A5/SetNextTaskStart.md"
#define SYNC_PAGE SYNC_API "%E6%A0%B8%E9%97%B4%E5%90%8C%E6%AD%A5/SyncAll.md"
#define SYNC_SOURCE                                                                                          \
  ASC_DEVKIT "2e0db4c974267cfa568f248abf1aea415395c7e7/impl/basic_api/dav_c220/kernel_operator_sync_impl.h"
#define TENSOR_SOURCE                                                                                        \
  ASC_DEVKIT "fa9586e214ae3c4204057013fa97e28541934de0/impl/basic_api/kernel_tensor_impl.h"
#define PIPE_SOURCE ASC_DEVKIT "82b89a15/impl/basic_api/kernel_tpipe_impl.h"
#define INDEX_SOURCE ASC_DEVKIT "82b89a15/impl/basic_api/kernel_operator_sys_var_intf_impl.h"
#define FORBIDDEN_SOURCE                                                                                     \
  ASC_DEVKIT "cbe5b1508b9e8317727880d77cbe56ba17220e49/tools/build/asc_op_compile_base/asc_op_compiler/"     \
             "super_kernel_utility.py"
#define INFER_SOURCE                                                                                         \
  ASC_DEVKIT "3eb37077b62a30dd249373cb0c6cf7271ded3020/tools/build/asc_op_compile_base/asc_op_compiler/"     \
             "kernel_info_infer.py"
#define OPTION_TABLE                                                                                         \
  "https://github.com/Ascend/torchair/blob/2daefbef66262878a141ec10104efc8fb259023b/docs/zh/ascend_ir/"      \
  "features/advanced/super_kernel_scope.md"
#define GENERATOR                                                                                            \
  "https://github.com/mirror-cann/graph-autofusion/blob/40772cd9e3d936ea5d28ec1befc14307d1ba1aa3/"           \
  "super_kernel/src/jit/superkernel/super_kernel.py"
#define SPLIT_SOURCE                                                                                         \
  "https://github.com/mirror-cann/graph-autofusion/blob/00239185bd1c8db607e456231fbffed22184a1f9/"           \
  "super_kernel/src/aot/sk_scope_split.cpp"
#define GENERATOR_DIRECTORY "https://github.com/mirror-cann/graph-autofusion/blob/"
#define LAUNCH_SOURCE                                                                                        \
  "https://github.com/mirror-cann/graph-autofusion/blob/0d5bf795873bf9b180e8e11508cd38bda3b0904b/"           \
  "super_kernel/src/jit/superkernel/super_kernel_op_infos.py"
#define GE_PARSER                                                                                            \
  GENERATOR_DIRECTORY "16a9fd26ea6b52688125f52fe1a34f6178f7a5ad/super_kernel/src/jit/superkernel/"           \
                      "super_kernel_option_parse.py"
#define AOT_OPTIONS                                                                                          \
  GENERATOR_DIRECTORY "06006013cee138459ac21fc3acc049c3a52a0eb1/super_kernel/src/aot/sk_options_manager.cpp"
#define OPERATOR_SOURCE                                                                                      \
  GENERATOR_DIRECTORY "40772cd9e3d936ea5d28ec1befc14307d1ba1aa3/super_kernel/src/jit/superkernel/"           \
                      "super_kernel_sub_op_infos.py"
