#include "op_kernel.hip"
