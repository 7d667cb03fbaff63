// runner: python
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { addonPath } from '../../../src/backends/native/addon.js';
import { skipOrFail } from '../../helpers/backends.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from './python_tensorflow.js';

const SCRIPT = fileURLToPath(new URL('./embedding_bag.py', import.meta.url));

interface Report {
  readonly lookups: Record<string, { readonly cases: number; readonly worst: number }>;
  readonly staticShapes: Record<string, (number | null)[]>;
  readonly errors: Record<string, { readonly type: string; readonly text: string }>;
  readonly activations: number[];
  readonly trained: number[];
}

describe('the op library in Python', () => {
  let python: Python | string;
  let report: Report;

  beforeAll(() => {
    python = existsSync(addonPath()) ? pythonWithTensorFlow() : 'the native addon is not built';
    if (typeof python === 'string') return;
    const lines = python.run(SCRIPT, addonPath()).trim().split('\n');
    report = JSON.parse(lines.at(-1)!) as Report;
  }, PYTHON_TIMEOUT_MS);

  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });

  it('equals tf.nn.safe_embedding_lookup_sparse, eager and inside tf.function', () => {
    expect(Object.keys(report.lookups).sort()).toEqual(['eager', 'function']);
    for (const { cases, worst } of Object.values(report.lookups)) {
      expect(cases).toBe(72);
      expect(worst).toBeLessThanOrEqual(2e-6); // in units of 1 + the sum of |weight x element|
    }
  });

  it('knows shapes before it runs', () => {
    expect(report.staticShapes).toEqual({
      pooled: [null, 5],
      pooledOfKnownBatch: [3, 5],
      uniqueIds: [null],
      rowGradients: [null, 5],
      weightsGradient: [7],
      readRows: [null, null],
      changedIds: [null],
      changedRows: [null, null],
      shares: [],
      filled: [null, null],
      serverNumbers: [7],
      instructionSet: [],
    });
  });

  it('refuses bad arguments', () => {
    const { id, idInFunction, rank, splits, weights, combiner, staticRank, staticWeights } = report.errors;
    expect(id!.type).toBe('OutOfRangeError');
    expect(id!.text).toContain('values[1] = 7 is not in [0, 4)');
    expect(idInFunction!.type).toBe('OutOfRangeError');
    for (const error of [rank, splits, weights, combiner]) expect(error!.type).toBe('InvalidArgumentError');
    expect(splits!.text).toContain('row_splits');
    expect(weights!.text).toContain('weights: expected one per value (2), received 1');
    expect(combiner!.text).toContain("received 'max'");
    for (const error of [staticRank, staticWeights]) expect(error!.type).toBe('ValueError');
  });

  it('refuses sizes whose products run over', () => {
    const { pooledSize, pooledBytes, pooledSizeInFunction, pooledSizeAtRunTime, rows, rowsInFunction } = report.errors;
    for (const error of [pooledSize, pooledBytes, pooledSizeAtRunTime, rows, rowsInFunction]) {
      expect(error?.type)
        .withContext(error?.text ?? 'no error')
        .toBe('InvalidArgumentError');
    }
    expect(pooledSizeInFunction?.type).toBe('ValueError'); // of the shape function
    for (const error of [pooledSize, pooledSizeInFunction, pooledSizeAtRunTime]) {
      expect(error!.text).toContain('received pooled rows of shape [524288, 35184372088832]');
    }
    for (const error of [rows, rowsInFunction]) {
      expect(error!.text).toContain('rows: expected at most 144115188075855871 rows of 16 columns');
    }
  });

  it('runs TPUEmbeddingActivations', () => {
    expect(report.activations).toEqual([1, 2, 3, 4]);
  });

  it('trains in place inside tf.function, once per call', () => {
    expect(report.trained).toEqual([1, 1, -2, 1]);
  });
});
