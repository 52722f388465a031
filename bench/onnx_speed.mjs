// onnx_speed.mjs MODEL.onnx SECONDS THREADS: the inputs per second of an exported model in onnxruntime, with every output, at the
// batch sizes of `priornet bench --only prediction`: JSON, from the fastest call each. Needs onnxruntime-node beside it or in a folder
// above (inference_beside_onnx.py installs it).
import ort from 'onnxruntime-node';

const [file, seconds, threads] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const session = await ort.InferenceSession.create(file, {
  intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all', logSeverityLevel: 3,
});
const shape = process.argv.slice(5).map(Number); // of one input; three numbers for images
const found = {};
for (const batch of [1, 32, 256]) {
  const size = shape.reduce((a, b) => a * b, batch);
  const images = shape.length === 3;
  const values = images ? new Uint8Array(size) : new Float32Array(size);
  for (let i = 0; i < size; ++i) values[i] = images ? Math.floor(Math.random() * 256) : Math.random() * 4 - 2;
  const inputs = { [session.inputNames[0]]: new ort.Tensor(images ? 'uint8' : 'float32', values, [batch, ...shape]) };
  let best = Infinity, least = Infinity;
  const begin = performance.now();
  for (let call = 0; call < 7 || performance.now() - begin < 1000 * seconds; ++call) {
    const start = performance.now(), used = process.cpuUsage();
    await session.run(inputs);
    const spent = process.cpuUsage(used);
    if (call < 2) continue;
    best = Math.min(best, performance.now() - start);
    least = Math.min(least, (spent.user + spent.system) / 1000);
  }
  found[batch] = [(1000 * batch) / best, (1000 * batch) / least];
}
console.log(JSON.stringify(found));
