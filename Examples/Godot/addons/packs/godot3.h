// What this library needs of Godot 3's C interface, GDNative 1.0, as gdnative_api.json documents it: the order of the functions, and the sizes of
// values. With Godot's own headers at hand, use them instead: the names are the same.
#ifndef GODOT3_H
#define GODOT3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int godot_int;
typedef struct { uint8_t bytes[24]; } godot_variant;
typedef struct { uint8_t bytes[sizeof(void *)]; } godot_string, godot_char_string, godot_array, godot_pool_byte_array;
typedef struct godot_pool_byte_array_write_access godot_pool_byte_array_write_access;

typedef struct {
  unsigned type;
  struct { unsigned major, minor; } version;
  const void *next;
  unsigned extension_count;
  const void *const *extensions;
  void *before_pool_byte_array_new[155];
  void (*godot_pool_byte_array_new)(godot_pool_byte_array *array);
  void *before_pool_byte_array_resize[8];
  void (*godot_pool_byte_array_resize)(godot_pool_byte_array *array, godot_int size);
  void *before_pool_byte_array_write[1];
  godot_pool_byte_array_write_access *(*godot_pool_byte_array_write)(godot_pool_byte_array *array);
  void *before_pool_byte_array_destroy[3];
  void (*godot_pool_byte_array_destroy)(godot_pool_byte_array *array);
  void *before_pool_byte_array_write_access_ptr[125];
  uint8_t *(*godot_pool_byte_array_write_access_ptr)(const godot_pool_byte_array_write_access *access);
  void *before_pool_byte_array_write_access_destroy[1];
  void (*godot_pool_byte_array_write_access_destroy)(godot_pool_byte_array_write_access *access);
  void *before_array_get[34];
  godot_variant (*godot_array_get)(const godot_array *array, godot_int index);
  void *before_array_size[22];
  godot_int (*godot_array_size)(const godot_array *array);
  void *before_variant_new_nil[152];
  void (*godot_variant_new_nil)(godot_variant *made);
  void *before_variant_new_int[2];
  void (*godot_variant_new_int)(godot_variant *made, int64_t value);
  void *before_variant_new_string[1];
  void (*godot_variant_new_string)(godot_variant *made, const godot_string *value);
  void *before_variant_new_pool_byte_array[15];
  void (*godot_variant_new_pool_byte_array)(godot_variant *made, const godot_pool_byte_array *value);
  void *before_variant_as_int[8];
  int64_t (*godot_variant_as_int)(const godot_variant *value);
  void *before_variant_as_string[1];
  godot_string (*godot_variant_as_string)(const godot_variant *value);
  void *before_variant_destroy[28];
  void (*godot_variant_destroy)(godot_variant *value);
  godot_int (*godot_char_string_length)(const godot_char_string *text);
  const char *(*godot_char_string_get_data)(const godot_char_string *text);
  void (*godot_char_string_destroy)(godot_char_string *text);
  void *before_string_utf8[104];
  godot_char_string (*godot_string_utf8)(const godot_string *text);
  void *before_string_chars_to_utf8[2];
  godot_string (*godot_string_chars_to_utf8)(const char *text);
  void *before_string_destroy[39];
  void (*godot_string_destroy)(godot_string *text);
} godot_gdnative_core_api_struct;

// What a library gets first.
typedef struct {
  bool in_editor;
  uint64_t core_api_hash, editor_api_hash, no_api_hash;
  void *report_version_mismatch, *report_loading_error;
  void *gd_native_library;
  const godot_gdnative_core_api_struct *api_struct;
  const godot_string *active_library_path;
} godot_gdnative_init_options;

typedef struct godot_gdnative_terminate_options godot_gdnative_terminate_options;

#endif
