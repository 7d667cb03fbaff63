/** What a DistributedEmbedding says of itself, and of the shapes of its inputs. */
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { leakFree, useCpu } from '../setup.js';

type Args = ConstructorParameters<typeof emb.DistributedEmbedding>[0];

const make = (names: readonly (string | undefined)[], args: object = {}): emb.DistributedEmbedding =>
  new emb.DistributedEmbedding({
    embeddings: names.map((name, i) => ({
      ...{ inputDim: 5, outputDim: 2 + i, combiner: 'sum' },
      ...(name === undefined ? {} : { name }),
    })),
    ...args,
  } as Args);

describe('a DistributedEmbedding', () => {
  beforeAll(useCpu);

  it('tells the shapes of its results', () => {
    const two = make(['a', 'b']);
    expect(two.computeOutputShape([[null, 3], [7, 3]] as never)).toEqual([[null, 2], [7, 3]]); // prettier-ignore
    const joined = make(['a', 'b'], { output: 'concat' });
    expect(joined.computeOutputShape([[null, 3], [7, 3]] as never)).toEqual([7, 5]); // prettier-ignore
    expect([two.outputForm, joined.outputForm]).toEqual(['structure', 'concat']);
    expect(two.weightedFeatures).toEqual([]);
    expectError(() => two.computeOutputShape([null, 3]), 'ValueError', 'inputs', '1');
    expectError(() => make(['a'], { output: 'sum' }), 'ValueError', 'output', 'sum');
    expect(() => make(['a'], { output: 'sum' })).toThrowError(/structure.*concat/);
    const weighted = make(['a', 'b'], { weightedFeatures: [1] });
    expect(weighted.weightedFeatures).toEqual([1]);
    expect(weighted.getConfig()['weightedFeatures']).toEqual([1]);
  });

  it(
    'gives weights names that tfjs takes, each its own',
    leakFree(() => {
      const layer = make(['a b', 'a_b', 'a/b.c-d', '_x', 'é', 'a b c', 'a_b_1', undefined]);
      layer.build();
      const names = layer.weights.map(({ originalName }) => originalName.split('/').slice(1).join('/'));
      expect(names).toEqual(['a_b', 'a_b_1', 'a/b.c-d', 'table_x', 'table_', 'a_b_c', 'a_b_1_1', 'table_7'].map((name) => `${name}/embeddings`)); // prettier-ignore
      layer.dispose();
    }),
  );

  it('of layers beside it, each says which inputs it takes', () => {
    const twoShapes = [[null, 3], [null, 3]] as never; // prettier-ignore
    const single = [
      emb.layers.concatOneHotEmbedding({ featureSizes: [2, 3], embeddingWidth: 2 }),
      emb.layers.integerLookup({ maxTokens: 5 }),
    ];
    for (const layer of single) {
      expectError(() => layer.computeOutputShape(twoShapes), 'ValueError', 'inputs', '2 inputs');
    }
    const three = [[null, 3], [null, 3], [null, 3]] as never; // prettier-ignore
    const embedding = emb.layers.embedding({ inputDim: 5, outputDim: 2, combiner: 'sum' });
    expectError(() => embedding.computeOutputShape(three), 'ValueError', 'inputs', '3 inputs');
    expect(embedding.computeOutputShape([null, 3])).toEqual([null, 2]);
  });

  it('reads the stacking of tables from a config, and refuses what is no JSON', () => {
    const layer = make(['a', 'b'], { tableStacking: [['a', 'b']] });
    const config = layer.getConfig();
    const again = emb.DistributedEmbedding.fromConfig(emb.DistributedEmbedding as never, config) as typeof layer;
    expect(again.getConfig()).toEqual(config);
    const wrong = { ...config, tableStacking: { name: '[[' } };
    const read = (): unknown => emb.DistributedEmbedding.fromConfig(emb.DistributedEmbedding as never, wrong as never);
    expectError(read, 'ValueError', 'tableStacking', '[[');
  });
});
