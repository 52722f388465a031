"""Writes the seeds, fuzz/corpus/TARGET/*: small files of every kind a reader takes."""

import gzip
import io
import pathlib
import struct
import tarfile
import zipfile
import zlib

corpus = pathlib.Path(__file__).parent / "corpus"


def seed(target, name, content):
    (corpus / target).mkdir(parents=True, exist_ok=True)
    (corpus / target / name).write_bytes(content)


def idx(*sizes):
    count = 1
    for size in sizes:
        count *= size
    return bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + bytes(i % 3 for i in range(count))


def npy(dtype, shape, content):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + content


def archive(files, kind):
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in files.items():
                file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    else:
        with tarfile.open(fileobj=out, mode="w:" + kind, format=tarfile.USTAR_FORMAT) as file:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                file.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def element(kind, content, small=False):
    tag = struct.pack("<HH", kind, len(content)) if small else struct.pack("<II", kind, len(content))
    return tag + content + bytes(-len(tag + content) % 8)


def matrix(name, shape, kind, stored, content):
    return element(14, element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack(f"<{len(shape)}i", *shape))
                   + element(1, name, True) + element(stored, content))


def compressed(content):
    packed = zlib.compress(content)
    return struct.pack("<II", 15, len(packed)) + packed


images, labels = idx(2, 2, 3), idx(2)
seed("idx", "labels", labels)
seed("idx", "rank4", idx(1, 2, 1, 2))
seed("idx", "set", bytes([len(labels)]) + images + labels)

seed("cifar", "two", bytes(1 + 2 * 3073))
seed("cifar", "coarse", b"\1" + 2 * (b"\7\2" + bytes(3072)))

header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
x, y = matrix(b"X", (32, 32, 3, 1), 9, 2, bytes(3072)), matrix(b"y", (1, 1), 6, 9, struct.pack("<d", 10))
seed("svhn", "compressed", header + compressed(x) + compressed(y))
seed("svhn", "plain_labels", header + y)
seed("svhn", "kinds", header + matrix(b"y", (2, 1), 9, 2, b"\1\12") + matrix(b"t", (1, 2), 4, 4, b"ab")
     + matrix(b"f", (2,), 7, 7, bytes(8)) + matrix(b"s", (2, 1), 10, 3, bytes(4)))

line = b"0.0000 1.0000 " * 128 + b"0 0 1 0 0 0 0 0 0 0 \r\n"
seed("semeion", "line", line)
seed("semeion", "short", line.replace(b".0000", b"") * 2)

seed("table", "text", b'x,y,"z"\n1,a,2\n3,"b ""c""",4e-3\n')
seed("table", "numbers", b"\xef\xbb\xbfx,y\r\n1.5,10\r\n-2,9\r\n\r\n")

seed("npy", "float64", npy("<f8", "(2, 3)", bytes(48)))
seed("npy", "uint8", npy("|u1", "(2, 1, 2, 2)", bytes(8)))
seed("npy", "scalar", npy("<i4", "()", bytes(4)))

arrays = {"images.npy": npy("|u1", "(2, 2, 2)", bytes(8)), "labels.npy": npy("<i8", "(2,)", struct.pack("<qq", 1, 0))}
seed("array_set", "images", archive(arrays, "zip"))
seed("array_set", "numbers", archive({"inputs.npy": npy("<f4", "(2, 3)", bytes(24))}, "zip"))
seed("array_set", "lone", npy("<f4", "(2, 3)", bytes(24)))

text = b"some text, some text, and more of it" * 3
seed("gzip", "one", b"\2" + gzip.compress(text, mtime=0))
seed("gzip", "two", b"\100" + gzip.compress(text, mtime=0) * 2)
seed("gzip", "zlib", b"\2" + zlib.compress(text))

files = {"a/one.txt": b"some text", "two": bytes(600)}
for kind in ("zip", "gz", "bz2", "xz"):
    seed("archive", kind, archive(files, kind))
