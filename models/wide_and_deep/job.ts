/**
 * The wide-and-deep example: trains a model on rows of text, scores it on test rows, saves it, and shows that a second
 * process which loads it predicts the same to the bit; on request exports it, and shows that TensorFlow agrees.
 */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as emb from 'tfjs-embeddings/node';
import { endServers, startBackend } from '../backend.js';
import { reportDevices } from '../device_report.js';
import { proveExport } from '../export_proof.js';
import { InputError } from '../input_error.mjs';
import { scoresOf } from '../metrics.js';
import { inFolder } from '../other_process.js';
import { proveReload } from '../reload_proof.js';
import { labelsOf, readDatasets, type TextTable } from './data.js';
import { Encoder, hotnessOf } from './features.js';
import { buildModel, planOf, tablesByRows } from './model.js';
import type { Options } from './options.mjs';
import type { ModelMetadata, ReloadRequest } from './reload.js';
import { LearningRate, predict, train, type Labelled } from './training.js';

const RELOAD = fileURLToPath(new URL('./reload.ts', import.meta.url));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function runJob(options: Options): Promise<void> {
  // Data first: what is wrong with it is said before anything slow starts.
  const { fit, heldOut, test, label, bestAuc } = await readDatasets(options);
  const encoder = Encoder.learn(fit, label.name, options.separator);
  const labelled = (table: TextTable): Labelled => ({ rows: encoder.encode(table), labels: labelsOf(table, label) });
  const [fitRows, heldOutRows, testRows] = [labelled(fit), labelled(heldOut), labelled(test)];
  say(`${fit.rows.length} rows to train on, ${heldOut.rows.length} to choose the epoch, ${test.rows.length} to score`);
  const columns = new Set(encoder.features.map(({ column, kind }) => `${column} (${kind})`));
  say(`columns: ${[...columns].join(', ')}`);

  const { epochs, onDevices } = options;
  const info = await startBackend(options.backend, onDevices);
  const kernels = Object.values(info.kernels).map((kernel) => `${kernel.implementation} ${kernel.instructionSet}`);
  say(`backend ${info.backend}, embedding kernels: ${[...new Set(kernels)].join(', ')}`);

  const learningRate = new LearningRate(options.batch, epochs * Math.ceil(fit.rows.length / options.batch));
  const model = buildModel(encoder.inputs, { ...options, learningRate, hotness: hotnessOf(fitRows.rows) });
  const plan = planOf(model);
  if (plan === null) say('tables: rows dealt out one by one to all devices');
  else if (onDevices !== null) say(`plan: ${String(plan)}`);

  const trained = await train(model, fitRows, heldOutRows, { ...options, learningRate });
  const { bestEpoch, heldOutLogLoss, stepsPerSecond } = trained;
  const speed = `${stepsPerSecond.toFixed(1)} steps/s`;
  say(`epoch ${bestEpoch} of ${epochs} was best: held-out log loss ${heldOutLogLoss.toFixed(4)}; ${speed}`);
  const devices = onDevices === null ? null : reportDevices(onDevices.report);
  devices?.lines.forEach(say);
  trained.optimizer.dispose();

  const probabilities = predict(model, testRows.rows);
  const { error: testError, logLoss, auc } = scoresOf(testRows.labels, probabilities);
  say(`probability of ${label.name} = ${label.positive}:`);
  const best = bestAuc === null ? '' : ` (best possible ${bestAuc.toFixed(4)})`;
  say(`test error ${testError.toFixed(4)}, log loss ${logLoss.toFixed(4)}, AUC ${auc.toFixed(4)}${best}`);

  model.setUserDefinedMetadata({ features: encoder.features, label } satisfies ModelMetadata);
  model.pipeline = encoder.pipeline;
  const reloaded = await inFolder(options.save, async (folder) => {
    await model.save(`file://${folder}`);
    const request: ReloadRequest = { folder, backend: info.backend, rows: test };
    const trained = { machine: onDevices, predictions: probabilities, tablesByRows: tablesByRows(model) };
    return proveReload(RELOAD, request, trained);
  });
  if (options.save !== null) say(`saved to ${options.save}`);
  reloaded.lines.forEach(say);

  const exportTo = async (directory: string) => {
    const start = performance.now();
    await emb.savedModel.export(model, directory, { overwrite: true });
    say(`exported to ${directory} in ${((performance.now() - start) / 1000).toFixed(2)} s`);
    return proveExport(model, directory, { inputs: testRows.rows.inputs, predictions: probabilities });
  };
  const exported = options.export === null ? null : await exportTo(options.export);
  exported?.lines.forEach(say);

  const result = {
    backend: info.backend,
    api: options.api,
    kernels: info.kernels,
    testError,
    logLoss,
    auc,
    ...(bestAuc !== null && { bestAuc }),
    predictionsSha256: createHash('sha256').update(new Uint8Array(probabilities.buffer)).digest('hex'),
    reloadedEqual: reloaded.isEqual,
    ...(exported !== null && { exportedEqual: exported.exportedEqual }),
    stepsPerSecond,
    epochs,
    bestEpoch,
    heldOutLogLoss,
    seed: options.seed,
    ...(devices !== null && {
      devices: onDevices!.devices,
      strategy: plan && options.placement.strategy,
      plan: plan && plan.toJSON(),
      counters: devices.counters,
      reloadedOn: reloaded.devices,
    }),
  };
  if (options.json) say(JSON.stringify(result));
  if (!reloaded.isWhole || exported?.isWhole === false) process.exitCode = 1;
  if (devices !== null && devices.failure !== null) throw new InputError(devices.failure);
}

/** Does the job. Devices that are too small for the tables are a mistake like a wrong file. */
export function run(options: Options): Promise<void> {
  return runJob(options)
    .catch((error: unknown) => {
      const isMemoryGiven = typeof options.onDevices?.deviceMemory === 'number';
      throw isMemoryGiven && error instanceof emb.ValueError ? new InputError(error.message) : error;
    })
    .finally(endServers);
}
