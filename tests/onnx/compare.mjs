// compare.mjs FOLDER: runs every exported model below FOLDER (of tests/deploy/export_samples) in onnxruntime and compares its
// answers with those of the library. Exit status 1 if they differ.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ort from 'onnxruntime-node';
import { readNpy } from './npy.mjs';

const batch = 999; // so that the last batch is smaller
const tolerance = 1e-5;
// What counts as 0 when differences are relative: logits are sums of numbers of that size.
const nothing = (output) => (output === 'logits' ? 1 : 1e-9);

// Detectors magnify small differences, and their scores have no natural 0: rounding in the network may change a score by a
// thousandth of the spread of the scores.
function spreadOf(values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length);
}
function leastOf(output, expected, about) {
  return about.detectors.includes(output) ? 100 * spreadOf(expected[output]) : nothing(output);
}

async function answersOf(session, about, inputs) {
  const [count, ...shape] = inputs.shape;
  const size = shape.reduce((a, b) => a * b, 1);
  const type = inputs.data instanceof Uint8Array ? 'uint8' : 'float32';
  const answers = {};
  for (let first = 0; first < count; first += batch) {
    const end = Math.min(first + batch, count);
    const rows = inputs.data.slice(first * size, end * size);
    const results = await session.run({ [about.input]: new ort.Tensor(type, rows, [end - first, ...shape]) });
    for (const [name, tensor] of Object.entries(results)) (answers[name] ??= []).push(...Array.from(tensor.data, Number));
  }
  return answers;
}

function worstOf(found, wanted, least) {
  if (found.length !== wanted.length) return Infinity;
  let worst = 0;
  for (let i = 0; i < found.length; ++i) {
    const difference = Math.abs(found[i] - wanted[i]) / Math.max(Math.abs(wanted[i]), least);
    if (!(difference <= worst)) worst = Number.isNaN(difference) ? Infinity : difference;
  }
  return worst;
}

// A p-value is a rank among calibration inputs. Those inputs themselves lie at the edge of a rank, and rounding may move them
// across it; of all other inputs only few may move.
function pValuesOf(answers, expected, about) {
  const differences = Array.from(expected.p_value, (wanted, i) => Math.abs(answers.p_value?.[i] - wanted));
  const others = differences.slice(about.calibration_rows);
  return {
    moved: others.filter((difference) => !(difference <= 1e-9)).length,
    others: others.length,
    worst: differences.reduce((a, b) => (b <= a ? a : Number.isNaN(b) ? Infinity : b), 0),
  };
}

// Counts the rows whose verdict differs: those with no measure at its threshold, and those with one. A threshold that
// no number reaches is null.
function verdictsOf(answers, expected, about) {
  let wrong = 0, near = 0;
  expected.verdict.forEach((verdict, i) => {
    if (answers.verdict[i] === verdict) return;
    const atThreshold = ([measure, threshold]) =>
      threshold !== null &&
      Math.abs(expected[measure][i] - threshold) <= tolerance * Math.max(Math.abs(threshold), leastOf(measure, expected, about));
    if (Object.entries(about.thresholds).some(atThreshold)) ++near;
    else ++wrong;
  });
  return { wrong, near };
}

// For a model with dropout: each run must drop other values, and the measures must be alike on average.
function differencesOfRandom(answers, again, expected) {
  const differences = [];
  if (answers.logits.every((value, i) => value === again.logits[i])) differences.push('two runs drop the same values');
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  for (const output of ['entropy', 'differential_entropy', 'mutual_information']) {
    const [found, wanted] = [mean(answers[output]), mean(expected[output])];
    if (!(Math.abs(found - wanted) <= 0.1 * Math.abs(wanted))) differences.push(`mean ${output} is ${found}, wanted ${wanted}`);
  }
  return differences;
}

const mostMoved = 0.05; // how far a p-value may move
let failures = 0, cases = 0, calibrated = 0;
const folder = process.argv[2];
for (const name of readdirSync(folder).sort()) {
  if (!existsSync(join(folder, name, 'case.json'))) continue;
  const about = JSON.parse(readFileSync(join(folder, name, 'case.json')));
  const expected = {};
  for (const file of readdirSync(join(folder, name, 'expected')))
    expected[file.replace('.npy', '')] = readNpy(join(folder, name, 'expected', file)).data;
  const inputs = readNpy(join(folder, name, 'inputs.npy'));
  ++cases;
  if (inputs.shape[0] === 0 || Object.values(expected).some((values) => values.length === 0)) {
    console.error(`${name}: nothing to compare`);
    ++failures;
    continue;
  }
  const session = await ort.InferenceSession.create(join(folder, name, 'model.onnx'), { logSeverityLevel: 3 });
  const answers = await answersOf(session, about, inputs);
  let line = `${name}: ${inputs.shape[0]} inputs`;
  if (about.random) {
    const differences = differencesOfRandom(answers, await answersOf(session, about, inputs), expected);
    for (const difference of differences) console.error(`${name}: ${difference}`);
    failures += differences.length;
    console.log(`${line}, dropout at work`);
    continue;
  }
  for (const [output, wanted] of Object.entries(expected)) {
    if (output === 'verdict' || output === 'p_value' || output === 'prediction') continue;
    const worst = answers[output] ? worstOf(answers[output], wanted, leastOf(output, expected, about)) : Infinity;
    line += `, ${output} ${worst.toExponential(1)}`;
    if (worst > tolerance) {
      console.error(`${name}: ${output} differs by ${worst}, allowed ${tolerance}`);
      ++failures;
    }
  }
  const mistaken = expected.prediction.filter((value, i) => value !== answers.prediction[i]).length;
  if (mistaken > 0) {
    console.error(`${name}: ${mistaken} predictions differ`);
    ++failures;
  }
  if (expected.verdict) {
    const { wrong, near } = verdictsOf(answers, expected, about);
    line += `, verdicts ${wrong} differ (and ${near} at the threshold)`;
    if (wrong > 0) ++failures;
    const { moved, others, worst } = pValuesOf(answers, expected, about);
    line += `, p-values ${moved} of ${others} moved, by ${worst.toFixed(3)} at most`;
    ++calibrated;
    if (!(worst <= mostMoved) || moved > (about.detectors.length > 0 ? 0.1 : 0.01) * others || others === 0) {
      console.error(`${name}: ${moved} p-values of ${others} differ, by up to ${worst}; allowed are 1 % (with detectors 10 %) and ${mostMoved}`);
      ++failures;
    }
  }
  console.log(line);
}
if (cases === 0 || calibrated === 0) {
  console.error(`${folder}: ${cases} models to compare, ${calibrated} of them with p-values; at least one is wanted`);
  ++failures;
}
if (failures > 0) process.exit(1);
