#pragma once
// <tree_sitter/alloc.h>, which the package of the grammar takes to be beside it and Debian's libtree-sitter-dev lacks.
#include <stdlib.h>

#define ts_malloc malloc
#define ts_calloc calloc
#define ts_realloc realloc
#define ts_free free
