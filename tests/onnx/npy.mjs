// Arrays of .npy files, as priornet writes them: little-endian, C order.
import { readFileSync } from 'node:fs';

const kinds = { '<f4': Float32Array, '<f8': Float64Array, '|u1': Uint8Array, '<i8': BigInt64Array };

export function readNpy(path) {
  const bytes = readFileSync(path);
  const length = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + length);
  const kind = kinds[/'descr': *'([^']+)'/.exec(header)[1]];
  const shape = /'shape': *\(([^)]*)\)/.exec(header)[1].split(',').filter((size) => size.trim()).map(Number);
  const data = bytes.subarray(10 + length);
  // A copy begins where its elements may.
  return { shape, data: new kind(new Uint8Array(data).buffer) };
}
