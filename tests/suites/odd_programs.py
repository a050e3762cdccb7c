"""C sources of programs that read files in ways of their own."""

SPAWN = r"""
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
int main(int argc, char** argv) {
  char** a = calloc(argc + 2, sizeof *a); a[0] = "g++"; a[1] = "-DVALUE=1";
  for (int i = 1; i < argc; ++i) a[i + 1] = argv[i];
  pid_t p; int s; if (posix_spawnp(&p, "g++", 0, 0, a, environ)) return 9;
  waitpid(p, &s, 0); free(a); return WIFEXITED(s) ? WEXITSTATUS(s) : 8;
}
"""

URING = r"""
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>
#include <string.h>
#include <stdio.h>
int main(int c,char**v){struct io_uring_params p; memset(&p,0,sizeof p); int r=syscall(SYS_io_uring_setup,4,&p); if(r<0){perror("setup");return 1;}
 char*sq=mmap(0,p.sq_off.array+p.sq_entries*4,3,MAP_SHARED|MAP_POPULATE,r,IORING_OFF_SQ_RING);
 char*cq=mmap(0,p.cq_off.cqes+p.cq_entries*sizeof(struct io_uring_cqe),3,MAP_SHARED|MAP_POPULATE,r,IORING_OFF_CQ_RING);
 struct io_uring_sqe*s=mmap(0,p.sq_entries*sizeof*s,3,MAP_SHARED|MAP_POPULATE,r,IORING_OFF_SQES);
 memset(s,0,sizeof*s); s->opcode=IORING_OP_OPENAT; s->fd=AT_FDCWD; s->addr=(unsigned long)v[1]; s->open_flags=O_RDONLY;
 ((unsigned*)(sq+p.sq_off.array))[0]=0; *(unsigned*)(sq+p.sq_off.tail)+=1; __sync_synchronize();
 syscall(SYS_io_uring_enter,r,1,1,IORING_ENTER_GETEVENTS,0,0);
 int f=((struct io_uring_cqe*)(cq+p.cq_off.cqes))[0].res; char b[99]; int n=read(f,b,99); if(n<0)return 2; write(1,b,n); return 0;}
"""

HANDLE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int c,char**v){struct file_handle*h=malloc(sizeof*h+128); h->handle_bytes=128; int m; if(name_to_handle_at(AT_FDCWD,v[1],h,&m,0)){perror("h");return 1;}
 int d=open("/tmp",O_RDONLY|O_DIRECTORY); int f=open_by_handle_at(d,h,O_RDONLY); if(f<0){perror("o");return 2;} char b[99]; int n=read(f,b,99); write(1,b,n); return 0;}
"""


def again(run, o, e, **k):
    r = build(run, o, env=e, **k)
    assert r.op["status"] == "hit", f'{r.op["status"]}: {r.op["reason"]} {r.op["remarks"]}'
    return r


LAUNCH = r"""
#include <stddef.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
int main(int c, char** v) {
  struct sock_filter f[] = { BPF_STMT(BPF_LD|BPF_W|BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP|BPF_JEQ|BPF_K, (unsigned)atoi(v[1]), 0, 1), BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ERRNO|EPERM), BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ALLOW) };
  struct sock_fprog p = { 4, f }; prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) return 99;
  execv(v[2], v + 2); return 98; }
"""

#: Its argument's first line.
SHOW = r"""
#include <stdio.h>
int main(int c, char** v) {
  char b[99]; FILE* f = fopen(v[1], "r"); if (!f) return 1;
  fgets(b, 99, f); puts(b); return 0;
}
"""

CLONE = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>
#include <signal.h>
#include <fcntl.h>
#include <unistd.h>
#include <stdio.h>
static char stack[65536];
static int f(void* a) {
  char b[99]; int d = open(a, 0); if (d < 0) { perror("open"); return 1; }
  write(1, b, read(d, b, 99)); return 0;
}
int main(int c, char** v) {
  int s; int p = clone(f, stack + 65536, CLONE_UNTRACED | SIGCHLD, v[1]);
  waitpid(p, &s, 0); return WEXITSTATUS(s);
}
"""
