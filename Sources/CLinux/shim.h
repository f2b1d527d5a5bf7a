// Declared by <unistd.h> only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int syncfs(int fd);

// Declared by <stdio.h> only under _GNU_SOURCE.
extern int renameat2(int directory, const char *name, int newDirectory, const char *newName, unsigned int flags);
enum { packer_RENAME_EXCHANGE = 1 << 1 };

#include <fcntl.h>

// Swift cannot import a macro made of macros, and O_TMPFILE is declared only under _GNU_SOURCE.
enum { packer_O_TMPFILE = __O_TMPFILE };

#ifdef __GLIBC__
#include <malloc.h>

// Only glibc has this parameter. Its name is a macro.
static inline void packer_set_heap_count(int count) { mallopt(M_ARENA_MAX, count); }
#else
static inline void packer_set_heap_count(int count) { (void)count; }
#endif

#include <sys/ioctl.h>
#include <linux/fs.h>

// Swift can neither call a function with a variable number of arguments nor import FICLONE, a macro made of macros.
static inline int packer_clone(int target, int source) { return ioctl(target, FICLONE, source); }

#include <stdbool.h>
#include <linux/stat.h>

// Declared by <sys/stat.h> only under _GNU_SOURCE.
extern int statx(int directory, const char *path, int flags, unsigned int mask, struct statx *result);

static inline bool packer_is_mount_point(const char *path) {
  struct statx result;
  return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &result) == 0 && (result.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

#include <sys/prctl.h>

// Swift cannot call a function with a variable number of arguments.
static inline int packer_refuse_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
