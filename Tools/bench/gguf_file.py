"""Writes GGUF files with the standard library alone, so that a bare machine can make those that a benchmark needs."""
import struct

ALIGNMENT = 32
TYPES = {"F32": 0, "Q4_0": 2, "Q8_0": 8, "Q4_K": 12, "BF16": 30}  # of tensors
FILE_TYPES = {"F32": 0, "Q4_0": 2, "Q8_0": 7, "Q4_K": 14, "BF16": 32}  # of most of a file's tensors
BLOCKS = {"F32": (1, 4), "BF16": (1, 2), "Q8_0": (32, 34), "Q4_0": (32, 18), "Q4_K": (256, 144)}  # columns, bytes
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # of values


def size_of(kind, shape):
    """Bytes of a tensor; the last dimension is contiguous."""
    count = 1
    for dimension in shape:
        count *= dimension
    columns, of_block = BLOCKS[kind]
    if shape[-1] % columns != 0:
        raise SystemExit(f"rows of {shape[-1]} columns cannot have {kind}, whose blocks have {columns}")
    return count // columns * of_block


def text(string):
    data = string.encode()
    return struct.pack("<Q", len(data)) + data


def value(item):
    """Type and bytes of a value; a list has elements of one type."""
    if isinstance(item, bool):
        return BOOL, struct.pack("<?", item)
    if isinstance(item, int):
        return UINT32, struct.pack("<I", item)
    if isinstance(item, float):
        return FLOAT32, struct.pack("<f", item)
    if isinstance(item, str):
        return STRING, text(item)
    if all(isinstance(element, int) for element in item):  # llama.cpp reads token types and rope sections as signed
        return ARRAY, struct.pack(f"<IQ{len(item)}i", INT32, len(item), *item)
    parts = [value(element) for element in item]
    return ARRAY, struct.pack("<IQ", parts[0][0], len(item)) + b"".join(part for _, part in parts)


class GGUFFile:
    """Keys and tensors are collected; close() writes them."""

    def __init__(self, path, architecture):
        self.path, self.keys, self.tensors = path, [], []
        self.architecture = architecture
        self.add("general.architecture", architecture)

    def add(self, key, item):
        """A key; one that begins with a point is the architecture's."""
        self.keys.append((self.architecture + key if key.startswith(".") else key, value(item)))

    def add_tensor(self, name, shape, kind, chunks):
        """`chunks` returns an iterable of the tensor's bytes, when they are written. Shapes are in the order of numpy."""
        self.tensors.append((name, tuple(shape), kind, chunks))

    def close(self):
        with open(self.path, "wb") as file:
            file.write(struct.pack("<4sIQQ", b"GGUF", 3, len(self.tensors), len(self.keys)))
            for key, (kind, data) in self.keys:
                file.write(text(key) + struct.pack("<I", kind) + data)
            offset = 0
            for name, shape, kind, _ in self.tensors:
                file.write(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), TYPES[kind], offset))
                offset += -(-size_of(kind, shape) // ALIGNMENT) * ALIGNMENT
            for name, shape, kind, chunks in self.tensors:
                file.write(bytes(-file.tell() % ALIGNMENT))
                start = file.tell()
                for chunk in chunks():
                    file.write(chunk)
                if file.tell() - start != size_of(kind, shape):
                    raise ValueError(f"{name}: {file.tell() - start} bytes instead of {size_of(kind, shape)}")
            file.write(bytes(-file.tell() % ALIGNMENT))
