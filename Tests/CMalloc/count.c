// Counts what the process allocates, at the moments that a test asks for. The allocator is the system's own.
#include "shim.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_ALLOCATOR_OF_ITS_OWN
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_ALLOCATOR_OF_ITS_OWN)
#include <errno.h>
#include <stdatomic.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static atomic_bool is_counting;
static atomic_long current, most;

static void *noted(void *place) {
  if (!place || !atomic_load_explicit(&is_counting, memory_order_relaxed)) return place;
  long size = (long)malloc_usable_size(place);
  long sum = atomic_fetch_add(&current, size) + size;
  long seen = atomic_load(&most);
  while (sum > seen && !atomic_compare_exchange_weak(&most, &seen, sum)) {}
  return place;
}

static long counted(void *place) {
  return place && atomic_load_explicit(&is_counting, memory_order_relaxed) ? (long)malloc_usable_size(place) : 0;
}

void *malloc(size_t size) { return noted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return noted(__libc_calloc(count, size)); }
void *memalign(size_t alignment, size_t size) { return noted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **place, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (!made) return ENOMEM;
  *place = made;
  return 0;
}

void free(void *place) {
  atomic_fetch_sub(&current, counted(place));
  __libc_free(place);
}

// Both blocks count for a moment, as if it were always moved.
void *realloc(void *place, size_t size) {
  long before = counted(place);
  void *made = noted(__libc_realloc(place, size));
  if (made || size == 0) atomic_fetch_sub(&current, before);
  return made;
}

void packer_start_counting(void) {
  atomic_store(&current, 0);
  atomic_store(&most, 0);
  atomic_store(&is_counting, 1);
}

long packer_end_counting(void) {
  atomic_store(&is_counting, 0);
  return atomic_load(&most);
}
#else
void packer_start_counting(void) {}
long packer_end_counting(void) { return -1; }
#endif
