# Lets load("pack://NAME/PATH") return a texture of a pack that Pack.mount opened. Godot finds this class by its name.
class_name PackLoader
extends ResourceFormatLoader


func get_recognized_extensions() -> PoolStringArray:
	return PoolStringArray(["png", "jpg", "jpeg", "webp"])


func handles_type(type: String) -> bool:
	return type == "Texture" or type == "ImageTexture"


func get_resource_type(path: String) -> String:
	return "ImageTexture" if _parts(path).size() == 2 else ""


func load(path: String, _original: String):
	var parts := _parts(path)
	# Another loader has it.
	if parts.size() != 2:
		return ERR_FILE_UNRECOGNIZED
	var pack = Pack.mounted.get(parts[0])
	if pack == null:
		push_error("no pack is mounted as '%s'" % parts[0])
		return ERR_FILE_NOT_FOUND
	var texture = pack.texture(parts[1])
	if texture == null:
		push_error(pack.message)
		return ERR_FILE_CORRUPT
	return texture


# The name of the pack and the path in it. Godot makes one slash of two.
func _parts(path: String) -> PoolStringArray:
	if not path.begins_with("pack:/"):
		return PoolStringArray()
	return path.substr(6).lstrip("/").split("/", false, 1)
