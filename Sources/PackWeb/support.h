#include <stddef.h>

// Overwrites memory with zeros, in a way the optimizer keeps.
static inline void packer_wipe(void *bytes, size_t count) {
  if (count > 0) __builtin_memset(bytes, 0, count);
  __asm__ volatile("" : : "r"(bytes) : "memory");
}
