"""Writes the seeds, fuzz/corpus/TARGET/*: small files of every kind that the readers take."""

import gzip
import io
import json
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

seed("openood", "classes", b"cifar10/test/a/0002.png 0\ncifar10/test/b/0001.png -1\r\n")
seed("openood", "numbers", b"tin/val/images/val_0.JPEG -1\ntin/val/images/val_2.JPEG 1")

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

pictures = corpus.parent.parent / "tests/data/fixtures/images"
for target, ending in {"png": "png", "jpeg": "jpg", "webp": "webp", "gif": "gif", "bmp": "bmp", "tiff": "tif*",
                       "heif": "[ah]*i[cf]", "orientation": "*"}.items():
    for picture in sorted(pictures.glob(("turned*." if target == "orientation" else "*.") + ending)):
        if picture.name != "long_texts.png":  # longer than what is tried
            seed(target, picture.stem, picture.read_bytes())


def png(height, width):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\0" + bytes(-(-width // 8))) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


small, webp = png(2, 3), (pictures / "lossy.webp").read_bytes()
seed("image_folder", "classes", archive({"set/a/1.png": small, "set/b/2.png": small, "set/b/x.txt": b"no"}, "zip"))
seed("image_folder", "lone", archive({"1.webp": webp}, "zip"))
drawing = png(105, 105)
seed("omniglot", "two", archive({f"images_background/Greek/character0{i}/1_01.png": drawing for i in (1, 2)}, "zip"))
cat, folder = "n02123045", "tiny-imagenet-200/"
seed("tiny_imagenet", "parts", archive({
    folder + "wnids.txt": cat.encode(), folder + "words.txt": f"{cat}\ttabby\n".encode(),
    folder + "val/val_annotations.txt": f"val_0.JPEG\t{cat}\t0\t0\t1\t1\n".encode(),
    folder + "val/images/val_0.JPEG": small, folder + f"train/{cat}/images/{cat}_0.JPEG": small,
    folder + "test/images/test_0.JPEG": small}, "zip"))


def lmdb(records, large, page=512):
    """An LMDB in small pages: `records` in two leaves below a branch, and the `large` value on pages of its own."""
    def database(flags=0, depth=0, root=2**64 - 1, entries=0, pad=0):
        return struct.pack("<IHHQQQQQ", pad, flags, depth, 0, 0, 0, entries, root)

    def meta(number, transaction, root):
        state = struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 1 << 20) + database(8, pad=page) + root
        return struct.pack("<QHHI", number, 0, 8, 0) + state + struct.pack("<QQ", last, transaction)

    def nodes(number, kind, entries):
        table, body = b"", b""
        for head, flags, key, value in entries:
            node = struct.pack("<IHH", head, flags, len(key)) + key + value
            body = node + bytes(len(node) % 2) + body
            table += struct.pack("<H", page - len(body))
        ends = struct.pack("<HH", 16 + len(table), page - len(body))
        return (struct.pack("<QHH", number, 0, kind) + ends + table).ljust(page - len(body), b"\0") + body

    count = (15 + len(large)) // page + 1
    last = 4 + count
    leaves = [nodes(3, 2, [(len(v), 0, k, v) for k, v in records]),
              nodes(4, 2, [(len(large), 1, b"z", struct.pack("<Q", 5))])]
    branch = nodes(2, 1, [(3, 0, b"", b""), (4, 0, b"z", b"")])
    overflow = struct.pack("<QHHI", 5, 0, 4, count) + large
    tree = database(depth=2, root=2, entries=len(records) + 1)
    return b"".join(part.ljust(-(-len(part) // page) * page, b"\0")
                    for part in (meta(0, 0, database()), meta(1, 1, tree), branch, *leaves, overflow))


seed("lsun", "tree", lmdb([(b"a", small), (b"b", webp)], drawing + bytes(600)))


def tensors(header, content):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


seed("tensor_file", "two", tensors({"__metadata__": {"step": "1"},
                                    "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                                    "b": {"dtype": "U8", "shape": [3, 1], "data_offsets": [8, 11]}}, bytes(11)))
seed("tensor_file", "none", tensors({}, b""))

seed("config", "network", b'[data]\ntrain = "./a b.csv,label=kind"\nshift = 2\nrotation = 1.5e1\nmean = [0.5, 0.4, 0.3]\ndeviation = [0.2, 0.2, 0.2]\n[model]\nname = "vgg6"\nblocks = [[8, 8], [16]]\n'
     b'dense = [64]\n[method]\nname = "dpn-reverse"\nalpha0 = 1e3\nmembers = 3\n')
seed("config", "training", b'[method]\nname = "outlier-exposure"\noutside_weight = 0.5\n[outside]\nsource = "mixture"\nscale_low = 0.01\n'
     b'squash = "clip"\nadded = 100\n[training]\nepochs = 3\nbatch = 32\noptimiser = "sgd"\nnesterov = true\nmomentum = 0.9\nrate = 0.1\n'
     b'schedule = "cosine"\nwarm_up = 0.15\nprecision = "bfloat16"\npatience = 4\nseed = 7\n')

# Descriptions of models beside the tensors that the target has: an ensemble for rows, and after a line break thresholds
# for another program's logits.
points = {"false_alarm": 0.05, "temperature": 1.5, "calibration_set": "rows:calibration", "calibration_size": 90,
          "watches": [{"cause": "unfamiliar", "measure": "differential_entropy"}, {"cause": "ambiguous", "measure": "entropy"}],
          "precedences": [0.01, 0]}
rows = {"name": "rows", "classes": ["no", "yes"], "members": 2, "dropout_samples": 0, "identity": "made up",
        "preprocessing": {"shape": [3], "resize": True, "standardise": True, "feature_names": ["a", "b", "c"]},
        "config": "[data]\ntrain = \"./rows.csv\"\n[model]\nname = \"mlp\"\ndense = [8]\nkeep_dense = 0.5\n[method]\nname = \"dpn\"\nmembers = 2\n",
        "provenance": {"seed": "1"}, "detectors": ["knn", "mahalanobis"], "points": points}
logits = {**rows, "name": "elsewhere", "members": 1, "config": "[data]\ntrain = \"val.npy\"\n[method]\nname = \"dnn\"\n",
          "preprocessing": {"shape": [5], "resize": True, "standardise": False, "feature_names": []},
          "own_logits": {"members": 1, "features": 3},
          "detectors": ["max_logit", "gen", "knn", "mahalanobis", "mahalanobis_relative", "vim"],
          "points": {**points, "watches": [{"cause": "unfamiliar", "measure": name} for name in ("energy", "knn")]}}
seed("model_file", "rows", json.dumps(rows).encode())
seed("model_file", "logits", b"\n" + json.dumps(logits).encode())

# Requests: the first byte says where the first piece ends.
get = b"GET /v2/models/a%20b/ready?x=1&y=%2F HTTP/1.1\r\nHost: a.example.org:8080\r\nAuthorization: Bearer secret\r\nAccept-Encoding: gzip;q=0.5, *\r\n\r\n"
form = b"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\n\r\npixels\r\n--b--\r\n"
seed("http", "get", b"\x04" + get)
for name, coding, sent in (("form", b"", form), ("gzip", b"Content-Encoding: gzip\r\n", gzip.compress(form, mtime=0))):
    seed("http", name, b"\xff" + b"POST /v1/predict HTTP/1.1\r\nHost: [::1]\r\nContent-Type: multipart/form-data; boundary=b\r\n" + coding
         + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
seed("http", "chunked", b"\x02" + b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\ndata\r\n0\r\nT: v\r\n\r\n")

# Bodies: a byte for the kind, one for the length of the header before binary data.
tensor = {"id": "1", "inputs": [{"name": "input", "shape": [2, 3], "datatype": "FP32", "data": [[1, 2, 3], [4, 5.5, -6e1]]}],
          "outputs": [{"name": "verdict"}, {"name": "probabilities", "parameters": {"classification": 1}}]}
seed("request_json", "tensor", b"\x02\x00" + json.dumps(tensor).encode())
binary = json.dumps({"inputs": [{"name": "input", "shape": [1, 1, 2, 2], "datatype": "UINT8", "parameters": {"binary_data_size": 4}}]}).encode()
seed("request_json", "binary", bytes([7, len(binary)]) + binary + bytes(4))
seed("request_json", "row", b"\x00\x00" + b'{"features": {"x": 1, "y": null, "z": "3.5"}}')
seed("request_json", "rows", b"\x00\x00" + b'{"rows": [{"features": [1, 2, 3]}, {"features": [true, -0.0, 1e9]}]}')
seed("request_json", "csv", b"\x04\x00" + b'x,y,z\n1,2,3\n"4",5,\n')
seed("request_json", "nested", b"\x01\x10" + b'{"a": [[[{"data": [1, [2, 3]]}]], "\\u00e9"], "data": []}')
