/**
 * The main job: trains a wide-and-deep model on rows of text, scores it on test rows, saves it, and shows that a second
 * process which loads it predicts the same to the bit. `npm start -- --help` lists the options.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as emb from 'tfjs-embeddings/node';
import { startBackend } from './backend.js';
import type { TextTable } from './csv.js';
import { readDatasets } from './datasets.js';
import { Encoder } from './encoder.js';
import { InputError } from './input_error.js';
import { labelsOf } from './labels.js';
import type { ModelMetadata } from './metadata.js';
import { scoresOf, type Scores } from './metrics.js';
import { buildModel } from './model.js';
import { HELP, readOptions, type BackendName, type Options } from './options.js';
import { progressBar } from './progress_bar.js';
import { predictElsewhere, sameBits } from './second_process.js';
import { predict, train, type Labelled, type Trained } from './training.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(options: Options): Promise<void> {
  // Data first: what is wrong with it is said before anything slow starts.
  const { fit, heldOut, test, label, bestAuc } = readDatasets(options);
  const encoder = Encoder.learn(fit, label.name, options.separator);
  const labelled = (table: TextTable): Labelled => ({ rows: encoder.encode(table), labels: labelsOf(table, label) });
  const [fitRows, heldOutRows, testRows] = [labelled(fit), labelled(heldOut), labelled(test)];
  say(`${fit.rows.length} rows to train on, ${heldOut.rows.length} to choose the epoch, ${test.rows.length} to score`);
  say(describeColumns(encoder));

  const info = await startBackend(options.backend);
  say(describeBackend(info));

  const model = buildModel(encoder.schema(), options.seed);
  const bar = progressBar(options.epochs);
  const trained = await train(model, fitRows, heldOutRows, options, bar).finally(() => bar.stop());
  say(describeTraining(trained, options.epochs));

  const probabilities = predict(model, testRows.rows);
  const scores = scoresOf(testRows.labels, probabilities);
  say(`probability of ${label.name} = ${label.positive}:`);
  say(describeScores(scores, bestAuc));

  const metadata: ModelMetadata = { features: encoder.getConfig(), label };
  model.setUserDefinedMetadata({ ...metadata });
  const reloadedEqual = await saveAndReload(options.save, async (folder) => {
    await model.save(`file://${folder}`);
    return sameBits(probabilities, predictElsewhere(folder, info.backend as BackendName, test));
  });
  say(`a second process loaded the model: ${reloadedEqual ? 'the same predictions to the bit' : 'OTHER predictions'}`);
  if (options.json) say(JSON.stringify(report(info, scores, trained, { reloadedEqual, bestAuc, options })));
  if (!reloadedEqual) process.exitCode = 1;
}

/** Runs `check` on the folder of the model; a temporary one is removed afterwards. */
async function saveAndReload(save: string | null, check: (folder: string) => Promise<boolean>): Promise<boolean> {
  if (save !== null) {
    mkdirSync(save, { recursive: true });
    const isEqual = await check(save);
    say(`saved to ${save}`);
    return isEqual;
  }
  const folder = mkdtempSync(join(tmpdir(), 'wide-and-deep-'));
  try {
    return await check(folder);
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

function report(
  info: emb.BackendInfo,
  scores: Scores,
  trained: Trained,
  { reloadedEqual, bestAuc, options }: { reloadedEqual: boolean; bestAuc: number | null; options: Options },
): object {
  return {
    backend: info.backend,
    kernels: info.kernels,
    testError: scores.error,
    logLoss: scores.logLoss,
    auc: scores.auc,
    ...(bestAuc === null ? {} : { bestAuc }),
    reloadedEqual,
    stepsPerSecond: trained.stepsPerSecond,
    epochs: options.epochs,
    bestEpoch: trained.bestEpoch,
    heldOutLogLoss: trained.heldOutLoss,
    seed: options.seed,
  };
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(HELP);
  else await run(options);
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
}
