# Reads a pack in Godot, and compares it with its source. In PACKER_TEST: pack, key file, other key file, source, a picture in it, and whether there is a screen.
extends SceneTree

var failures := 0


func expect(holds: bool, wrong: String) -> void:
	if not holds:
		failures += 1
		print("wrong: ", wrong)


func source(path: String) -> PoolByteArray:
	var file := File.new()
	expect(file.open(path, File.READ) == OK, "cannot open " + path)
	return file.get_buffer(file.get_len())


func text(path: String) -> String:
	return source(path).get_string_from_utf8().strip_edges()


func _init() -> void:
	var words: Array = parse_json(OS.get_environment("PACKER_TEST"))
	var path: String = words[0]
	var key := text(words[1])
	var tree: String = words[3]
	var picture: String = words[4]

	var pack = Pack.mount("game", path, key)
	expect(pack.error == "", "the pack cannot be opened: " + pack.message)
	var files: PoolStringArray = pack.list()
	var size := 0
	for file in files:
		var bytes: PoolByteArray = pack.read(file)
		expect(bytes == source(tree.plus_file(file)), file + " differs")
		size += bytes.size()

	var wanted := Image.new()
	expect(wanted.load_png_from_buffer(source(tree.plus_file(picture))) == OK, "the source is no picture")
	var image: Image = pack.image(picture)
	expect(image.get_size() == wanted.get_size(), "the picture is %s" % image.get_size())
	expect(image.get_data() == wanted.get_data(), "the picture has other pixels")
	# The loader itself: the headless server takes a dummy of its own for each picture before it asks others.
	var loader := PackLoader.new()
	var texture = loader.load("pack:/game/" + picture, "")
	expect(texture is ImageTexture and texture.get_size() == wanted.get_size(), "the loader returns %s" % texture)
	expect(not (loader.load("res://" + picture, "") is ImageTexture), "the loader takes what is no pack's")
	expect(loader.load("pack:/nothing/" + picture, "") is int, "a pack that is not mounted")
	expect(loader.load("pack:/game/nothing.png", "") is int, "a picture that is not there")
	if words[5] == "screen":
		texture = load("pack://game/" + picture)
		expect(texture is ImageTexture and texture.get_data().get_data() == wanted.get_data(), "load returns %s" % texture)

	expect(pack.image("nothing.png") == null and pack.error == "no-such-entry", "no picture is " + pack.error)
	expect(pack.image("index.html") == null and pack.error == "not-an-image", "a page is " + pack.error)
	expect(pack.read("assets").size() == 0 and pack.error != "", "a directory can be read")
	for refused in [[path, "", "no-key"], [path, "pkk1-nonsense", "malformed-key"], [path, text(words[2]), "wrong-key"], [path + ".none", key, "missing-input"],
			[path + ".short", key, "truncated"], [path + ".cut", key, "authentication-failed"]]:
		var other = Pack.mount("other", refused[0], refused[1])
		expect(other.error == refused[2] and other.message != "", "%s is %s: %s" % [refused[2], other.error, other.message])
		expect(not Pack.mounted.has("other"), "what failed is mounted")
		expect(other.list().size() == 0 and other.error == "usage", "a pack that is not open can be listed")

	# Closed when nothing holds it.
	var before := open_files()
	for _number in range(40):
		open_one(path, key)
	expect(open_files() == before, "%d packs stay open" % (open_files() - before))
	pack.close()
	pack.close()
	expect(pack.read(picture).size() == 0 and pack.error == "usage", "a closed pack is " + pack.error)
	Pack.unmount("game")
	print("%d files, %d bytes, %s of %s" % [files.size(), size, picture, wanted.get_size()])
	quit(1 if failures > 0 else 0)


func open_one(path: String, key: String) -> void:
	var pack = load("res://addons/packs/pack.gd").new()
	expect(pack.open(path, key) == OK, "a pack cannot be opened again")


func open_files() -> int:
	var count := 0
	var folder := Directory.new()
	folder.open("/proc/self/fd")
	folder.list_dir_begin(true)
	while folder.get_next() != "":
		count += 1
	return count
