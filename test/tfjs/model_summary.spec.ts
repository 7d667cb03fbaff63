/** What `model.summary()` shows of layers of this package. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { leakFree, useCpu } from '../layers/setup.js';

function linesOf(model: tf.LayersModel, ...size: [number?, number[]?]): string[] {
  const lines: string[] = [];
  model.summary(size[0], size[1], (line: string) => lines.push(line));
  return lines;
}

function outputsOf(layer: tf.layers.Layer, ids: tf.SymbolicTensor): tf.SymbolicTensor[] {
  const isMany = layer instanceof emb.DistributedEmbedding;
  return [layer.apply(isMany ? [ids] : ids) as tf.SymbolicTensor | tf.SymbolicTensor[]].flat();
}

/** The line of each layer, and the line before all of them. */
const layersIn = (lines: readonly string[]): string[] => lines.filter((line) => /\(\w+\)|\(\w+>/.test(line)).slice(1);

describe('model.summary()', () => {
  beforeAll(useCpu);

  const LAYERS: [string, () => tf.layers.Layer, number[]][] = [
    ['Embedding', () => emb.layers.embedding({ inputDim: 9, outputDim: 4, combiner: 'sum', name: 'a' }), [3]],
    [
      'RaggedEmbedding',
      () => emb.layers.raggedEmbedding({ inputDim: 9, outputDim: 4, combiner: 'sum', name: 'a' }),
      [3],
    ],
    [
      'DistributedEmbedding',
      () =>
        emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 9, outputDim: 4, combiner: 'sum' }], name: 'a' }),
      [3],
    ],
    [
      'ConcatOneHotEmbedding',
      () => emb.layers.concatOneHotEmbedding({ featureSizes: [3, 4], embeddingWidth: 4, name: 'a' }),
      [2],
    ],
    ['IntegerLookup', () => emb.layers.integerLookup({ maxTokens: 9, name: 'a' }), [3]],
  ];
  for (const [kind, make, shape] of LAYERS) {
    it(
      `shows the kind of a layer: ${kind}`,
      leakFree(() => {
        const ids = tf.input({ shape, dtype: 'int32' });
        const model = tf.model({ inputs: ids, outputs: outputsOf(make(), ids) });
        expect(layersIn(linesOf(model)).at(-1)).toMatch(new RegExp(`^a \\(${kind}\\) +\\[`));
        expect(linesOf(model).join()).not.toContain('TfjsEmbeddings');
        model.dispose();
      }),
    );
  }

  it(
    'shows names whole, however long, and all columns in line',
    leakFree(() => {
      const name = 'categories_of_the_items_that_were_seen_last';
      const layers = [
        emb.layers.embedding({ inputDim: 9, outputDim: 4, combiner: 'sum', inputShape: [3], name }),
        tf.layers.dense({ units: 1, name: 'top' }),
      ];
      const lines = linesOf(tf.sequential({ layers }));
      const [first, second] = layersIn(lines);
      expect(first).toMatch(new RegExp(`^${name} \\(Embedding\\) \\[\\[null,3\\]\\] +\\[null,4\\] +36 *$`));
      expect(second!.indexOf('[[null,4]]')).toBe(first!.indexOf('[[null,3]]'));
      expect(lines[1]!.indexOf('Input Shape')).toBe(first!.indexOf('[[null,3]]'));
      expect(new Set(lines.filter((line) => /^[_=]+$/.test(line)).map(({ length }) => length)).size).toBe(1);
      layers.forEach((layer) => layer.dispose());
    }),
  );

  it(
    'keeps the size of a table that is asked for, and that of tfjs where it is enough',
    leakFree(() => {
      const layer = emb.layers.distributedEmbedding({
        embeddings: [{ inputDim: 9, outputDim: 4, combiner: 'sum' }],
        name: 'a_name_of_some_length',
      });
      const ids = tf.input({ shape: [2], dtype: 'int32' });
      const other = tf.input({ shape: [1] });
      const [pooled] = outputsOf(layer, ids);
      const model = tf.model({
        inputs: [ids, other],
        outputs: tf.layers.concatenate().apply([pooled!, other]) as tf.SymbolicTensor,
      });
      expect(linesOf(model)[0]!.length).toBe(115 + 'a_name_of_some_length (DistributedEmbedding) '.length - 27);
      expect(linesOf(model, 60)[0]!.length).toBe(60);
      expect(linesOf(model, 60).join()).toContain('a_name_of_som ');
      expect(linesOf(model, 80, [50, 60, 70, 75, 80]).join()).toContain(
        'a_name_of_some_length (DistributedEmbedding) ',
      );
      model.dispose();
      const short = emb.layers.embedding({ inputDim: 9, outputDim: 4, combiner: 'sum', inputShape: [3], name: 'ids' });
      const small = tf.sequential({ layers: [short] });
      expect(linesOf(small)[0]!.length).toBe(90);
      small.dispose();
    }),
  );

  it(
    'leaves the names alone under which classes are saved, also after it failed',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 9, outputDim: 4, combiner: 'sum', inputShape: [3], name: 'ids' });
      const model = tf.sequential({ layers: [layer] });
      const saved = JSON.stringify(model.toJSON(null, false));
      expect(saved).toContain('TfjsEmbeddings>Embedding');
      linesOf(model);
      const fails = (): void => {
        throw new Error('full');
      };
      expect(() => model.summary(undefined, undefined, fails)).toThrowError('full');
      expect(JSON.stringify(model.toJSON(null, false))).toBe(saved);
      expect(layer.getClassName()).toBe('TfjsEmbeddings>Embedding');
      expect(Object.keys(layer)).not.toContain('getClassName');
      model.dispose();
    }),
  );

  it(
    'shows stock models as tfjs does',
    leakFree(() => {
      const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2], name: 'a'.repeat(60) })] });
      expect(linesOf(model)[0]!.length).toBe(90);
      expect(layersIn([...linesOf(model)])).toEqual([]);
      model.dispose();
    }),
  );
});
