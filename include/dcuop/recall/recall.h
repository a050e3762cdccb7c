#ifndef DCUOP_RECALL_RECALL_H
#define DCUOP_RECALL_RECALL_H
/* Remembered answers, for a process that asks dcuop and has no time to start it: libdcuop_recall.so. python/dcuop/_recall.py
 * calls it by ctypes; it needs nothing but a libc, of glibc 2.17 or later. An answer is written by dcuop itself
 * (src/cli/remember.cpp). The functions may be called from several threads. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct dcuop_recalled dcuop_recalled;

/* What was remembered in `file`; NULL when there is nothing, it is damaged, of another version, or belongs to another user.
 * The caller closes it. */
dcuop_recalled* dcuop_recall_open(const char* file);
void dcuop_recall_close(dcuop_recalled* recalled);

/* The number of paths that the answer depends on. */
size_t dcuop_recall_paths(const dcuop_recalled* recalled);

/* 1 when each of the paths `first` to `last` (exclusive) is what it was, by stat(2); else 0. */
int dcuop_recall_holds(const dcuop_recalled* recalled, size_t first, size_t last);

/* JSON, in UTF-8, as long as `recalled` is open. */
const char* dcuop_recall_answer(const dcuop_recalled* recalled);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
