// Declared by <unistd.h> only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int syncfs(int fd);

#include <fcntl.h>

// A macro of macros, and O_TMPFILE itself is there only under _GNU_SOURCE.
enum { packer_O_TMPFILE = __O_TMPFILE };
