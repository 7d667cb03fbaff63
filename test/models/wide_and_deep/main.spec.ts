/** The wide-and-deep example as a process: results, reloading, options and errors. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { aucOf, errorOf, logLossOf } from '../../../models/metrics.js';
import { readTable } from '../../../models/wide_and_deep/data.js';
import { Encoder } from '../../../models/wide_and_deep/features.js';
import type { ModelMetadata } from '../../../models/wide_and_deep/reload.js';
import { predict } from '../../../models/wide_and_deep/training.js';
import { BACKEND_CHOICES, skipOrFail } from '../../helpers/backends.js';
import { learnableCsv, runMain, scratchFolder } from './program.js';

interface Report {
  backend: string;
  kernels: Record<string, emb.BackendInfo['kernels'][string]>;
  testError: number;
  logLoss: number;
  auc: number;
  reloadedEqual: boolean;
  stepsPerSecond: number;
  epochs: number;
  bestAuc?: number;
}

function reportOf(stdout: string): Report {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Report;
}

describe('npm start', () => {
  const folder = scratchFolder();
  const data = folder.write('data.csv', learnableCsv(600));
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 120_000)); // each spec starts processes
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());

  for (const { backend, implementation } of BACKEND_CHOICES.filter(({ name }) => !/^cpu (wasm|reference)/.test(name))) {
    it(`learns, reloads the same bits and says what ran on ${backend}`, async () => {
      const args = ['--data', data, '--backend', backend, '--epochs', '20', '--batch', '32', '--json'];
      const { code, stdout, stderr } = await runMain(...args);
      if (code !== 0 && stderr.includes(`the backend ${backend} is not there`)) return skipOrFail(stderr);
      expect(code).withContext(stderr).toBe(0);
      const report = reportOf(stdout);
      expect(report.backend).toBe(backend);
      const implementations = new Set(Object.values(report.kernels).map((kernel) => kernel.implementation as string));
      expect([...implementations]).toEqual([implementation]);
      expect(report.testError).toBeLessThan(0.1);
      expect(report.auc).toBeGreaterThan(0.95);
      expect(report.logLoss).toBeLessThan(0.35);
      expect(report.reloadedEqual).toBeTrue();
      expect(report.stepsPerSecond).toBeGreaterThan(0);
      expect(report.epochs).toBe(20);
      expect(stderr).toContain('epoch 20/20');
    });
  }

  it('saves a model that knows how to read rows of text', async () => {
    const model = join(folder.path, 'model');
    const test = folder.write('test.csv', learnableCsv(90));
    const { code, stdout, stderr } = await runMain(
      ...['--data', data, '--test', test, '--backend', 'cpu', '--epochs', '3', '--save', model, '--json'],
    );
    expect(code).withContext(stderr).toBe(0);
    expect(readdirSync(model).sort()).toEqual(['model.json', jasmine.stringMatching(/^weights-[0-9a-f]{16}\.bin$/)]);
    expect(JSON.parse(readFileSync(join(model, 'model.json'), 'utf8'))).toEqual(
      jasmine.objectContaining({ format: 'layers-model' }),
    );
    await tf.setBackend('cpu');
    const before = tf.memory().numTensors;
    const loaded = await tf.loadLayersModel(`file://${model}/model.json`);
    const { features, label } = loaded.getUserDefinedMetadata() as unknown as ModelMetadata;
    expect(label).toEqual({ name: 'verdict', positive: 'good', negative: 'bad' });
    const table = await readTable(test, '|');
    const probabilities = predict(loaded, new Encoder(loaded.pipeline!, features).encode(table));
    const labels = table.rows.map((row) => (row[3] === 'good' ? 1 : 0));
    const { testError, logLoss, auc } = reportOf(stdout);
    expect([testError, logLoss, auc]).toEqual([
      errorOf(labels, probabilities),
      logLossOf(labels, probabilities),
      aucOf(labels, probabilities),
    ]);
    loaded.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('gives the same results for the same seed, whichever label is positive', async () => {
    const args = ['--data', data, '--backend', 'cpu', '--epochs', '2', '--json', '--seed', '0'];
    const [first, second, flipped] = await Promise.all([
      runMain(...args),
      runMain(...args),
      runMain(...args, '--positive', 'bad', '--label', 'verdict'),
    ]);
    const [a, b, c] = [first, second, flipped].map(({ stdout }) => reportOf(stdout));
    expect({ ...a!, stepsPerSecond: 0 }).toEqual({ ...b!, stepsPerSecond: 0 });
    expect(flipped.stdout).toContain('verdict = bad');
    expect(c!.auc).not.toBe(a!.auc);
  });

  it('makes a click log of its own and prints the best possible AUC beside the one it reached', async () => {
    const { code, stdout, stderr } = await runMain('--backend', 'wasm', '--epochs', '2', '--json');
    if (code !== 0 && stderr.includes('the backend wasm is not there')) return skipOrFail(stderr);
    expect(code).withContext(stderr).toBe(0);
    expect(stdout).toContain('tags (ragged)');
    const { auc, bestAuc } = reportOf(stdout);
    expect(stdout).toContain(`AUC ${auc.toFixed(4)} (best possible ${bestAuc!.toFixed(4)})`);
    expect(auc).toBeGreaterThan(bestAuc! - 0.06); // two epochs
    expect(auc).toBeLessThan(bestAuc! + 0.01); // the test labels are one draw
  });

  it('lists its options', async () => {
    const { code, stdout } = await runMain('--help');
    expect(code).toBe(0);
    for (const option of 'data test label positive backend epochs batch seed save json help'.split(' ')) {
      expect(stdout).toContain(`--${option} `);
    }
  });

  const mistakes: [string, number, () => string[], RegExp][] = [
    ['a missing file', 2, () => ['--data', join(folder.path, 'none.csv')], /none\.csv": there is no such file/],
    ['an unknown option', 2, () => ['--dat', data], /Unknown option '--dat'/],
    ['a file with a mistake', 1, () => ['--data', folder.write('empty.csv', '')], /empty\.csv, which is empty/],
    [
      'a label value that training did not have',
      1,
      () => ['--data', data, '--test', folder.write('new.csv', 'size,colour,tags,verdict\n1,red,,fine\n')],
      /row 1 must be "bad" or "good", but is "fine"/,
    ],
  ];
  for (const [what, exitCode, args, text] of mistakes) {
    it(`names ${what} in one line`, async () => {
      const { code, stdout, stderr } = await runMain(...args());
      expect(code).toBe(exitCode);
      expect(stdout).toBe('');
      expect(stderr).toMatch(text);
      expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^error: /);
      expect(stderr).not.toContain('    at ');
    });
  }
});
