// Declared by <unistd.h> only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int syncfs(int fd);
