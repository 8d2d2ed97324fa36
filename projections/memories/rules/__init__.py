"""The rules of all memories, one module a family. Importing it declares them."""
