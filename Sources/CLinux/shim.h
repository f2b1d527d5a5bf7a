// Declared by <unistd.h> only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int syncfs(int fd);

// Declared by <stdio.h> only under _GNU_SOURCE.
extern int renameat2(int directory, const char *name, int newDirectory, const char *newName, unsigned int flags);
enum { packer_RENAME_EXCHANGE = 1 << 1 };

#include <fcntl.h>

// A macro of macros, and O_TMPFILE itself is there only under _GNU_SOURCE.
enum { packer_O_TMPFILE = __O_TMPFILE };

#ifdef __GLIBC__
#include <malloc.h>

// A parameter whose name is a macro behind a condition. Other C libraries have no such thing.
static inline void packer_set_heap_count(int count) { mallopt(M_ARENA_MAX, count); }
#else
static inline void packer_set_heap_count(int count) { (void)count; }
#endif
