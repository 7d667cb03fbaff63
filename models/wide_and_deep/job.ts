/**
 * The main job: trains a wide-and-deep model on rows of text, scores it on test rows, saves it, and shows that a second
 * process which loads it predicts the same to the bit; on request exports it, and shows that TensorFlow agrees.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as emb from 'tfjs-embeddings/node';
import { startBackend } from './backend.js';
import type { TextTable } from './data/csv.js';
import { readDatasets } from './data/datasets.js';
import { reportDevices, type DeviceReport } from './device_report.js';
import { Encoder, hotnessOf } from './data/encoder.js';
import { InputError, isSystemError } from './input_error.mjs';
import { labelsOf } from './data/labels.js';
import { LearningRate } from './learning_rate.js';
import type { ModelMetadata } from './metadata.js';
import { scoresOf, type Scores } from './metrics.js';
import { buildModel, planOf, tablesByRows } from './model.js';
import type { BackendName, Options } from './options.mjs';
import { progressBar } from './progress_bar.js';
import { proveExport, type ExportProof } from './export_proof.js';
import { proveReload, type ReloadProof } from './reload_proof.js';
import { predict, stepsIn, train, type Labelled, type Trained } from './training.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function runJob(options: Options): Promise<void> {
  // Data first: what is wrong with it is said before anything slow starts.
  const { fit, heldOut, test, label, bestAuc } = readDatasets(options);
  const encoder = Encoder.learn(fit, label.name, options.separator);
  const labelled = (table: TextTable): Labelled => ({ rows: encoder.encode(table), labels: labelsOf(table, label) });
  const [fitRows, heldOutRows, testRows] = [labelled(fit), labelled(heldOut), labelled(test)];
  say(`${fit.rows.length} rows to train on, ${heldOut.rows.length} to choose the epoch, ${test.rows.length} to score`);
  say(describeColumns(encoder));

  const { onDevices, placement } = options;
  const info = await startBackend(options.backend, onDevices);
  say(describeBackend(info));

  const learningRate = new LearningRate(options.batch, options.epochs * stepsIn(fitRows, options.batch));
  const model = buildModel(encoder.schema(), { ...options, learningRate, hotness: hotnessOf(fitRows.rows) });
  const plan = planOf(model);
  if (plan === null) say('tables: rows dealt out one by one to all devices');
  else if (onDevices !== null) say(`plan: ${String(plan)}`);
  const bar = progressBar(options.epochs);
  const trained = await train(model, fitRows, heldOutRows, { ...options, learningRate }, bar).finally(() => bar.stop());
  say(describeTraining(trained, options.epochs));
  const devices = onDevices === null ? null : reportDevices(plan, onDevices, placement);
  devices?.lines.forEach(say);
  trained.dispose();

  const probabilities = predict(model, testRows.rows);
  const scores = scoresOf(testRows.labels, probabilities);
  say(`probability of ${label.name} = ${label.positive}:`);
  say(describeScores(scores, bestAuc));

  const metadata: ModelMetadata = { features: encoder.getConfig(), label };
  model.setUserDefinedMetadata({ ...metadata });
  const reloaded = await inFolder(options.save, async (folder) => {
    await model.save(`file://${folder}`);
    const backend = info.backend as BackendName;
    return proveReload(folder, backend, onDevices, { rows: test, probabilities, tablesByRows: tablesByRows(model) });
  });
  reloaded.lines.forEach(say);
  const exported =
    options.export === null ? null : await proveExport(model, options.export, testRows.rows, probabilities);
  exported?.lines.forEach(say);
  if (options.json)
    say(
      JSON.stringify(report(info, scores, trained, { probabilities, reloaded, exported, devices, bestAuc, options })),
    );
  if (!reloaded.isWhole || exported?.isWhole === false) process.exitCode = 1;
  if (devices !== null && devices.failure !== null) throw new InputError(devices.failure);
}

/** Runs `work` on the folder of the model; a temporary one is removed afterwards. */
async function inFolder<T>(save: string | null, work: (folder: string) => Promise<T>): Promise<T> {
  if (save !== null) {
    mkdirSync(save, { recursive: true });
    const result = await work(save);
    say(`saved to ${save}`);
    return result;
  }
  const folder = mkdtempSync(join(tmpdir(), 'wide-and-deep-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function describeColumns(encoder: Encoder): string {
  const columns = new Map<string, string>();
  for (const { column, kind } of encoder.features) columns.set(column, `${column} (${kind})`);
  return `columns: ${[...columns.values()].join(', ')}`;
}

function describeBackend(info: emb.BackendInfo): string {
  const kernels = Object.values(info.kernels).map((kernel) => `${kernel.implementation} ${kernel.instructionSet}`);
  return `backend ${info.backend}, embedding kernels: ${[...new Set(kernels)].join(', ')}`;
}

function describeTraining({ bestEpoch, heldOutLoss, stepsPerSecond }: Trained, epochs: number): string {
  const speed = `${stepsPerSecond.toFixed(1)} steps/s`;
  return `epoch ${bestEpoch} of ${epochs} was best: held-out log loss ${heldOutLoss.toFixed(4)}; ${speed}`;
}

function describeScores({ error, logLoss, auc }: Scores, bestAuc: number | null): string {
  const best = bestAuc === null ? '' : ` (best possible ${bestAuc.toFixed(4)})`;
  return `test error ${error.toFixed(4)}, log loss ${logLoss.toFixed(4)}, AUC ${auc.toFixed(4)}${best}`;
}

interface Results {
  readonly probabilities: Float32Array;
  readonly reloaded: ReloadProof;
  readonly exported: ExportProof | null;
  readonly devices: DeviceReport | null;
  readonly bestAuc: number | null;
  readonly options: Options;
}

function report(
  info: emb.BackendInfo,
  scores: Scores,
  trained: Trained,
  { probabilities, reloaded, exported, devices, bestAuc, options }: Results,
): object {
  return {
    backend: info.backend,
    api: options.api,
    kernels: info.kernels,
    testError: scores.error,
    logLoss: scores.logLoss,
    auc: scores.auc,
    ...(bestAuc === null ? {} : { bestAuc }),
    predictionsSha256: createHash('sha256').update(new Uint8Array(probabilities.buffer)).digest('hex'),
    reloadedEqual: reloaded.isEqual,
    ...(exported === null ? {} : { exportedEqual: exported.exportedEqual }),
    stepsPerSecond: trained.stepsPerSecond,
    epochs: options.epochs,
    bestEpoch: trained.bestEpoch,
    heldOutLogLoss: trained.heldOutLoss,
    seed: options.seed,
    ...(devices === null ? {} : { ...devices.data, reloadedOn: reloaded.devices }),
  };
}

/** What is worth no stack: wrong files, full disks, and devices that are too small. */
function isMistake(error: unknown, { onDevices }: Options): error is Error {
  if (error instanceof InputError || isSystemError(error)) return true;
  return error instanceof emb.ValueError && typeof onDevices?.deviceMemory === 'number';
}

/** Does the job; a mistake of the user's is said in one line, with exit code 1. */
export async function run(options: Options): Promise<void> {
  try {
    await runJob(options);
  } catch (error) {
    if (!isMistake(error, options)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  }
}
