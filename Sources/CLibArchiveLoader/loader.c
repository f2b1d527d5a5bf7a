// libarchive brings a dozen libraries along, which cost every start two milliseconds and three megabytes. Listing a pack or reading a file
// out of it needs none of them, so the library is loaded by the first call. It is the same shared library that linking would name.

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "loader.h"

#ifdef __APPLE__
#define LIBRARY "libarchive.13.dylib"
#else
#define LIBRARY "libarchive.so.13"
#endif

// Result, name, parameters, arguments. The compiler compares each with the declaration in libarchive's own headers.
#define FUNCTIONS(X) \
  X(int, archive_version_number, (void), ()) \
  X(struct archive *, archive_read_new, (void), ()) \
  X(int, archive_read_support_format_tar, (struct archive *a), (a)) \
  X(int, archive_read_open2, (struct archive *a, void *client, archive_open_callback *open, archive_read_callback *read, archive_skip_callback *skip, archive_close_callback *close), (a, client, open, read, skip, close)) \
  X(int, archive_read_next_header, (struct archive *a, struct archive_entry **entry), (a, entry)) \
  X(la_int64_t, archive_read_header_position, (struct archive *a), (a)) \
  X(int, archive_read_free, (struct archive *a), (a)) \
  X(la_int64_t, archive_filter_bytes, (struct archive *a, int number), (a, number)) \
  X(const char *, archive_error_string, (struct archive *a), (a)) \
  X(struct archive *, archive_write_new, (void), ()) \
  X(int, archive_write_set_format_pax_restricted, (struct archive *a), (a)) \
  X(int, archive_write_set_bytes_per_block, (struct archive *a, int count), (a, count)) \
  X(int, archive_write_open, (struct archive *a, void *client, archive_open_callback *open, archive_write_callback *write, archive_close_callback *close), (a, client, open, write, close)) \
  X(int, archive_write_header, (struct archive *a, struct archive_entry *entry), (a, entry)) \
  X(int, archive_write_finish_entry, (struct archive *a), (a)) \
  X(int, archive_write_fail, (struct archive *a), (a)) \
  X(int, archive_write_free, (struct archive *a), (a)) \
  X(struct archive_entry *, archive_entry_new, (void), ()) \
  X(struct archive_entry *, archive_entry_clear, (struct archive_entry *e), (e)) \
  X(void, archive_entry_free, (struct archive_entry *e), (e)) \
  X(__LA_MODE_T, archive_entry_filetype, (struct archive_entry *e), (e)) \
  X(__LA_MODE_T, archive_entry_perm, (struct archive_entry *e), (e)) \
  X(const char *, archive_entry_hardlink, (struct archive_entry *e), (e)) \
  X(const char *, archive_entry_hardlink_utf8, (struct archive_entry *e), (e)) \
  X(const char *, archive_entry_pathname_utf8, (struct archive_entry *e), (e)) \
  X(la_int64_t, archive_entry_size, (struct archive_entry *e), (e)) \
  X(void, archive_entry_set_filetype, (struct archive_entry *e, unsigned int type), (e, type)) \
  X(void, archive_entry_set_perm, (struct archive_entry *e, __LA_MODE_T mode), (e, mode)) \
  X(void, archive_entry_set_mtime, (struct archive_entry *e, time_t seconds, long nanoseconds), (e, seconds, nanoseconds)) \
  X(void, archive_entry_set_uid, (struct archive_entry *e, la_int64_t id), (e, id)) \
  X(void, archive_entry_set_gid, (struct archive_entry *e, la_int64_t id), (e, id)) \
  X(void, archive_entry_set_size, (struct archive_entry *e, la_int64_t size), (e, size)) \
  X(void, archive_entry_set_pathname_utf8, (struct archive_entry *e, const char *path), (e, path)) \
  X(void, archive_entry_set_hardlink_utf8, (struct archive_entry *e, const char *path), (e, path))

#define POINTER(result, name, parameters, arguments) __typeof__(name) *name;
static struct {
  FUNCTIONS(POINTER)
} functions;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[256];

static void load(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(failure, sizeof failure, "%s", reason ? reason : LIBRARY);
    return;
  }
#define FIND(result, name, parameters, arguments) \
  functions.name = (__typeof__(name) *)dlsym(library, #name); \
  if (!functions.name) snprintf(failure, sizeof failure, LIBRARY " has no " #name);
  FUNCTIONS(FIND)
}

const char *packer_libarchive_failure(void) {
  pthread_once(&once, load);
  return failure[0] ? failure : NULL;
}

// Where the library cannot be used nothing is made, so nothing else is called.
#define FORWARD(result, name, parameters, arguments) \
  result name parameters { \
    if (packer_libarchive_failure()) return (result)0; \
    return functions.name arguments; \
  }
FUNCTIONS(FORWARD)

#ifdef __linux__
// Tells packaging tools what the dynamic section does not: https://systemd.io/ELF_DLOPEN_METADATA/
#define NEEDED_BY_PACKING \
  "[{\"feature\":\"tar\",\"description\":\"packing, unpacking and verifying\",\"priority\":\"required\",\"soname\":[\"" LIBRARY "\"]}]"

__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {
  uint32_t name_size, description_size, type;
  char name[4];
  char description[(sizeof NEEDED_BY_PACKING + 3) / 4 * 4];
} note = {4, sizeof note.description, 0x407c0c0a, "FDO", NEEDED_BY_PACKING};
#endif
