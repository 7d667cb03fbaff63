import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { camelCase, readGoldens, type GoldenError } from '../goldens.js';
import { fixture, onCores, ragged, ROWS } from './fixture.js';

const { tpu } = emb;

interface ShapeRule {
  readonly case: string;
  readonly kind: 'dense' | 'sparse' | 'ragged';
  readonly input_shape: (number | null)[];
  readonly feature: Record<string, unknown>;
  readonly final_output_shape?: number[];
  readonly activation_shape?: number[];
  readonly error?: GoldenError;
}
interface BuildRule {
  readonly case?: string;
  readonly build_with_batch_size?: number;
  readonly feature?: Record<string, unknown>;
  readonly final?: number[][];
  readonly error?: GoldenError;
}

const goldens = readGoldens<{ shape_rules: ShapeRule[]; build_rules: BuildRule[] }>('activations_and_shapes');

function embeddingOf(feature: Record<string, unknown> = {}): emb.tpu.TPUEmbedding<[emb.tpu.FeatureConfig]> {
  const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 't' });
  const featureConfig: [emb.tpu.FeatureConfig] = [new tpu.FeatureConfig({ table, ...camelCase(feature) })];
  return new tpu.TPUEmbedding({ featureConfig, optimizer: new tpu.SGD({ learningRate: 0.1 }) });
}

function inputOf({ kind, input_shape: shape }: ShapeRule): unknown {
  const [rows] = shape as [number];
  if (kind === 'ragged') {
    if (shape.length === 2) return ragged([[1], [2, 3], [], []].slice(0, rows));
    return emb.RaggedTensor.fromRows([[[1], [2]], [[3]]]);
  }
  if (kind === 'dense') return tf.zeros(shape as number[], 'int32');
  return { indices: [shape.map(() => 0)], values: [1], denseShape: shape };
}

describe('TPUEmbedding, output shapes', () => {
  for (const rule of goldens.shape_rules) {
    it(`are those of TensorFlow: ${rule.kind} [${rule.input_shape.join(', ')}], ${rule.case}`, async () => {
      await onCores(2, () => {
        const embedding = embeddingOf(rule.feature);
        const input = inputOf(rule);
        if (rule.error === undefined) {
          embedding.enqueue([input]);
          expect(embedding.outputShapes).toEqual([rule.final_output_shape!]);
          const [activations] = embedding.dequeue();
          expect(activations.shape).toEqual(rule.activation_shape!);
          activations.dispose();
        } else {
          const isSparse1 = rule.case === 'sparse rank 1';
          const argument = isSparse1 ? 'features[0].denseShape' : 'features[0]';
          expectError(() => embedding.enqueue([input]), rule.error.type, argument);
        }
        if (input instanceof tf.Tensor) input.dispose();
        embedding.dispose();
      });
    });
  }

  for (const rule of goldens.build_rules.filter((each) => each.build_with_batch_size !== undefined)) {
    it(`follow from a batch size as in TensorFlow: ${JSON.stringify(rule.feature)}`, async () => {
      await onCores(2, () => {
        for (const args of [[rule.build_with_batch_size], [null, rule.build_with_batch_size]]) {
          const embedding = embeddingOf(rule.feature);
          embedding.build(...(args as [number]));
          expect(embedding.outputShapes).toEqual(rule.final as never);
          embedding.dispose();
        }
      });
    });
  }

  it('that are not known, or have no axes, are refused by build as in TensorFlow', async () => {
    await onCores(2, () => {
      const embedding = embeddingOf();
      expectError(() => embedding.build(), 'ValueError', 'features[0]', 'an unknown shape');
      expectError(() => embedding.build([[1, null, null]]), 'ValueError', 'features[0]', '[1, null]');
      expectError(() => embedding.build([[]]), 'ValueError', 'perReplicaInputShapes[0]', 'rank 0');
      expectError(
        () =>
          embedding.build([
            [4, 1],
            [4, 1],
          ]),
        'ValueError',
        'perReplicaInputShapes',
      );
      expectError(() => embedding.build([3]), 'TypeError', 'perReplicaInputShapes[0]');
      expectError(() => embedding.build(0), 'ValueError', 'perReplicaInputShapes');
      expectError(() => embedding.outputShapes, 'RuntimeError', 'outputShapes');
      embedding.build([[4, null]]);
      expect(embedding.outputShapes).toEqual([[4]]);
      embedding.dispose();
      const vector = embeddingOf();
      vector.build([[5]]);
      expect(vector.outputShapes).toEqual([[5]]);
      vector.dispose();
    });
  });

  it('of FeatureConfig go before those of build, and those before what is enqueued', async () => {
    await onCores(2, () => {
      const partial = embeddingOf({ output_shape: [4, null] });
      partial.build([[null, 3, 7]]);
      expect(partial.outputShapes).toEqual([[4, 3]]);
      partial.dispose();
      const set = embeddingOf({ output_shape: [4] });
      expectError(() => set.build([[5, 7]]), 'ValueError', 'features[0]', '[5]');
      set.build([[4, 7]]);
      expectError(() => set.enqueue([ragged([[1], [2]])]), 'ValueError', 'features[0]', '[2]');
      set.dispose();
    });
  });

  it('of sequences take input shapes from before and after the sequence axis', async () => {
    await onCores(1, () => {
      for (const shape of [
        [2, 7],
        [2, 3, 7],
      ]) {
        const embedding = embeddingOf({ max_sequence_length: 3 });
        embedding.build([shape]);
        expect(embedding.outputShapes).toEqual([[2, 3]]);
        embedding.enqueue([ragged([[1], [2, 3, 4, 5]])]);
        const [activations] = embedding.dequeue();
        expect(activations.shape).toEqual([2, 3, 4]);
        activations.dispose();
        embedding.dispose();
      }
    });
  });

  it('are not fixed by a batch that is refused', async () => {
    await onCores(2, () => {
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 't' });
      const featureConfig: [emb.tpu.FeatureConfig, emb.tpu.FeatureConfig] = [
        new tpu.FeatureConfig({ table }),
        new tpu.FeatureConfig({ table, outputShape: [2, 2] }),
      ];
      const embedding = new tpu.TPUEmbedding({ featureConfig, optimizer: new tpu.SGD() });
      const two = ragged([[1], [2], [3], [4]]);
      const wrong = ragged([[1], [2], [3]]);
      expectError(
        () => embedding.enqueue([ragged([[1], [2], [3]]), wrong], null, { training: false }),
        'ValueError',
        'features[1]',
        '3 rows',
      );
      embedding.enqueue([ragged([[1], [2]]), two], null, { training: false });
      const found = embedding.dequeue() as tf.Tensor[];
      expect(found.map(({ shape }) => shape)).toEqual([
        [2, 4],
        [2, 2, 4],
      ]);
      tf.dispose(found);
      embedding.dispose();
    });
  });

  it('are checked again on every enqueue', async () => {
    await onCores(2, () => {
      const embedding = new tpu.TPUEmbedding({ featureConfig: fixture().features, optimizer: new tpu.SGD() });
      embedding.enqueue(ROWS.map(ragged), null, { training: false });
      const shorter = ROWS.map((rows, i) => ragged(i === 1 ? rows.slice(1) : rows));
      expectError(() => embedding.enqueue(shorter), 'ValueError', 'features[1]', '[3]');
      tf.dispose(embedding.dequeue());
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue', 'no batch');
      embedding.dispose();
    });
  });

  it('of ragged ids may have any number of elements that their rows fill or divide', async () => {
    await onCores(2, () => {
      const rows = [[1], [2, 3], [], [4]];
      const shapes: [shape: number[], values: number[]][] = [
        [
          [2, 2],
          [1, 2.5, 0, 4],
        ],
        [
          [2, 4],
          [1, 0, 2, 3, 0, 0, 4, 0],
        ],
      ];
      for (const [output_shape, values] of shapes) {
        const initializer = new tpu.RowIdInitializer();
        const combiner = output_shape[1] === 2 ? 'mean' : 'sum';
        const table = new tpu.TableConfig({ vocabularySize: 8, dim: 1, combiner, initializer });
        const featureConfig = new tpu.FeatureConfig({ table, outputShape: output_shape });
        const embedding = new tpu.TPUEmbedding({ featureConfig, optimizer: new tpu.SGD() });
        // Weights have no effect where rows are spread, and none on means of one weight.
        embedding.enqueue(ragged(rows), ragged(rows.map((ids) => ids.map(() => 0.5))), {
          training: false,
        });
        const found = embedding.dequeue();
        expect(found.shape).toEqual([...output_shape, 1]);
        expect([...found.dataSync()]).toEqual(values);
        found.dispose();
        expectError(() => embedding.enqueue(ragged(rows.slice(1))), 'ValueError', 'features', '3 rows');
        embedding.dispose();
      }
    });
  });
});
