// What the programs here share. They are C99 and C++11.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer.h"

static int failures;

#define CHECK(condition)                                                                                                                \
  do {                                                                                                                                  \
    if (!(condition)) {                                                                                                                 \
      failures++;                                                                                                                       \
      fprintf(stderr, "%s:%d: wrong: %s (last error: %s)\n", __FILE__, __LINE__, #condition, packer_error_message() ? packer_error_message() : "none"); \
    }                                                                                                                                   \
  } while (0)

// The status of a call, and that the texts of its error are there, or not.
#define STATUS(call, expected)                                                                                                          \
  do {                                                                                                                                  \
    PackerStatus status_ = (call);                                                                                                      \
    if (status_ != (expected)) {                                                                                                        \
      failures++;                                                                                                                       \
      fprintf(stderr, "%s:%d: wrong: %s is %d, not %d (%s)\n", __FILE__, __LINE__, #call, (int)status_, (int)(expected),                \
              packer_error_message() ? packer_error_message() : "none");                                                                \
    }                                                                                                                                   \
    CHECK((packer_error_code() == NULL) == (status_ == PackerStatusDone || status_ == PackerStatusRunning));                            \
    CHECK((packer_error_message() == NULL) == (packer_error_code() == NULL));                                                           \
  } while (0)

#define HAS(text, part) CHECK((text) != NULL && strstr((text), (part)) != NULL)

// A path in the directory of the test. Valid until the eighth call after.
static inline const char *in(const char *place, const char *name) {
  static char paths[8][1024];
  static int next;
  next = (next + 1) % 8;
  snprintf(paths[next], sizeof paths[next], "%s/%s", place, name);
  return paths[next];
}

// The bytes of a file, with a zero after them. The caller frees them.
static inline char *content(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes;
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = (char *)malloc(*size + 1);
  if (fread(bytes, 1, *size, file) != *size) exit(2);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

#endif
