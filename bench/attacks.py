"""Attacks a server that this script starts, and measures what a normal client gets meanwhile.

    python3 bench/attacks.py build/release/bin/priornet MODEL.priornet [--seconds 10] [ATTACK...]

MODEL takes images and is called made-up (or "JSON of 15 MB" attacks nothing). Attackers are at 127.0.0.1 and the normal client at 127.0.0.2, or with --same-address at 127.0.0.1 too.
The client opens a new connection per request: it posts a small PNG to /predict, then asks /v2/health/live. Per attack one
row: requests, refusals (anything but 200), p50 and p99 of /predict, the slowest health check, and the server's largest
memory. Attackers, client and server share the machine.
"""

import argparse
import contextlib
import gzip
import json
import math
import multiprocessing
import socket
import struct
import subprocess
import threading
import time
import zlib

ATTACKER = "127.0.0.1"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, colour=0, texts=0):
    """A grey (colour 0) or RGB (2) PNG of zeros, which compress a thousandfold, with so many texts of 7.9 MB."""
    row = b"\0" * (1 + width * (3 if colour == 2 else 1))
    deflate = zlib.compressobj(9)
    data = b"".join(deflate.compress(row) for _ in range(height)) + deflate.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    text = chunk(b"zTXt", b"text\0\0" + zlib.compress(bytes(7_900_000), 9)) * texts
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + text + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def tiff(tiles):
    """16384 x 1 grey pixels in so many tiles of 16 MB, all of them the same 16 kB of the file."""
    data = zlib.compress(bytes(1 << 24), 9)
    lists = 8 + len(data)
    tags = [(256, 3, 1, 16 * tiles), (257, 3, 1, 1), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (277, 3, 1, 1),
            (322, 3, 1, 16), (323, 4, 1, 1 << 20), (324, 4, tiles, lists), (325, 4, tiles, lists + 4 * tiles)]
    offsets, sizes = struct.pack("<I", 8) * tiles, struct.pack("<I", len(data)) * tiles
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return (b"II*\0" + struct.pack("<I", lists + 8 * tiles) + data + offsets + sizes + struct.pack("<H", len(tags)) + entries
            + bytes(4))


def connect(port, source, timeout=30.0):
    return socket.create_connection(("127.0.0.1", port), timeout=timeout, source_address=(source, 0))


def request(method, target, body=b"", length=None, coding=None):
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if coding:
        head += f"Content-Encoding: {coding}\r\n"
    return f"{head}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


def status_of(connection):
    answer = b""
    while True:
        piece = connection.recv(65536)
        if not piece:
            break
        answer += piece
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


def attack(port, threads, one):
    """Runs `one` again and again in this many threads, until the process is killed."""

    def run():
        while True:
            with contextlib.suppress(OSError):
                one(port)
            time.sleep(0.001)

    for _ in range(threads):
        threading.Thread(target=run, daemon=True).start()
    time.sleep(3600)


def posted(body, target="/predict", coding=None):
    def one(port):
        with connect(port, ATTACKER) as connection:
            connection.sendall(request("POST", target, body, coding=coding))
            status_of(connection)

    return one


def kept_open(first_bytes, drip=b""):
    """A connection that sends this and then nothing, or a little now and then, until it is closed."""

    def one(port):
        with connect(port, ATTACKER, 0.5) as connection:
            connection.sendall(first_bytes)
            while True:
                if drip:
                    connection.sendall(drip)
                try:
                    if not connection.recv(4096):
                        return
                except socket.timeout:
                    pass

    return one


def never_read(port):
    """Sends requests without end and reads no answer."""
    with connect(port, ATTACKER, 1.0) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        while True:
            connection.sendall(b"GET /page/main.js HTTP/1.1\r\nHost: localhost\r\n\r\n")


def many_rows(port):
    """Thirty-two images per request, again and again."""
    with connect(port, ATTACKER) as connection:
        connection.sendall(request("GET", "/v2/models/made-up"))
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    shape = [32] + json.loads(answer.partition(b"\r\n\r\n")[2])["inputs"][0]["shape"][1:]
    values = {"name": "input", "datatype": "UINT8", "shape": shape, "data": [0] * math.prod(shape)}
    wire = request("POST", "/v2/models/made-up/infer", json.dumps({"inputs": [values]}).encode())
    while True:
        with connect(port, ATTACKER) as connection:
            connection.sendall(wire)
            status_of(connection)


def numbers(count):
    return b'{"inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,1,1],"data":[' + b"1," * count + b"1]}]}"


# Name, threads, and what each does. The first does nothing; the others are compared with it.
ATTACKS = {
    "nothing": (0, None),
    "images of 16384 x 16384": (4, posted(png(16384, 16384))),
    "images of 50 megapixels": (8, posted(png(7071, 7071, 2))),
    "images of 2 megapixels": (16, posted(png(1600, 1250, 2))),
    "PNGs with 63 MB of texts": (16, posted(png(28, 28, texts=8))),
    "TIFFs of 16 GB of tiles": (4, posted(tiff(1024))),
    "16 MB in 16 kB of gzip": (16, posted(gzip.compress(bytes(16_000_000)), coding="gzip")),
    "32 images per request": (60, many_rows),
    "JSON of 15 MB": (8, posted(numbers(7_500_000), "/v2/models/made-up/infer")),
    "promised bodies of 16 MB": (64, kept_open(request("POST", "/predict", length=16 << 20))),
    "bodies of 15 of 16 MB": (32, kept_open(request("POST", "/predict", b"x" * (15 << 20), 16 << 20))),
    "256 idle connections": (256, kept_open(b"")),
    "512 slow headers": (512, kept_open(b"GET /v2 HTTP/1.1\r\nX: ", b"x")),
    "answers that nobody takes": (64, never_read),
}


def resident_bytes(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
    return 0


def ask(port, source, wire):
    start = time.perf_counter()
    try:
        with connect(port, source) as connection:
            connection.sendall(wire)
            status = status_of(connection)
    except OSError:
        status = 0
    return status, time.perf_counter() - start


def measure(process, port, name, options):
    threads, one = ATTACKS[name]
    attackers = multiprocessing.Process(target=attack, args=(port, threads, one)) if one else None
    if attackers:
        attackers.start()
        time.sleep(1.0)
    small = request("POST", "/predict", png(28, 28))
    health = request("GET", "/v2/health/live")
    source = ATTACKER if options.same_address else "127.0.0.2"
    times, health_times, refused, memory = [], [], 0, 0
    until = time.perf_counter() + options.seconds
    while time.perf_counter() < until:
        for wire, into in ((small, times), (health, health_times)):
            status, seconds = ask(port, source, wire)
            into.append(seconds)
            refused += status != 200
        memory = max(memory, resident_bytes(process))
        time.sleep(0.005)
    if attackers:
        attackers.kill()
        attackers.join()
    times.sort()
    health_times.sort()
    print(
        f"| {name} | {len(times) + len(health_times)} | {refused} | {1e3 * times[len(times) // 2]:.1f} ms"
        f" | {1e3 * times[int(0.99 * (len(times) - 1))]:.1f} ms | {1e3 * health_times[int(0.99 * (len(times) - 1))]:.1f} ms"
        f" | {1e3 * health_times[-1]:.1f} ms | {memory / 1e6:.0f} MB |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("model")
    parser.add_argument("attacks", nargs="*", help="some of: " + ", ".join(ATTACKS))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--same-address", action="store_true")
    options = parser.parse_intermixed_args()
    print("| while | asked | refused | median | p99 | health p99 | slowest health | memory |\n|---|---|---|---|---|---|---|---|")
    for name in options.attacks or ATTACKS:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with subprocess.Popen([options.tool, "serve", options.model, "--port", str(port)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:
            process.stdout.readline()
            try:
                measure(process, port, name, options)
            finally:
                process.kill()


if __name__ == "__main__":
    main()
