# An encrypted pack, whose files a game reads without unpacking it.
class_name Pack
extends Reference

# What 'mount' opened, by name. A constant is one dictionary for all: GDScript 3 has no static variables.
const mounted := {}

# The stable identifier of why the last call failed, such as "wrong-key", the message for people, and what can be done; empty if it did not fail.
var error := ""
var message := ""
var advice := ""

var _native := GDNative.new()
var _handle := 0


# Opens a pack and gives it a name: load("pack://game/title.png") then returns a texture. Returns the pack; its 'error' is empty if it is open.
static func mount(name: String, path: String, key: String):
	var pack = load("res://addons/packs/pack.gd").new()
	if pack.open(path, key) == OK:
		mounted[name] = pack
	return pack


static func unmount(name: String) -> void:
	mounted.erase(name)


func _init() -> void:
	_native.library = preload("res://addons/packs/packs.gdnlib")
	_native.initialize()


# Closes the pack when nothing holds it any more. An object that is deleted cannot call its own functions.
func _notification(what: int) -> void:
	if what == NOTIFICATION_PREDELETE:
		if _handle != 0:
			_native.call_native("standard_varcall", "packs_close", [_handle])
		_native.terminate()


# Opens a pack: a path of the system or of Godot (user://game.pack), and its key (pkk1-…).
func open(path: String, key: String) -> int:
	close()
	var handle: int = _call("packs_open", [ProjectSettings.globalize_path(path), key])
	if handle > 0:
		_handle = handle
	return _result(handle > 0)


func close() -> void:
	if _handle != 0:
		_call("packs_close", [_handle])
		_handle = 0


# Returns the paths of all files.
func list() -> PoolStringArray:
	var lines = _call("packs_list", [_handle])
	if _result(lines != null) != OK:
		return PoolStringArray()
	return (lines as String).split("\n", false)


# Returns a whole file. Empty, with an 'error', if it cannot be read.
func read(path: String) -> PoolByteArray:
	var bytes = _call("packs_read", [_handle, path])
	return bytes if _result(bytes != null) == OK else PoolByteArray()


# Returns a PNG, JPEG or WebP file as an image, or null.
func image(path: String) -> Image:
	var bytes := read(path)
	if error != "":
		return null
	var made := Image.new()
	var status := ERR_FILE_UNRECOGNIZED
	match path.get_extension().to_lower():
		"png":
			status = made.load_png_from_buffer(bytes)
		"jpg", "jpeg":
			status = made.load_jpg_from_buffer(bytes)
		"webp":
			status = made.load_webp_from_buffer(bytes)
	if status != OK:
		error = "not-an-image"
		message = "%s cannot be read as an image" % path
		return null
	return made


# Returns a file as a texture, or null.
func texture(path: String, flags := Texture.FLAGS_DEFAULT) -> ImageTexture:
	var pixels := image(path)
	if pixels == null:
		return null
	var made := ImageTexture.new()
	made.create_from_image(pixels, flags)
	return made


func _call(name: String, arguments: Array):
	return _native.call_native("standard_varcall", name, arguments)


func _result(is_done: bool) -> int:
	error = "" if is_done else _call("packs_error", [0])
	message = "" if is_done else _call("packs_error", [1])
	advice = "" if is_done else _call("packs_error", [2])
	if not is_done and error == "":
		error = "failed"
	return OK if is_done else FAILED
