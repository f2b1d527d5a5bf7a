// Declared by <unistd.h> only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int syncfs(int fd);

// Declared by <stdio.h> only under _GNU_SOURCE.
extern int renameat2(int directory, const char *name, int newDirectory, const char *newName, unsigned int flags);
enum { packer_RENAME_EXCHANGE = 1 << 1 };

#include <fcntl.h>

// A macro of macros, and O_TMPFILE itself is there only under _GNU_SOURCE.
enum { packer_O_TMPFILE = __O_TMPFILE };
