# Shows a picture of a pack: game.pack beside the project, with its key in the variable PACKER_KEY.
extends TextureRect


func _ready() -> void:
	var pack = Pack.mount("game", "res://game.pack", OS.get_environment("PACKER_KEY"))
	if pack.error != "":
		push_error("%s %s" % [pack.message, pack.advice])
		return
	texture = load("pack://game/assets/title.png")
	print("title.png is %d x %d" % [texture.get_width(), texture.get_height()])


func _exit_tree() -> void:
	texture = null
	Pack.unmount("game")
