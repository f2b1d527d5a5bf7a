// A web view of WebKitGTK whose pages come out of packs, by the C interface: `webview DIRECTORY`, in which the engine keeps its data.
//
// It takes commands on standard input, one in a line, with tabs between their parts, which are percent-encoded, and answers each with a line on standard
// output: `ok`, perhaps with a value, or `error` with the reason. Requests, and what pages and the engine say, are on standard error.
//
//   pack NAME FILE KEY        opens a pack, to be served as pack://NAME/ and app://NAME/
//   set NAME OPTION VALUE     an option of its server
//   mount NAME DIRECTORY PACK the files of another pack, in a directory
//   undo NAME FIELD           a mend that is left out of its answers: charset or directories
//   get ADDRESS               loads a page
//   run SCRIPT                the body of an asynchronous function; the value that it returns, as JSON
//   picture FILE              what is seen, as a PNG
//
// As WKWebView does for each scheme with a handler of the app: both schemes are secure, and requests between origins are checked (CORS).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gio/gunixinputstream.h>
#include <webkit2/webkit2.h>

#include "packer.h"

static WebKitWebView *view;
static FILE *answers;
static GDataInputStream *commands;
static gboolean is_loading;
static void next(void);

static void reply(const char *word, const char *value) {
  g_autofree char *text = value ? g_uri_escape_string(value, NULL, TRUE) : NULL;
  fprintf(answers, "%s\t%s\n", word, text ? text : "");
  fflush(answers);
  next();
}

// The body of a response. The engine reads it on threads of its own.
typedef struct { GInputStream parent; uint64_t response; } Body;
typedef struct { GInputStreamClass parent; } BodyClass;
G_DEFINE_TYPE(Body, body, G_TYPE_INPUT_STREAM)

static gssize body_read(GInputStream *stream, void *buffer, gsize size, GCancellable *cancellable, GError **error) {
  uint64_t count = 0;
  if (packer_response_read(((Body *)stream)->response, buffer, size, &count) == PackerStatusDone) return count;
  fprintf(stderr, "failed\t%s\n", packer_error_message());
  g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED, packer_error_message());
  return -1;
}

static void body_finalize(GObject *object) {
  packer_close(((Body *)object)->response);
  G_OBJECT_CLASS(body_parent_class)->finalize(object);
}

static void body_class_init(BodyClass *class) {
  class->parent.read_fn = body_read;
  G_OBJECT_CLASS(class)->finalize = body_finalize;
}

static void body_init(Body *body) {}

typedef struct { uint64_t pack, server; gboolean no_charset, no_directories; } Served;
static GHashTable *served;

static void add_field(const char *name, const char *value, void *fields) {
  g_string_append_printf(fields, "%s: %s\r\n", name, value);
}

static void respond(WebKitURISchemeRequest *request, void *context) {
  const char *address = webkit_uri_scheme_request_get_uri(request), *method = webkit_uri_scheme_request_get_http_method(request);
  g_autoptr(GUri) uri = g_uri_parse(address, G_URI_FLAGS_ENCODED, NULL);
  Served *one = uri && g_uri_get_host(uri) ? g_hash_table_lookup(served, g_uri_get_host(uri)) : NULL;
  SoupMessageHeaders *given = webkit_uri_scheme_request_get_http_headers(request);
  g_autoptr(GString) fields = g_string_new(NULL);
  if (given) soup_message_headers_foreach(given, add_field, fields);
  uint64_t response = 0, length = 0;
  int32_t status = 0;
  char *lines = NULL;
  if (!one || packer_server_respond(one->server, method, address, fields->str, &response) != PackerStatusDone ||
      packer_response_head(response, &status, &length) != PackerStatusDone || packer_response_copy_fields(response, &lines) != PackerStatusDone) {
    g_autoptr(GError) error = g_error_new_literal(G_IO_ERROR, G_IO_ERROR_NOT_FOUND, one ? packer_error_message() : "there is no such pack");
    fprintf(stderr, "failed\t%s\t%s\n", address, error->message);
    if (response) packer_close(response);
    webkit_uri_scheme_request_finish_error(request, error);
    return;
  }
  SoupMessageHeaders *sent = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE);
  g_auto(GStrv) all = g_strsplit(lines, "\r\n", -1);
  for (char **line = all; *line; line += 1) {
    char *colon = strstr(*line, ": ");
    if (!colon) continue;
    *colon = 0;
    soup_message_headers_append(sent, *line, colon + 2);
  }
  packer_free(lines);
  const char *type = soup_message_headers_get_one(sent, "Content-Type");
  if (one->no_charset && type && g_str_equal(type, "text/html")) soup_message_headers_replace(sent, "Content-Type", "text/html; charset=utf-8");
  // What a server does in the place of a page that leads there.
  gboolean leads = one->no_directories && g_str_has_suffix(g_uri_get_path(uri), "/section");
  if (leads) {
    status = 301;
    soup_message_headers_append(sent, "Location", "/section/");
  }
  const char *range = given ? soup_message_headers_get_one(given, "Range") : NULL;
  fprintf(stderr, "request\t%s\t%s\t%s\t%d\n", method, address, range ? range : "", status);
  Body *body = g_object_new(body_get_type(), NULL);
  body->response = response;
  g_autoptr(GInputStream) stream = leads ? g_memory_input_stream_new() : g_object_ref(G_INPUT_STREAM(body));
  g_object_unref(body);
  g_autoptr(WebKitURISchemeResponse) answer = webkit_uri_scheme_response_new(stream, leads ? 0 : (gint64)length);
  webkit_uri_scheme_response_set_status(answer, status, NULL);
  type = soup_message_headers_get_one(sent, "Content-Type");
  if (type) webkit_uri_scheme_response_set_content_type(answer, type);
  webkit_uri_scheme_response_set_http_headers(answer, sent);
  webkit_uri_scheme_request_finish_with_response(request, answer);
}

static void load_changed(WebKitWebView *view, WebKitLoadEvent event, void *context) {
  if (event != WEBKIT_LOAD_FINISHED || !is_loading) return;
  is_loading = FALSE;
  reply("ok", NULL);
}

static gboolean load_failed(WebKitWebView *view, WebKitLoadEvent event, char *address, GError *error, void *context) {
  // Another load, or the end of the page, took its place.
  if (g_error_matches(error, WEBKIT_NETWORK_ERROR, WEBKIT_NETWORK_ERROR_CANCELLED)) return TRUE;
  fprintf(stderr, "failed\t%s\t%s\n", address, error->message);
  if (is_loading) {
    is_loading = FALSE;
    reply("error", error->message);
  }
  return TRUE;
}

static void ran(GObject *object, GAsyncResult *result, void *context) {
  g_autoptr(GError) error = NULL;
  g_autoptr(JSCValue) value = webkit_web_view_call_async_javascript_function_finish(view, result, &error);
  g_autofree char *text = value ? jsc_value_to_json(value, 0) : NULL;
  if (error) reply("error", error->message);
  else reply("ok", text ? text : "null");
}

static void pictured(GObject *object, GAsyncResult *result, void *file) {
  g_autoptr(GError) error = NULL;
  cairo_surface_t *surface = webkit_web_view_get_snapshot_finish(view, result, &error);
  const char *reason = error ? error->message : NULL;
  if (surface) {
    cairo_status_t status = cairo_surface_write_to_png(surface, file);
    if (status != CAIRO_STATUS_SUCCESS) reason = cairo_status_to_string(status);
    cairo_surface_destroy(surface);
  }
  g_free(file);
  reply(reason ? "error" : "ok", reason);
}

static void obey(GStrv parts) {
  guint count = g_strv_length(parts);
  const char *command = count ? parts[0] : "";
  Served *one = count > 2 ? g_hash_table_lookup(served, parts[1]) : NULL;
  PackerStatus status = PackerStatusUsage;
  if (g_str_equal(command, "get") && count == 2) {
    is_loading = TRUE;
    webkit_web_view_load_uri(view, parts[1]);
    return;
  }
  if (g_str_equal(command, "run") && count == 2) {
    webkit_web_view_call_async_javascript_function(view, parts[1], -1, NULL, NULL, NULL, NULL, ran, NULL);
    return;
  }
  if (g_str_equal(command, "picture") && count == 2) {
    webkit_web_view_get_snapshot(view, WEBKIT_SNAPSHOT_REGION_VISIBLE, WEBKIT_SNAPSHOT_OPTIONS_NONE, NULL, pictured, g_strdup(parts[1]));
    return;
  }
  if (g_str_equal(command, "pack") && count == 4) {
    g_autofree char *key = NULL;
    gsize size = 0;
    one = g_new0(Served, 1);
    if (!g_file_get_contents(parts[3], &key, &size, NULL)) return reply("error", "the key cannot be read");
    status = packer_open(parts[2], (const uint8_t *)key, size, &one->pack);
    if (status == PackerStatusDone) status = packer_server_new(one->pack, &one->server);
    g_hash_table_insert(served, g_strdup(parts[1]), one);
  } else if (g_str_equal(command, "set") && count == 4 && one) {
    status = packer_server_set(one->server, parts[2], parts[3]);
  } else if (g_str_equal(command, "mount") && count == 4 && one && g_hash_table_contains(served, parts[3])) {
    status = packer_server_mount(one->server, ((Served *)g_hash_table_lookup(served, parts[3]))->pack, parts[2]);
  } else if (g_str_equal(command, "undo") && count == 3 && one) {
    *(g_str_equal(parts[2], "charset") ? &one->no_charset : &one->no_directories) = TRUE;
    status = PackerStatusDone;
  } else {
    return reply("error", "no such command");
  }
  if (status == PackerStatusDone) reply("ok", NULL);
  else reply("error", packer_error_message());
}

static void heard(GObject *object, GAsyncResult *result, void *context) {
  g_autofree char *line = g_data_input_stream_read_line_finish(commands, result, NULL, NULL);
  // The one who drives has ended.
  if (!line) return gtk_main_quit();
  g_auto(GStrv) parts = g_strsplit(line, "\t", -1);
  for (char **part = parts; *part; part += 1) {
    char *text = g_uri_unescape_string(*part, NULL);
    g_free(*part);
    *part = text ? text : g_strdup("");
  }
  obey(parts);
}

static void next(void) {
  g_data_input_stream_read_line_async(commands, G_PRIORITY_DEFAULT, NULL, heard, NULL);
}

int main(int count, char **arguments) {
  gtk_init(&count, &arguments);
  if (count != 2) return 64;
  // The engine's processes write what pages say to their standard output, which must not get among the answers.
  answers = fdopen(dup(1), "w");
  dup2(2, 1);
  setvbuf(stderr, NULL, _IOLBF, 0);
  served = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(WebKitWebsiteDataManager) data = webkit_website_data_manager_new(
      "base-data-directory", arguments[1], "base-cache-directory", arguments[1], NULL);
  WebKitWebContext *engine = webkit_web_context_new_with_website_data_manager(data);
  const char *schemes[] = {"pack", "app"};
  for (int index = 0; index < 2; index += 1) {
    webkit_web_context_register_uri_scheme(engine, schemes[index], respond, NULL, NULL);
    webkit_security_manager_register_uri_scheme_as_secure(webkit_web_context_get_security_manager(engine), schemes[index]);
    webkit_security_manager_register_uri_scheme_as_cors_enabled(webkit_web_context_get_security_manager(engine), schemes[index]);
  }
  WebKitSettings *settings = webkit_settings_new_with_settings(
      "enable-write-console-messages-to-stdout", TRUE, "enable-webgl", TRUE, "media-playback-requires-user-gesture", FALSE, NULL);
  WebKitWebsitePolicies *policies = webkit_website_policies_new_with_policies("autoplay", WEBKIT_AUTOPLAY_ALLOW, NULL);
  view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "web-context", engine, "settings", settings, "website-policies", policies, NULL);
  g_signal_connect(view, "load-changed", G_CALLBACK(load_changed), NULL);
  g_signal_connect(view, "load-failed", G_CALLBACK(load_failed), NULL);
  GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
  gtk_window_set_default_size(GTK_WINDOW(window), 900, 700);
  gtk_container_add(GTK_CONTAINER(window), GTK_WIDGET(view));
  gtk_widget_show_all(window);
  commands = g_data_input_stream_new(g_unix_input_stream_new(0, FALSE));
  next();
  gtk_main();
  return 0;
}
