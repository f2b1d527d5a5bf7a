"""The second implementation of the format, and the maker of its test vectors. Scripts/make-vectors.py runs it.

  format    reads and writes packs, deltas, manifests and catalogues. Written from FORMAT.md alone; imports none of the others
  cases     makes the files of Tests/Vectors from it, and checks them with it
  answers   recomputes the known answers of FORMAT.md with it

The paragraph signs in all modules refer to FORMAT.md.
"""
