#include <stddef.h>

// Overwrites memory with zeros, in a way the optimizer keeps.
static inline void packer_wipe(void *bytes, size_t count) {
  volatile unsigned char *place = (volatile unsigned char *)bytes;
  while (count--) *place++ = 0;
}
