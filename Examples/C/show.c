// Lists a pack, or writes one of its files to standard output.
//
//   show PACK KEYFILE [PATH]
#include <stdio.h>
#include <stdlib.h>

#include "packer.h"

// Says why the last call failed, and ends with its status.
static int complain(PackerStatus status) {
  fprintf(stderr, "error: %s\n", packer_error_message());
  if (packer_error_advice() != NULL) fprintf(stderr, "hint: %s\n", packer_error_advice());
  return status;
}

static int32_t print(void *context, const char *path, PackerKind kind, uint64_t size) {
  (void)context;
  if (kind == PackerKindFile) printf("%s  %llu\n", path, (unsigned long long)size);
  else printf("%s/\n", path);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 3 && count != 4) return PackerStatusUsage;

  // A key file has the text of a key. A game would rather have the 32 bytes from its server, or from where the system keeps secrets.
  uint8_t key[128];
  FILE *file = fopen(arguments[2], "rb");
  if (file == NULL) {
    perror(arguments[2]);
    return PackerStatusMissing;
  }
  size_t key_size = fread(key, 1, sizeof key, file);
  fclose(file);

  uint64_t pack;
  PackerStatus status = packer_open(arguments[1], key, key_size, &pack);
  for (size_t place = 0; place < sizeof key; place++) ((volatile uint8_t *)key)[place] = 0;
  if (status != PackerStatusDone) return complain(status);

  if (count == 3) {
    status = packer_list(pack, print, NULL);
  } else {
    // Piece by piece, so that a file of any size needs 64 KiB.
    static uint8_t buffer[64 << 10];
    uint64_t offset = 0, read = sizeof buffer;
    while (status == PackerStatusDone && read == sizeof buffer) {
      status = packer_read(pack, arguments[3], offset, buffer, sizeof buffer, &read);
      if (status == PackerStatusDone) fwrite(buffer, 1, read, stdout);
      offset += read;
    }
  }
  if (status != PackerStatusDone) complain(status);
  packer_close(pack);
  return status;
}
