/** Calls with arguments by position, and misspelt names, wherever arguments are named. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { refusePositional } from '../../src/base/positional.js';
import { expectError } from '../helpers/errors.js';
import { useCpu } from '../layers/setup.js';

type Call = (...given: unknown[]) => unknown;

const layers = emb.layers as unknown as Record<string, Call>;
const classes = emb as unknown as Record<string, new (...given: unknown[]) => unknown>;
const preprocessing = emb.preprocessing as unknown as typeof classes;

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

/** What is called, with what, and how it is written. */
const CALLS: [() => unknown, string][] = [
  [() => layers['embedding']!(10, 4), 'emb.layers.embedding({inputDim: 10, outputDim: 4})'],
  [() => layers['embedding']!(10, 4, 'sum'), `emb.layers.embedding({inputDim: 10, outputDim: 4, combiner: 'sum'})`],
  [() => new classes['Embedding']!(10, 4), 'emb.layers.embedding({inputDim: 10, outputDim: 4})'],
  [() => layers['raggedEmbedding']!(10, 4), 'emb.layers.raggedEmbedding({inputDim: 10, outputDim: 4})'],
  [
    () => layers['concatOneHotEmbedding']!([3, 5], 4),
    'emb.layers.concatOneHotEmbedding({featureSizes: [3, 5], embeddingWidth: 4})',
  ],
  [
    () => layers['concatOneHotEmbedding']!([1, 2, 3, 4, 5], 4),
    'emb.layers.concatOneHotEmbedding({featureSizes, embeddingWidth: 4})',
  ],
  [() => layers['distributedEmbedding']!([{}]), 'emb.layers.distributedEmbedding({embeddings})'],
  [
    () => layers['distributedEmbedding']!([{}, {}], [0, 0, 1]),
    'emb.layers.distributedEmbedding({embeddings, inputTableMap: [0, 0, 1]})',
  ],
  [() => layers['integerLookup']!(100), 'emb.layers.integerLookup({maxTokens: 100})'],
  [
    () => layers['dotInteraction']!(true, false),
    'emb.layers.dotInteraction({selfInteraction: true, skipGather: false})',
  ],
  [() => layers['featureCross']!(64), 'emb.layers.featureCross({projectionDim: 64})'],
  [
    () => (emb.embeddingTable as Call)('films', 10, 4),
    `emb.embeddingTable({name: 'films', inputDim: 10, outputDim: 4})`,
  ],
  [() => (emb.embeddingTable as Call)(10, 4), 'emb.embeddingTable({inputDim: 10, outputDim: 4})'],
  [
    () => new classes['TableConfig']!('films', 10, 4),
    `new emb.TableConfig({name: 'films', vocabularySize: 10, embeddingDim: 4})`,
  ],
  [
    () => new classes['FeatureConfig']!('seen', {}, [null, 3], [null, 4]),
    `new emb.FeatureConfig({name: 'seen', table, inputShape: [null, 3], outputShape: [null, 4]})`,
  ],
  [
    () => new preprocessing['StringLookup']!(['a', 'b']),
    `new emb.preprocessing.StringLookup({vocabulary: ['a', 'b']})`,
  ],
  [
    () => new preprocessing['StringLookup']!(100, 2),
    'new emb.preprocessing.StringLookup({maxTokens: 100, numOovIndices: 2})',
  ],
  [() => new preprocessing['IntegerLookup']!([5, 6]), 'new emb.preprocessing.IntegerLookup({vocabulary: [5, 6]})'],
  [() => new preprocessing['Hashing']!(3), 'new emb.preprocessing.Hashing({numBins: 3})'],
  [() => new preprocessing['Discretization']!([0, 1]), 'new emb.preprocessing.Discretization({binBoundaries: [0, 1]})'],
  [() => new preprocessing['Discretization']!(4), 'new emb.preprocessing.Discretization({numBins: 4})'],
];

/** Options behind arguments that do go by position. */
const OPTIONS: [(table: tf.Tensor2D) => unknown, string][] = [
  [(table) => emb.embeddingLookup(table, [[1]], 'sum' as never), `emb.embeddingLookup(table, ids, {combiner: 'sum'})`],
  [
    (table) => emb.safeEmbeddingLookup(table, [[1]], 'mean' as never),
    `emb.safeEmbeddingLookup(table, ids, {combiner: 'mean', defaultId: 0})`,
  ],
  [() => emb.RaggedTensor.fromRows([[1]]).toPadded(-1 as never), 'ragged.toPadded({defaultValue: -1})'],
  [() => emb.RaggedTensor.fromPadded([[1]], -1 as never), 'RaggedTensor.fromPadded(padded, {padding: -1})'],
  [
    () => emb.RaggedTensor.fromRows([1] as never, [2] as never),
    `RaggedTensor.fromRows([[3, 1], [], [4]], {dtype: 'int32'})`,
  ],
  [
    () => emb.RaggedTensor.fromSparse([[0, 0]] as never, [1] as never),
    'RaggedTensor.fromSparse({indices, values, denseShape})',
  ],
];

/** Everything that takes named arguments, with a name that is misspelt. */
const MISSPELT: [(args: never) => unknown, string, string][] = [
  [emb.layers.embedding, 'inputDimm', 'inputDim'],
  [emb.layers.raggedEmbedding, 'combinr', 'combiner'],
  [emb.layers.concatOneHotEmbedding, 'featureSize', 'featureSizes'],
  [emb.layers.distributedEmbedding, 'embedings', 'embeddings'],
  [emb.layers.integerLookup, 'maxToken', 'maxTokens'],
  [emb.layers.dotInteraction, 'selfInteractions', 'selfInteraction'],
  [emb.layers.featureCross, 'projectionDims', 'projectionDim'],
  [emb.embeddingTable, 'outputDimm', 'outputDim'],
  [(args) => new emb.TableConfig(args), 'vocabularySizes', 'vocabularySize'],
  [(args) => new emb.FeatureConfig(args), 'inputShap', 'inputShape'],
  [(args) => new emb.preprocessing.StringLookup(args), 'vocabulry', 'vocabulary'],
  [(args) => new emb.preprocessing.IntegerLookup(args), 'numOovIndice', 'numOovIndices'],
  [(args) => new emb.preprocessing.Hashing(args), 'numBin', 'numBins'],
  [(args) => new emb.preprocessing.Discretization(args), 'binBoundary', 'binBoundaries'],
  [emb.preprocessing.StringLookup.fromConfig, 'vocabulry', 'vocabulary'],
  [emb.preprocessing.IntegerLookup.fromConfig, 'max_token', 'maxTokens'],
  [emb.preprocessing.Hashing.fromConfig, 'num_bin', 'numBins'],
  [emb.preprocessing.Discretization.fromConfig, 'epsilom', 'epsilon'],
];

describe('arguments by position', () => {
  beforeAll(useCpu);

  for (const [run, written] of CALLS) {
    it(`are told as ${written}`, () => {
      const before = tf.memory().numTensors;
      expectError(run, 'TypeError', 'args');
      expect(messageOf(run)).toContain(`Write ${written}.`);
      expect(tf.memory().numTensors).toBe(before);
    });
  }

  for (const [run, written] of OPTIONS) {
    it(`in place of options are told as ${written}`, () => {
      const table = tf.ones([3, 2]) as tf.Tensor2D;
      expectError(() => run(table), 'TypeError', 'options');
      expect(messageOf(() => run(table))).toContain(`Write ${written}.`);
      table.dispose();
    });
  }

  it('are left alone where an object comes first, whatever follows it', () => {
    expect(refusePositional('f', ['a'], [{ a: 1 }, 0, []])).toBeUndefined();
    const made = [{ maxTokens: 3 }, { maxTokens: 5 }].map(emb.layers.integerLookup);
    expect(made.map(({ maxTokens }) => maxTokens)).toEqual([3, 5]);
  });

  it('of RaggedTensor lead to its factories', () => {
    expect(messageOf(() => new classes['RaggedTensor']!([3, 1], [0, 2]))).toContain('RaggedTensor.fromRowSplits(');
    expectError(() => new classes['RaggedTensor']!([3, 1], [0, 2]), 'TypeError', 'RaggedTensor');
    const pair = { values: [3, 1], rowSplits: [0, 2] };
    const fromRowSplits = emb.RaggedTensor.fromRowSplits as unknown as Call;
    expect(messageOf(() => fromRowSplits.call(emb.RaggedTensor, pair))).toContain(
      'Write RaggedTensor.fromRowSplits(values, rowSplits).',
    );
  });
});

describe('misspelt names', () => {
  for (const [call, given, meant] of MISSPELT) {
    it(`are told: ${given} of ${call.name === '' ? 'a class' : call.name} for ${meant}`, () => {
      const run = (): unknown => call({ [given]: 1 } as never);
      expectError(run, 'ValueError', given);
      expect(messageOf(run)).toContain(`Did you mean ${meant}?`);
    });
  }

  it('in configs of layers are warned of, with what was probably meant', () => {
    const warn = spyOn(console, 'warn');
    const config = { input_dim: 4, output_dim: 2, combinr: 'sum' };
    emb.Embedding.fromConfig(emb.Embedding as never, config as never);
    emb.DotInteraction.fromConfig(emb.DotInteraction as never, { self_interactoin: true } as never);
    emb.DotInteraction.fromConfig(emb.DotInteraction as never, { shuffled: true } as never);
    const said = warn.calls.allArgs().map(([text]) => String(text));
    expect(said.length).toBe(3);
    expect(said[0]).toContain('the key combinr in the config of an embedding layer is not known');
    expect(said[0]).toContain('Did you mean combiner?');
    expect(said[1]).toContain('Did you mean selfInteraction?');
    expect(said[2]).not.toContain('Did you mean');
  });
});
