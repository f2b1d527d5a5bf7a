// Makes a pack usable: fetches it if it is not here, and shows how far that is. Then prints the size of all its files.
//
//   fetch DIRECTORY MANIFEST TRUSTED KEYFILE PACK
#include <stdio.h>
#include <string.h>

#include "packer-library.h"

static int complain(PackerStatus status) {
  fprintf(stderr, "error: %s\n", packer_error_message());
  if (packer_error_advice() != NULL) fprintf(stderr, "hint: %s\n", packer_error_advice());
  return status;
}

// Writes the key of a pack. A game would ask its server for the key with one of the ids.
static int64_t give_key(void *context, const char *key_ids, const uint8_t *pack_id, uint8_t *key) {
  FILE *file = fopen((const char *)context, "rb");
  (void)key_ids, (void)pack_id;
  if (file == NULL) return 0;
  size_t size = fread(key, 1, 128, file);
  fclose(file);
  return (int64_t)size;
}

// Gets what happens, as JSON, on other threads. A game would hand it to the thread that draws.
static void tell(void *context, const char *json) {
  (void)context;
  fprintf(stderr, "%s\n", json);
}

int main(int count, char **arguments) {
  if (count != 6) return PackerStatusUsage;
  char options[4096];
  snprintf(options, sizeof options, "{\"directory\": \"%s\", \"manifest\": \"%s\", \"trusting\": [\"%s\"]}", arguments[1], arguments[2], arguments[3]);

  uint64_t library, request, pack = 0, size = 0;
  PackerStatus status = packer_library_open(options, give_key, arguments[4], tell, NULL, &library);
  if (status != PackerStatusDone) return complain(status);

  const char *const packs[] = {arguments[5]};
  status = packer_library_ensure(library, packs, 1, &request);
  if (status == PackerStatusDone) {
    // A game would ask with 0 milliseconds, once in each frame.
    do status = packer_wait(request, 100);
    while (status == PackerStatusRunning);
    if (status != PackerStatusDone) complain(status);
    packer_close(request);
  } else {
    complain(status);
  }

  if (status == PackerStatusDone) {
    status = packer_library_pack(library, arguments[5], &pack);
    if (status == PackerStatusDone) status = packer_info(pack, NULL, &size);
    if (status != PackerStatusDone) complain(status);
    else printf("%s: %llu bytes\n", arguments[5], (unsigned long long)size);
    packer_close(pack);
  }
  packer_close(library);
  return status;
}
