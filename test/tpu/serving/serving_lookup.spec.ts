import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeak } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { camelCase, inputOf, readGoldens, type GoldenError, type GoldenInput } from '../goldens.js';

const { tpu } = emb;

interface Case {
  readonly case: string;
  readonly combiner: emb.Combiner;
  readonly feature: Record<string, unknown>;
  readonly input: GoldenInput;
  readonly weights: GoldenInput | null;
  readonly output?: unknown;
  readonly output_shape?: number[];
  readonly error?: GoldenError;
}

const { cases } = readGoldens<{ cases: Case[] }>('serving_lookup');
const VALUES = Array.from({ length: 32 }, (_, i) => i);

function configOf({ combiner, feature }: Case): { table: emb.tpu.TableConfig; features: emb.tpu.FeatureConfig[] } {
  const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner });
  return { table, features: [new tpu.FeatureConfig({ table, ...camelCase(feature) })] };
}

/** What a case gives, or throws. */
function run(given: Case): tf.Tensor {
  const { table, features } = configOf(given);
  return tf.tidy(() => {
    const tables = new Map([[table, tf.tensor2d(VALUES, [8, 4])]]);
    const isRank3 = given.case === 'ragged_rank3';
    const ids = isRank3 ? emb.RaggedTensor.fromRows([[[1, 2], [3]]]) : inputOf(given.input);
    const weights = given.weights === null ? null : [inputOf(given.weights, true)];
    const [result] = tpu.servingEmbeddingLookup([ids], weights, tables, features) as [tf.Tensor];
    return result;
  });
}

function titleOf({ case: name, combiner, feature }: Case, i: number): string {
  return `golden ${i}: ${name} with ${combiner} ${JSON.stringify(feature)}`;
}

describeForBackends('servingEmbeddingLookup', () => {
  cases.forEach((given, i) => {
    if (given.error !== undefined) return;
    it(`equals TensorFlow's, ${titleOf(given, i)}`, () => {
      expectNoLeak(() => {
        const result = run(given);
        expect(result.shape).toEqual(given.output_shape!);
        expectClose(result.dataSync(), (given.output as number[][]).flat(3), 30);
        result.dispose();
      });
    });
  });
});

describe('servingEmbeddingLookup on the emulator', () => {
  it('equals TensorFlow in all golden cases', async () => {
    await withTpuEmulator({ chips: 2 }, () => {
      for (const given of cases) {
        if (given.error !== undefined) continue;
        const result = run(given);
        expectClose(result.dataSync(), (given.output as number[][]).flat(3), 30, given.case);
        result.dispose();
      }
    });
  });
});

describe('servingEmbeddingLookup refuses', () => {
  const errors = cases.filter(({ error }) => error !== undefined);
  for (const [i, given] of errors.entries()) {
    it(`what TensorFlow refuses, ${titleOf(given, i)}`, () => {
      const argument = given.case.includes('weight') ? 'weights[0]' : 'inputs[0]';
      expectNoLeak(() => expectError(() => run(given), given.error!.type as 'ValueError', argument));
    });
  }

  const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner: 'sum', name: 'movies' });
  const features = { seen: new tpu.FeatureConfig({ table }), more: [new tpu.FeatureConfig({ table })] };
  const values = new Float32Array(VALUES);
  const lookUp = (inputs: unknown, weights: unknown = null, config: unknown = features): unknown =>
    tf.tidy(() => {
      const tables = new Map([[table, tf.tensor2d(values, [8, 4])]]);
      const result = tpu.servingEmbeddingLookup(inputs, weights, tables, config as never);
      return (result as { seen: tf.Tensor }).seen.arraySync();
    });
  const ragged = emb.RaggedTensor.fromRows([[1], [2, 3]]);

  it('parts that the config does not have', () => {
    expectError(() => lookUp({ other: ragged }), 'ValueError', 'inputs.other', 'no feature');
    expectError(() => lookUp({ more: [ragged, ragged] }), 'ValueError', 'inputs.more');
    expectError(() => lookUp({ seen: ragged }, { more: [ragged] }), 'ValueError', 'weights.more[0]');
    expect(lookUp({ seen: ragged })).toEqual([
      [4, 5, 6, 7],
      [20, 22, 24, 26],
    ]);
  });

  it('sequences with weights, and rows that do not fit the output shape', () => {
    const sequence = { seen: new tpu.FeatureConfig({ table, maxSequenceLength: 2 }) };
    const weights = emb.RaggedTensor.fromRows([[0.5], [1, 1]]);
    expectError(
      () => lookUp({ seen: ragged }, { seen: weights }, sequence),
      'ValueError',
      'inputs.seen',
      'ragged weights',
    );
    for (const outputShape of [[3], [1]]) {
      const shaped = { seen: new tpu.FeatureConfig({ table, outputShape }) };
      expectError(() => lookUp({ seen: ragged }, null, shaped), 'ValueError', 'inputs.seen', '2 rows');
    }
  });

  it('ids outside the table, with their feature and place', () => {
    expectError(
      () => lookUp({ seen: emb.RaggedTensor.fromRows([[1], [2, 8]]) }),
      'ValueError',
      'inputs.seen',
      '8 at row 1',
    );
    const sequence = { seen: new tpu.FeatureConfig({ table, maxSequenceLength: 2 }) };
    const long = emb.RaggedTensor.fromRows([
      [1, 2, 3],
      [4, 9],
    ]);
    expectError(() => lookUp({ seen: long }, null, sequence), 'ValueError', 'inputs.seen', '9 at row 1, position 1');
  });

  it('tables that are missing or of another shape', () => {
    const call = (tables: unknown): unknown =>
      tpu.servingEmbeddingLookup({ seen: ragged }, null, tables as never, features);
    expectError(() => call(new Map()), 'ValueError', 'tables', 'none of it');
    expectError(() => call({}), 'TypeError', 'tables');
    const small = tf.zeros([2, 4]);
    expectError(() => call(new Map([[table, small]])), 'ValueError', 'tables');
    expectError(() => call(new Map([[table, 3]])), 'TypeError', 'tables');
    small.dispose();
  });
});

describe('servingEmbeddingLookup', () => {
  it('quantizes the rows of quantized tables as TensorFlow does', () => {
    interface Quantization {
      num_buckets: number;
      lower: number;
      upper: number;
      input: number[];
      output: number[];
    }
    const { quantization } = readGoldens<{ quantization: Quantization[] }>('optimizers');
    for (const { num_buckets: numBuckets, lower, upper, input, output } of quantization) {
      const quantizationConfig = new tpu.QuantizationConfig({ numBuckets, lower, upper });
      const table = new tpu.TableConfig({ vocabularySize: input.length, dim: 1, quantizationConfig });
      expectNoLeak(() => {
        const values = tf.tensor2d(input, [input.length, 1]);
        const ids = tf.range(0, input.length, 1, 'int32');
        const feature = new tpu.FeatureConfig({ table });
        const result = tpu.servingEmbeddingLookup(ids, null, new Map([[table, values]]), feature) as tf.Tensor;
        expectClose(result.dataSync(), output);
        tf.dispose([values, ids, result]);
      });
    }
  });

  it('trains tables that are variables, quantized ones too', () => {
    const quantizationConfig = new tpu.QuantizationConfig({ numBuckets: 3, lower: -1, upper: 1 });
    const table = new tpu.TableConfig({ vocabularySize: 3, dim: 1, combiner: 'sum', quantizationConfig });
    const feature = new tpu.FeatureConfig({ table });
    expectNoLeak(() => {
      const start = tf.tensor2d([[0.2], [0.7], [0]]);
      const variable = tf.variable(start);
      const ids = emb.RaggedTensor.fromRows([[0, 1, 1]]);
      const loss = (): tf.Scalar =>
        (tpu.servingEmbeddingLookup(ids, null, new Map([[table, variable]]), feature) as tf.Tensor).sum();
      const { value, grads } = tf.variableGrads(loss, [variable]);
      expect(value.dataSync()[0]).toBe(2);
      expect([...grads[variable.name]!.dataSync()]).toEqual([1, 2, 0]);
      tf.dispose([start, value, grads, variable]);
    });
  });
});
