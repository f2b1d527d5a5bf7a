// What the Swift runtime and the C library ask of a system.
#include "support.h"

// packer.js fills it from the host's cryptographic random source.
__attribute__((import_module("packer"), import_name("random"))) void packer_random(void *bytes, size_t count);

// Seeds hash tables.
void arc4random_buf(void *bytes, size_t count) { packer_random(bytes, count); }

// Every allocation of Swift, which uses what it gets without a look. Address 0 is a place like any other here.
int __real_posix_memalign(void **place, size_t alignment, size_t size);

int __wrap_posix_memalign(void **place, size_t alignment, size_t size) {
  if (__real_posix_memalign(place, alignment, size) != 0) __builtin_trap();
  return 0;
}

// The allocator ends here if its memory was overwritten. Nothing is printed, so no part of the library for files is linked.
_Noreturn void abort(void) { __builtin_trap(); }

// A failed precondition says why. There is nobody to read it.
int putchar(int character) { return character; }

// One instruction each, in place of the loops of the C library.
void *memcpy(void *target, const void *source, size_t count) { return __builtin_memcpy(target, source, count); }
void *memmove(void *target, const void *source, size_t count) { return __builtin_memmove(target, source, count); }
void *memset(void *target, int value, size_t count) { return __builtin_memset(target, value, count); }

// It is in a file of its own, so the optimizer does not know that nobody reads the zeros.
void packer_wipe(void *bytes, size_t count) { memset(bytes, 0, count); }
