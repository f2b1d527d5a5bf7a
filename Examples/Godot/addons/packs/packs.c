// Packs for Godot 3: functions that pack.gd calls through GDNative. Each gets an array with the arguments, and returns a value.
#include <stdlib.h>
#include <string.h>

#include "godot3.h"
#include "packer.h"

static const godot_gdnative_core_api_struct *api;

void godot_gdnative_init(godot_gdnative_init_options *options) { api = options->api_struct; }

void godot_gdnative_terminate(godot_gdnative_terminate_options *options) { (void)options; }

// Returns an argument as UTF-8. `free` frees it.
static char *text(const godot_array *arguments, int index) {
  godot_variant value = api->godot_array_get(arguments, index);
  godot_string string = api->godot_variant_as_string(&value);
  godot_char_string bytes = api->godot_string_utf8(&string);
  godot_int count = api->godot_char_string_length(&bytes);
  char *copy = malloc((size_t)count + 1);
  if (copy) {
    memcpy(copy, api->godot_char_string_get_data(&bytes), (size_t)count);
    copy[count] = 0;
  }
  api->godot_char_string_destroy(&bytes);
  api->godot_string_destroy(&string);
  api->godot_variant_destroy(&value);
  return copy;
}

static int64_t number(const godot_array *arguments, int index) {
  godot_variant value = api->godot_array_get(arguments, index);
  int64_t found = api->godot_variant_as_int(&value);
  api->godot_variant_destroy(&value);
  return found;
}

static godot_variant nil(void) {
  godot_variant made;
  api->godot_variant_new_nil(&made);
  return made;
}

static godot_variant integer(int64_t value) {
  godot_variant made;
  api->godot_variant_new_int(&made, value);
  return made;
}

static godot_variant string(const char *value) {
  godot_string made = api->godot_string_chars_to_utf8(value ? value : "");
  godot_variant result;
  api->godot_variant_new_string(&result, &made);
  api->godot_string_destroy(&made);
  return result;
}

// The text of why the last call failed: 0 the stable identifier, 1 the message, 2 the advice.
godot_variant packs_error(godot_array *arguments) {
  switch (number(arguments, 0)) {
    case 0: return string(packer_error_code());
    case 1: return string(packer_error_message());
    default: return string(packer_error_advice());
  }
}

// Opens a pack: its path, and its key as text. Returns a handle, or minus the status.
godot_variant packs_open(godot_array *arguments) {
  char *path = text(arguments, 0), *key = text(arguments, 1);
  uint64_t pack = 0;
  PackerStatus status = PackerStatusFailed;
  if (path && key) status = packer_open(path, (const uint8_t *)key, strlen(key), &pack);
  if (key) memset(key, 0, strlen(key));
  free(path);
  free(key);
  return integer(status ? -status : (int64_t)pack);
}

godot_variant packs_close(godot_array *arguments) { return integer(packer_close((uint64_t)number(arguments, 0))); }

struct list {
  char *text;
  size_t count, room;
};

static int32_t visit(void *context, const char *path, PackerKind kind, uint64_t size) {
  struct list *list = context;
  size_t length = strlen(path);
  (void)size;
  if (kind != PackerKindFile) return 0;
  if (list->room - list->count < length + 2) {
    size_t room = (list->room + length + 2) * 2;
    char *larger = realloc(list->text, room);
    if (!larger) return 1;
    list->text = larger;
    list->room = room;
  }
  memcpy(list->text + list->count, path, length);
  list->count += length;
  list->text[list->count++] = '\n';
  list->text[list->count] = 0;
  return 0;
}

// Returns the paths of the files in a pack, each with a line feed, which no path has; nil if that failed.
godot_variant packs_list(godot_array *arguments) {
  struct list list = {0};
  PackerStatus status = packer_list((uint64_t)number(arguments, 0), visit, &list);
  godot_variant result = status ? nil() : string(list.text);
  free(list.text);
  return result;
}

// Returns a whole file as bytes, which are compared with its digest; nil if that failed.
godot_variant packs_read(godot_array *arguments) {
  uint64_t pack = (uint64_t)number(arguments, 0), size = 0, count = 0;
  char *path = text(arguments, 1);
  PackerKind kind = PackerKindFile;
  PackerStatus status = path ? packer_find(pack, path, &kind, &size, NULL) : PackerStatusFailed;
  godot_variant result = nil();
  if (!status && kind == PackerKindFile && size <= INT32_MAX) {
    godot_pool_byte_array bytes;
    api->godot_pool_byte_array_new(&bytes);
    api->godot_pool_byte_array_resize(&bytes, (godot_int)size);
    godot_pool_byte_array_write_access *access = api->godot_pool_byte_array_write(&bytes);
    uint8_t empty;
    status = packer_read(pack, path, 0, size ? api->godot_pool_byte_array_write_access_ptr(access) : &empty, size, &count);
    api->godot_pool_byte_array_write_access_destroy(access);
    if (!status && count == size) api->godot_variant_new_pool_byte_array(&result, &bytes);
    api->godot_pool_byte_array_destroy(&bytes);
  }
  free(path);
  return result;
}
