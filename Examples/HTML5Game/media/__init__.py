"""The parts of make-media.py: painting, synthesis and WebAssembly assembly."""
