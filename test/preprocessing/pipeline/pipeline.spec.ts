/** Pipelines: learned in one pass, applied to any batch, saved with models. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const {
  CategoryEncoding,
  Discretization,
  HashedCrossing,
  Hashing,
  Normalization,
  Pipeline,
  StringLookup,
  TextVectorization,
} = emb.preprocessing;
type Pipeline = InstanceType<typeof Pipeline>;

const ROWS = [
  { user: 'a', tags: ['x', 'y'], age: 30, score: 0.5, ids: [3, 1], text: 'The cat', kind: 2, extra: 1 },
  { user: 'b', tags: [], age: 40, score: 1.5, ids: [], text: 'the dog', kind: 0, extra: 1 },
  { user: 'a', tags: ['x'], age: 50, score: 2.5, ids: [2], text: 'dog', kind: 1, extra: 1 },
];
const COLUMNS = {
  user: ROWS.map(({ user }) => user),
  tags: { values: ['x', 'y', 'x'], rowSplits: Int32Array.of(0, 2, 2, 3) },
  age: Float32Array.of(30, 40, 50),
  score: Float32Array.of(0.5, 1.5, 2.5),
  ids: { values: Int32Array.of(3, 1, 2), rowSplits: Int32Array.of(0, 2, 2, 3) },
  text: ROWS.map(({ text }) => text),
  kind: BigInt64Array.of(2n, 0n, 1n),
};

function make(): Pipeline {
  return new Pipeline({
    columns: {
      user: 'string',
      tags: { list: 'string' },
      age: new Normalization(),
      score: 'float',
      ids: 'ids',
      text: new TextVectorization({ outputSequenceLength: 3 }),
      kind: new CategoryEncoding({ numTokens: 3, outputMode: 'oneHot' }),
      pair: { cross: ['user', 'kind'], by: new HashedCrossing({ numBins: 50 }) },
    },
  });
}

function plain(made: emb.preprocessing.PipelineOutput): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(made).map(([name, value]) => {
      if (value instanceof emb.RaggedTensor) return [name, value.toRows()];
      return [name, { dtype: value.dtype, values: value.arraySync() }];
    }),
  );
}

const applied = (pipeline: Pipeline, rows: object): Record<string, unknown> => {
  const made = pipeline.apply(rows);
  const result = plain(made);
  tf.dispose(Object.values(made).filter((each) => each instanceof tf.Tensor));
  return result;
};

describe('Pipeline', () => {
  beforeAll(() => tf.setBackend('cpu'));
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  it('makes the inputs of a model of rows, and the same of columns', () => {
    const pipeline = make().adapt(ROWS);
    const result = applied(pipeline, ROWS);
    const crossed = new HashedCrossing({ numBins: 50 }).apply([COLUMNS.user, [2, 0, 1]]);
    const deviation = Math.fround(Math.sqrt(Math.fround(200 / 3)));
    expect(result).toEqual({
      user: { dtype: 'int32', values: [[1], [2], [1]] },
      tags: [[1, 2], [], [1]],
      age: { dtype: 'float32', values: [-10, 0, 10].map((each) => [Math.fround(each / deviation)]) },
      score: { dtype: 'float32', values: [[0.5], [1.5], [2.5]] },
      ids: [[3, 1], [], [2]],
      text: { dtype: 'int32', values: [[2, 4, 0], [2, 3, 0], [3, 0, 0]] }, // prettier-ignore
      kind: { dtype: 'float32', values: [[0, 0, 1], [1, 0, 0], [0, 1, 0]] }, // prettier-ignore
      pair: { dtype: 'int32', values: crossed.map((id) => [id]) },
    });
    expect(applied(pipeline, COLUMNS)).toEqual(result);
    expect(applied(make().adapt(COLUMNS), ROWS)).toEqual(result);
    tf.tidy(() => {
      const { user, text } = COLUMNS;
      const given = { ...COLUMNS, user: tf.tensor1d(user), text: tf.tensor2d(text, [3, 1], 'string') };
      expect(applied(pipeline, given)).toEqual(result);
    });
    expect(pipeline.inputDims()).toEqual({
      user: 3,
      tags: 3,
      age: null,
      score: null,
      ids: null,
      text: 5,
      kind: null,
      pair: 50,
    });
  });

  it('adapts to batches in one pass: generators, async ones, data sets with labels', async () => {
    const expected = make().adapt(ROWS).getConfig();
    const batches = [ROWS.slice(0, 1), ROWS.slice(1)];
    expect(make().adapt(batches.values()).getConfig()).toEqual(expected);
    let passes = 0;
    const dataset = {
      async *[Symbol.asyncIterator](): AsyncGenerator<object> {
        passes++;
        for (const features of batches) {
          await Promise.resolve();
          yield { features, label: [1] };
        }
      },
    };
    expect((await make().adapt(dataset)).getConfig()).toEqual(expected);
    expect(passes).toBe(1);
    const some = new Pipeline({ columns: { user: 'string' } });
    expect((await some.adapt(dataset, { steps: 1 })).inputDims()).toEqual({ user: 2 });
    const ofTfData = tf.data.generator(function* () {
      yield { xs: { user: tf.tensor1d(['a', 'b']) }, ys: tf.tensor1d([1, 0]) };
    } as never);
    await some.adapt(ofTfData as never);
    expect(some.inputDims()).toEqual({ user: 3 });
  });

  it('survives JSON', () => {
    const pipeline = make().adapt(ROWS);
    const config = JSON.parse(JSON.stringify(pipeline.getConfig())) as object;
    const again = Pipeline.fromConfig(config);
    expect(again.getConfig() as object).toEqual(config);
    expect(applied(again, ROWS)).toEqual(applied(pipeline, ROWS));
    expect(again.columnNames).toEqual(Object.keys(COLUMNS).concat('pair'));
  });

  it('gives symbolic inputs that take what it makes', () => {
    const pipeline = make().adapt(ROWS);
    const inputs = pipeline.inputs();
    const dims = pipeline.inputDims();
    const embed = (name: string, inputDim: number): tf.SymbolicTensor => {
      return emb.layers
        .embedding({ inputDim, outputDim: 2, combiner: 'mean' })
        .apply(inputs[name]!) as tf.SymbolicTensor;
    };
    const parts = [
      ...['user', 'tags', 'text', 'pair'].map((name) => embed(name, dims[name]!)),
      embed('ids', 9),
      inputs['age']!,
      inputs['score']!,
      inputs['kind']!,
    ];
    const joined = tf.layers.concatenate().apply(parts) as tf.SymbolicTensor;
    const output = tf.layers.dense({ units: 1 }).apply(joined) as tf.SymbolicTensor;
    const model = tf.model({ inputs: Object.values(inputs), outputs: output });
    const made = pipeline.apply(ROWS);
    const predicted = model.predict(made) as tf.Tensor;
    expect(predicted.shape).toEqual([3, 1]);
    tf.dispose([predicted, ...Object.values(made).filter((each) => each instanceof tf.Tensor)]);
    model.dispose();
  });

  it('is saved with a model and there again, in files and SavedModels; metadata of the user stay', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pipeline-'));
    try {
      const pipeline = new Pipeline({ columns: { user: 'string' } });
      const input = pipeline.inputs()['user']!;
      const rows = emb.layers
        .embedding({ inputDim: 4, outputDim: 2, combiner: 'sum' })
        .apply(input) as tf.SymbolicTensor;
      const model = tf.model({ inputs: input, outputs: rows });
      expect(model.pipeline).toBeNull();
      model.setUserDefinedMetadata({ made: 'by hand' });
      model.pipeline = pipeline;
      // What it learns later is saved, too.
      pipeline.adapt([{ user: 'a' }, { user: 'b' }, { user: 'a' }]);
      await model.save(`file://${folder}/model`);
      await emb.savedModel.export(model, join(folder, 'served'));
      const loaded = [
        await tf.loadLayersModel(`file://${folder}/model/model.json`),
        (await emb.savedModel.load(join(folder, 'served'))) as tf.LayersModel,
      ];
      for (const each of loaded) {
        expect(each.pipeline!.getConfig()).toEqual(pipeline.getConfig());
        expect((each.getUserDefinedMetadata() as { made?: string }).made).toBe('by hand');
        tf.tidy(() => {
          const [before, after] = [model, each].map((one) => (one.predict(one.pipeline!.apply([{ user: 'b' }])) as tf.Tensor).dataSync()); // prettier-ignore
          expect(after).toEqual(before!);
        });
        each.setUserDefinedMetadata({ other: 1 });
        expect(each.pipeline!.getConfig()).toEqual(pipeline.getConfig());
        each.pipeline = null;
        expect(each.pipeline).toBeNull();
        expect(each.getUserDefinedMetadata() as object).toEqual({ other: 1 });
        each.dispose();
      }
      expect(emb.attach(model, null)).toBe(model);
      expect(model.getUserDefinedMetadata() as object).toEqual({ made: 'by hand' });
      model.dispose();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('makes several columns of one, also after JSON', () => {
    const bins = new emb.preprocessing.Discretization({ binBoundaries: [10] });
    const given = new Pipeline({
      columns: { age: 'float', decade: { column: 'age', type: bins }, seen: { column: 'visits', type: 'ids' } },
    });
    const saved = JSON.parse(JSON.stringify(given.getConfig())) as object;
    for (const pipeline of [given, Pipeline.fromConfig(saved)]) {
      const { age, decade, seen } = pipeline.apply({ age: [3, 12], visits: [[1], [2, 3]] });
      expect([age, decade].map((each) => (each as tf.Tensor).arraySync())).toEqual([
        [[3], [12]],
        [[0], [1]],
      ]);
      expect((seen as emb.RaggedTensor).toRows()).toEqual([[1], [2, 3]]);
      tf.dispose([age as tf.Tensor, decade as tf.Tensor]);
    }
    expect(() => new Pipeline({ columns: { a: { type: 'int', column: 3 } as never } })).toThrowError(
      /`columns.a.column`/,
    );
    expect(() => new Pipeline({ columns: { a: { type: 'int', col: 'b' } as never } })).toThrowError(/col/);
    expect(() => new Pipeline({ columns: { a: { type: {}, column: 'b' } as never } })).toThrowError(/`columns.a.type`/);
  });

  it('says what declares no column', () => {
    const refused: [string, string, unknown][] = [
      ['TypeError', 'args', undefined],
      ['TypeError', 'columns', { columns: 'user' }],
      ['ValueError', 'columns', { columns: {} }],
      ['ValueError', 'colums', { colums: {} }],
      ['ValueError', 'columns.a', { columns: { a: 'strings' } }],
      ['TypeError', 'columns.a', { columns: { a: 3 } }],
      ['TypeError', 'columns.a', { columns: { a: null } }],
      ['TypeError', 'columns.a', { columns: { a: {} } }],
      ['TypeError', 'columns.a', { columns: { a: new HashedCrossing({ numBins: 3 }) } }],
      ['ValueError', 'columns.a.list', { columns: { a: { list: 'ids' } } }],
      ['ValueError', 'columns.a.list', { columns: { a: { list: { list: 'int' } } } }],
      ['TypeError', 'columns.a.list', { columns: { a: { list: 7 } } }],
      ['TypeError', 'columns.a.cross', { columns: { a: { cross: 'b', by: new HashedCrossing({ numBins: 3 }) } } }],
      ['ValueError', 'columns.a.cross', { columns: { a: { cross: ['b'], by: new HashedCrossing({ numBins: 3 }) } } }],
      ['TypeError', 'columns.a.by', { columns: { a: { cross: ['b', 'c'], by: new Hashing({ numBins: 3 }) } } }],
    ];
    for (const [name, argument, args] of refused) {
      let thrown: unknown;
      try {
        new Pipeline(args as never);
      } catch (error) {
        thrown = error;
      }
      const { name: given, argument: named } = thrown as Error & { argument?: string };
      expect([given, named]).withContext(JSON.stringify(args)).toEqual([name, argument]);
    }
    expect(() => Pipeline.fromConfig({})).toThrowError(/`config`/);
    expect(() => Pipeline.fromConfig({ columns: { a: { className: 'Nobody' } } })).toThrowError(/`config.columns.a`.*Nobody/); // prettier-ignore
  });

  it('makes empty inputs of no rows, and reads missing values as it is told', () => {
    const pipeline = make().adapt(ROWS);
    const empty = pipeline.apply([]);
    const shapes = Object.values(empty).map((each) => each.shape);
    expect(shapes).toEqual([
      [0, 1],
      [0, null],
      [0, 1],
      [0, 1],
      [0, null],
      [0, 3],
      [0, 3],
      [0, 1],
    ] as never);
    tf.dispose(Object.values(empty).filter((each) => each instanceof tf.Tensor));
    expect(() => pipeline.apply(ROWS[0]!)).toThrowError(
      /`data.user`.*values of all rows.*a single value.*apply\(\[row\]\)/,
    );
    const filled = new Pipeline({
      columns: {
        n: { type: 'int', missing: 7 },
        f: { type: 'float', missing: 'mask', column: 'x' },
        bag: { type: 'ids', missing: 'mask' },
        words: { type: { list: new StringLookup({ vocabulary: ['a'] }) }, missing: 'a' },
      },
    });
    const rows = [
      { n: null, x: NaN, bag: [1, null, 2], words: ['a', null] },
      { n: 3, x: 2.5, bag: null, words: [] },
      { bag: [], words: ['b'] },
    ];
    const read = (from: Pipeline): unknown =>
      Object.fromEntries(
        Object.entries(applied(from, rows)).map(([name, value]) => {
          return [name, Array.isArray(value) ? value : (value as { values: unknown }).values];
        }),
      );
    const wanted = { n: [[7], [3], [7]], f: [[0], [2.5], [0]], f_mask: [[0], [1], [0]], bag: [[1, 2], [], []], words: [[1, 1], [], [0]] }; // prettier-ignore
    expect(read(filled)).toEqual(wanted);
    const config = JSON.parse(JSON.stringify(filled.getConfig())) as { version: number };
    expect([config.version, make().getConfig().version]).toEqual([2, 1]);
    expect(read(Pipeline.fromConfig(config))).toEqual(wanted);
    expect(() => new Pipeline({ columns: { n: { type: 'int', missing: 0.5 } } })).toThrowError(/`columns.n.missing`/);
    expect(() => new Pipeline({ columns: { a: { type: 'int', missing: 'mask' }, a_mask: 'int' } })).toThrowError(
      /mask/,
    );
    expect(() => filled.apply([{ n: 'x', x: 1, bag: [], words: [] }])).toThrowError(/`data.n`.*row 0/);
    expect(() => filled.apply([{ n: 1, x: 1, bag: [1], words: ['a', 4] }])).toThrowError(/`data.words`.*row 0/);
  });

  it('says what is wrong with a batch, by column', () => {
    const pipeline = make().adapt(ROWS);
    const { user: _user, ...without } = COLUMNS;
    const refused: [RegExp, unknown][] = [
      [/`data`.*columns by name/, 'abc'],
      [/`data`.*columns by name/, null],
      [/`data`.*columns by name/, [1, 2]],
      [/`data.user`.*the column user.*tags, age/, without],
      [/`data\[0\].user`.*a value/, [{ tags: [] }]],
      [/`data.user`.*strings.*a number in row 0/, { ...COLUMNS, user: [1, 2, 3] }],
      [/`data.user`.*one value for each row.*\{list: \.\.\.\}/, { ...COLUMNS, user: [['a', 'b'], ['c']] }],
      [/`data.tags`.*a list of values/, { ...COLUMNS, tags: ['a', 'b'] }],
      [/`data.score`.*numbers.*a string/, { ...COLUMNS, score: ['1'] }],
      [/`data.score`.*NaN in row 0/, { ...COLUMNS, score: [NaN] }],
      [/`data.ids`.*32 bits.*hash/, { ...COLUMNS, ids: [[2 ** 40]] }],
      [/`data.ids`.*whole numbers/, { ...COLUMNS, ids: [[0.5]] }],
    ];
    for (const [message, rows] of refused) expect(() => pipeline.apply(rows as never)).toThrowError(message);
    expect(() => make().apply(ROWS)).toThrowError(emb.RuntimeError, /from adapt/);
    const oneHot = { tags: { list: new StringLookup({ vocabulary: ['x'], outputMode: 'oneHot' }) } };
    expect(() => new Pipeline({ columns: oneHot })).toThrowError(/`columns.tags`.*oneHot/);
    const counts = new Pipeline({ columns: { tags: { list: new StringLookup({ outputMode: 'count' }) } } });
    expect(() => counts.inputs()).toThrowError(emb.RuntimeError, /has adapted/);
    expect(counts.adapt(ROWS).inputs()['tags']!.shape).toEqual([null, 3]);
    expect(() => emb.attach({} as never, pipeline)).toThrowError(/`model`/);
    const model = tf.sequential();
    expect(() => emb.attach(model, {} as never)).toThrowError(/`pipeline`/);
    const bins = new Pipeline({ columns: { age: new Discretization({ binBoundaries: [35] }) } });
    expect(bins.inputDims()).toEqual({ age: 2 });
  });
});
