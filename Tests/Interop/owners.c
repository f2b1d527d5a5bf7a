// Loaded before a program (LD_PRELOAD), this counts the C objects that it makes and frees, and looks whether memory that was locked is all zeros
// when it is given back. OWNERS_REPORT names the file that is written at the end; OWNERS_FAIL=NAME:N has the N-th call of a function fail.

#define _GNU_SOURCE
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

// Made, and freed by the second function.
#define OBJECTS(X) \
  X(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void), (), EVP_CIPHER_CTX_free) \
  X(EVP_MD_CTX *, EVP_MD_CTX_new, (void), (), EVP_MD_CTX_free) \
  X(EVP_MAC_CTX *, EVP_MAC_CTX_new, (EVP_MAC *mac), (mac), EVP_MAC_CTX_free) \
  X(EVP_KDF_CTX *, EVP_KDF_CTX_new, (EVP_KDF *kdf), (kdf), EVP_KDF_CTX_free) \
  X(EVP_PKEY *, EVP_PKEY_new_raw_private_key_ex, (OSSL_LIB_CTX *library, const char *type, const char *properties, const unsigned char *key, size_t count), (library, type, properties, key, count), EVP_PKEY_free) \
  X(EVP_PKEY *, EVP_PKEY_new_raw_public_key_ex, (OSSL_LIB_CTX *library, const char *type, const char *properties, const unsigned char *key, size_t count), (library, type, properties, key, count), EVP_PKEY_free) \
  X(EVP_PKEY_CTX *, EVP_PKEY_CTX_new_from_pkey, (OSSL_LIB_CTX *library, EVP_PKEY *key, const char *properties), (library, key, properties), EVP_PKEY_CTX_free) \
  X(ZSTD_CCtx *, ZSTD_createCCtx, (void), (), ZSTD_freeCCtx) \
  X(ZSTD_DCtx *, ZSTD_createDCtx, (void), (), ZSTD_freeDCtx) \
  X(struct archive *, archive_read_new, (void), (), archive_read_free) \
  X(struct archive *, archive_write_new, (void), (), archive_write_free) \
  X(struct archive_entry *, archive_entry_new, (void), (), archive_entry_free)

#define RELEASES(X) \
  X(void, EVP_CIPHER_CTX_free, EVP_CIPHER_CTX) \
  X(void, EVP_MD_CTX_free, EVP_MD_CTX) \
  X(void, EVP_MAC_CTX_free, EVP_MAC_CTX) \
  X(void, EVP_KDF_CTX_free, EVP_KDF_CTX) \
  X(void, EVP_PKEY_free, EVP_PKEY) \
  X(void, EVP_PKEY_CTX_free, EVP_PKEY_CTX) \
  X(size_t, ZSTD_freeCCtx, ZSTD_CCtx) \
  X(size_t, ZSTD_freeDCtx, ZSTD_DCtx) \
  X(int, archive_read_free, struct archive) \
  X(int, archive_write_free, struct archive) \
  X(void, archive_entry_free, struct archive_entry)

// One of each is fetched, and stays.
#define FETCHES(X) \
  X(EVP_CIPHER *, EVP_CIPHER_fetch) \
  X(EVP_MD *, EVP_MD_fetch) \
  X(EVP_MAC *, EVP_MAC_fetch) \
  X(EVP_KDF *, EVP_KDF_fetch)

#define NO_MEMORY ((size_t)-ZSTD_error_memory_allocation)

// What may fail in the middle, and how it says so.
#define STEPS(X) \
  X(int, EVP_DigestInit_ex2, (EVP_MD_CTX *c, const EVP_MD *t, const OSSL_PARAM *p), (c, t, p), 0) \
  X(int, EVP_DigestUpdate, (EVP_MD_CTX *c, const void *d, size_t n), (c, d, n), 0) \
  X(int, EVP_DigestFinal_ex, (EVP_MD_CTX *c, unsigned char *d, unsigned int *n), (c, d, n), 0) \
  X(int, EVP_DigestSignInit, (EVP_MD_CTX *c, EVP_PKEY_CTX **k, const EVP_MD *t, ENGINE *e, EVP_PKEY *p), (c, k, t, e, p), 0) \
  X(int, EVP_DigestSign, (EVP_MD_CTX *c, unsigned char *s, size_t *n, const unsigned char *d, size_t m), (c, s, n, d, m), 0) \
  X(int, EVP_DigestVerifyInit, (EVP_MD_CTX *c, EVP_PKEY_CTX **k, const EVP_MD *t, ENGINE *e, EVP_PKEY *p), (c, k, t, e, p), 0) \
  X(int, EVP_DigestVerify, (EVP_MD_CTX *c, const unsigned char *s, size_t n, const unsigned char *d, size_t m), (c, s, n, d, m), 0) \
  X(int, EVP_CIPHER_CTX_ctrl, (EVP_CIPHER_CTX *c, int t, int a, void *p), (c, t, a, p), 0) \
  X(int, EVP_EncryptInit_ex2, (EVP_CIPHER_CTX *c, const EVP_CIPHER *t, const unsigned char *k, const unsigned char *i, const OSSL_PARAM *p), (c, t, k, i, p), 0) \
  X(int, EVP_CipherInit_ex2, (EVP_CIPHER_CTX *c, const EVP_CIPHER *t, const unsigned char *k, const unsigned char *i, int e, const OSSL_PARAM *p), (c, t, k, i, e, p), 0) \
  X(int, EVP_CipherUpdate, (EVP_CIPHER_CTX *c, unsigned char *o, int *n, const unsigned char *d, int m), (c, o, n, d, m), 0) \
  X(int, EVP_EncryptFinal_ex, (EVP_CIPHER_CTX *c, unsigned char *o, int *n), (c, o, n), 0) \
  X(int, EVP_DecryptFinal_ex, (EVP_CIPHER_CTX *c, unsigned char *o, int *n), (c, o, n), 0) \
  X(int, EVP_MAC_init, (EVP_MAC_CTX *c, const unsigned char *k, size_t n, const OSSL_PARAM p[]), (c, k, n, p), 0) \
  X(int, EVP_MAC_update, (EVP_MAC_CTX *c, const unsigned char *d, size_t n), (c, d, n), 0) \
  X(int, EVP_MAC_final, (EVP_MAC_CTX *c, unsigned char *o, size_t *n, size_t m), (c, o, n, m), 0) \
  X(int, EVP_KDF_derive, (EVP_KDF_CTX *c, unsigned char *o, size_t n, const OSSL_PARAM p[]), (c, o, n, p), 0) \
  X(int, EVP_PKEY_derive_init, (EVP_PKEY_CTX *c), (c), 0) \
  X(int, EVP_PKEY_derive_set_peer, (EVP_PKEY_CTX *c, EVP_PKEY *p), (c, p), 0) \
  X(int, EVP_PKEY_derive, (EVP_PKEY_CTX *c, unsigned char *o, size_t *n), (c, o, n), 0) \
  X(int, EVP_PKEY_get_raw_public_key, (const EVP_PKEY *p, unsigned char *o, size_t *n), (p, o, n), 0) \
  X(int, RAND_priv_bytes, (unsigned char *o, int n), (o, n), 0) \
  X(size_t, ZSTD_CCtx_setParameter, (ZSTD_CCtx *c, ZSTD_cParameter p, int v), (c, p, v), NO_MEMORY) \
  X(size_t, ZSTD_compress2, (ZSTD_CCtx *c, void *o, size_t n, const void *d, size_t m), (c, o, n, d, m), NO_MEMORY) \
  X(size_t, ZSTD_decompressDCtx, (ZSTD_DCtx *c, void *o, size_t n, const void *d, size_t m), (c, o, n, d, m), NO_MEMORY) \
  X(int, archive_read_support_format_tar, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(int, archive_read_support_format_raw, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(int, archive_read_support_format_empty, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(int, archive_read_support_filter_gzip, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(la_ssize_t, archive_read_data, (struct archive *a, void *b, size_t n), (a, b, n), ARCHIVE_FATAL) \
  X(int, archive_read_open2, (struct archive *a, void *c, archive_open_callback *o, archive_read_callback *r, archive_skip_callback *s, archive_close_callback *e), (a, c, o, r, s, e), ARCHIVE_FATAL) \
  X(int, archive_read_next_header, (struct archive *a, struct archive_entry **e), (a, e), ARCHIVE_FATAL) \
  X(int, archive_write_set_format_pax_restricted, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(int, archive_write_set_format_ustar, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(int, archive_write_set_format_zip, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(int, archive_write_set_bytes_in_last_block, (struct archive *a, int n), (a, n), ARCHIVE_FATAL) \
  X(int, archive_write_set_bytes_per_block, (struct archive *a, int n), (a, n), ARCHIVE_FATAL) \
  X(int, archive_write_open, (struct archive *a, void *c, archive_open_callback *o, archive_write_callback *w, archive_close_callback *e), (a, c, o, w, e), ARCHIVE_FATAL) \
  X(int, archive_write_header, (struct archive *a, struct archive_entry *e), (a, e), ARCHIVE_FATAL) \
  X(la_ssize_t, archive_write_data, (struct archive *a, const void *b, size_t n), (a, b, n), ARCHIVE_FATAL) \
  X(int, archive_write_close, (struct archive *a), (a), ARCHIVE_FATAL) \
  X(int, archive_write_finish_entry, (struct archive *a), (a), ARCHIVE_FATAL)

// Calls by function, and what to do about them.
struct calls {
  const char *name;
  atomic_long count;
};

static long failing_call(const char *name) {
  const char *wanted = getenv("OWNERS_FAIL");
  size_t length = strlen(name);
  if (!wanted || strncmp(wanted, name, length) != 0 || wanted[length] != ':') return 0;
  return atol(wanted + length + 1);
}

static atomic_long failures;

static int is_to_fail(struct calls *calls) {
  if (atomic_fetch_add(&calls->count, 1) + 1 != failing_call(calls->name)) return 0;
  atomic_fetch_add(&failures, 1);
  return 1;
}

// The libraries call their own functions too, and hold each other's objects. What counts is what is called from elsewhere.
#define MOST_LIBRARIES 4
static struct {
  uintptr_t start, end;
} libraries[MOST_LIBRARIES];
static int library_count;

static int note_library(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "libcrypto.so") && !strstr(info->dlpi_name, "libarchive.so") && !strstr(info->dlpi_name, "libzstd.so")) return 0;
  if (library_count == MOST_LIBRARIES) return 1;
  uintptr_t end = 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    uintptr_t last = info->dlpi_addr + info->dlpi_phdr[index].p_vaddr + info->dlpi_phdr[index].p_memsz;
    if (info->dlpi_phdr[index].p_type == PT_LOAD && last > end) end = last;
  }
  libraries[library_count].start = info->dlpi_addr;
  libraries[library_count++].end = end;
  return 0;
}

static int is_library(const void *address) {
  for (int index = 0; index < library_count; index++)
    if ((uintptr_t)address >= libraries[index].start && (uintptr_t)address < libraries[index].end) return 1;
  return 0;
}

#define IS_OURS (!is_library(__builtin_return_address(0)))

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define COUNT_CALLS(name) static struct calls calls_of_##name = {#name, 0};
#define MADE(name) static atomic_long made_by_##name;
#define FREED(name) static atomic_long freed_by_##name;

#define RELEASE(result, name, type) \
  FREED(name) \
  result name(type *object) { \
    if (object && IS_OURS) atomic_fetch_add(&freed_by_##name, 1); \
    return REAL(name)(object); \
  }
RELEASES(RELEASE)

#define OBJECT(result, name, parameters, arguments, release) \
  COUNT_CALLS(name) \
  MADE(name) \
  result name parameters { \
    if (!IS_OURS) return REAL(name) arguments; \
    if (is_to_fail(&calls_of_##name)) return NULL; \
    result object = REAL(name) arguments; \
    if (object) atomic_fetch_add(&made_by_##name, 1); \
    return object; \
  }
OBJECTS(OBJECT)

#define FETCH(result, name) \
  COUNT_CALLS(name) \
  result name(OSSL_LIB_CTX *library, const char *algorithm, const char *properties) { \
    return IS_OURS && is_to_fail(&calls_of_##name) ? NULL : REAL(name)(library, algorithm, properties); \
  }
FETCHES(FETCH)

#define STEP(result, name, parameters, arguments, failure) \
  COUNT_CALLS(name) \
  result name parameters { return IS_OURS && is_to_fail(&calls_of_##name) ? failure : REAL(name) arguments; }
STEPS(STEP)

static int is_wiped(const unsigned char *start, size_t count);

// Secrets are the only memory that is locked.
#define MOST_SECRETS 4096
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void *secrets[MOST_SECRETS];
static long secrets_made, secrets_freed, secrets_left_as_they_were;

COUNT_CALLS(mlock)

int mlock(const void *start, size_t count) {
  pthread_mutex_lock(&guard);
  for (int index = 0; index < MOST_SECRETS; index++) {
    if (secrets[index]) continue;
    secrets[index] = (void *)start;
    break;
  }
  secrets_made++;
  pthread_mutex_unlock(&guard);
  return is_to_fail(&calls_of_mlock) ? -1 : REAL(mlock)(start, count);
}

int munmap(void *start, size_t count) {
  pthread_mutex_lock(&guard);
  for (int index = 0; index < MOST_SECRETS && secrets_made > secrets_freed; index++) {
    if (secrets[index] != start) continue;
    secrets[index] = NULL;
    secrets_freed++;
    if (!is_wiped(start, count)) secrets_left_as_they_were++;
    break;
  }
  pthread_mutex_unlock(&guard);
  return REAL(munmap)(start, count);
}

// Secret memory and decoders that are kept for the next ones, at most.
#define MOST_SPARE_SECRETS 8
#define MOST_SPARE_DECODERS 2

static int is_wiped(const unsigned char *start, size_t count) {
  for (size_t offset = 0; offset < count; offset++)
    if (start[offset]) return 0;
  return 1;
}

// Counts the secrets that were not given back, and those of them that are not zeros.
static long spare_secrets(long *unwiped) {
  long count = 0, pages = sysconf(_SC_PAGESIZE);
  pthread_mutex_lock(&guard);
  for (int index = 0; index < MOST_SECRETS; index++) {
    if (!secrets[index]) continue;
    count++;
    if (!is_wiped(secrets[index], pages)) (*unwiped)++;
  }
  pthread_mutex_unlock(&guard);
  return count;
}

static long over(long count, long most) { return count > most ? count - most : 0; }

// Files and directories that are open, but for the three and the one that looks. What threads wait on has no path.
static long open_files(void) {
  long count = 0;
  DIR *directory = opendir("/proc/self/fd");
  if (!directory) return -1;
  for (struct dirent *entry; (entry = readdir(directory));) {
    char path[2] = "";
    int number = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || number <= 2 || number == dirfd(directory)) continue;
    if (readlinkat(dirfd(directory), entry->d_name, path, 1) == 1 && path[0] == '/') count++;
  }
  closedir(directory);
  return count;
}

static long inherited_files;

__attribute__((constructor)) static void begin(void) {
  inherited_files = open_files();
  dl_iterate_phdr(note_library, NULL);
}

static long owned(void) {
  long unwiped = 0, decoders = atomic_load(&made_by_ZSTD_createDCtx) - atomic_load(&freed_by_ZSTD_freeDCtx);
  long count = over(decoders, MOST_SPARE_DECODERS) - decoders;
#define SUBTRACT(result, name, type) count -= atomic_load(&freed_by_##name);
#define ADD(result, name, parameters, arguments, release) count += atomic_load(&made_by_##name);
  RELEASES(SUBTRACT)
  OBJECTS(ADD)
  count += over(spare_secrets(&unwiped), MOST_SPARE_SECRETS) + unwiped;
  return count + open_files() - inherited_files;
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("OWNERS_REPORT");
  // A thread may be about to let go of what it worked with.
  for (int round = 0; path && owned() != 0 && round < 100; round++) usleep(10000);
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  // The report's own file is one of them.
  fprintf(file, "files %ld\nfailures %ld\n", open_files() - inherited_files - 1, atomic_load(&failures));
#define SHOW_RELEASE(result, name, type) fprintf(file, "freed %s %ld\n", #name, atomic_load(&freed_by_##name));
  RELEASES(SHOW_RELEASE)
#define SHOW_OBJECT(result, name, parameters, arguments, release) fprintf(file, "made %s %ld\n", #release, atomic_load(&made_by_##name));
  OBJECTS(SHOW_OBJECT)
  spare_secrets(&secrets_left_as_they_were);
  fprintf(file, "made munmap %ld\nfreed munmap %ld\nunwiped %ld\n", secrets_made, secrets_freed, secrets_left_as_they_were);
#define SHOW_CALLS(name) fprintf(file, "called %s %ld\n", #name, atomic_load(&calls_of_##name.count));
#define SHOW_OBJECT_CALLS(result, name, parameters, arguments, release) SHOW_CALLS(name)
#define SHOW_FETCH_CALLS(result, name) SHOW_CALLS(name)
#define SHOW_STEP_CALLS(result, name, parameters, arguments, failure) SHOW_CALLS(name)
  OBJECTS(SHOW_OBJECT_CALLS)
  FETCHES(SHOW_FETCH_CALLS)
  STEPS(SHOW_STEP_CALLS)
  SHOW_CALLS(mlock)
  fclose(file);
}
