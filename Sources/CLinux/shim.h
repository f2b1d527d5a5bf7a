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

#include <elf.h>
#include <sys/mman.h>

// <link.h> declares these only under _GNU_SOURCE. What follows in the structure is of no interest here.
struct packer_object {
  unsigned long base;
  const char *name;
  const Elf64_Phdr *segments;
  Elf64_Half count;
};
extern int dl_iterate_phdr(int (*visit)(struct packer_object *, unsigned long, void *), void *context);

static inline int packer_return_object(struct packer_object *object, unsigned long size, void *context) {
  (void)size;
  (void)context;
  for (int index = 0; index < object->count; index++) {
    const Elf64_Phdr *segment = &object->segments[index];
    // What is written at start, or may be, lies in segments that are writable.
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
    unsigned long start = (object->base + segment->p_vaddr + 4095) & ~4095ul;
    unsigned long end = (object->base + segment->p_vaddr + segment->p_memsz) & ~4095ul;
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

// A callback with a structure that Swift's Glibc module does not know.
static inline void packer_return_code(void) { dl_iterate_phdr(packer_return_object, 0); }
