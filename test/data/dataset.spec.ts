/** Operations on data sets, batches of them, and models that are trained on them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { ours } from '../tfjs/models/own_models.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError, expectRejection } from '../helpers/errors.js';
import { expectClose, expectNoLeakAsync } from '../helpers/tensors.js';
import { DRAWN_TYPES, drawnColumns, drawnRows, rowsOf, rowsOfBatches } from './rows.js';

const COUNT = 53;
const columns = drawnColumns(1, COUNT);
const rows = drawnRows(columns);
const drawn = (): emb.data.Dataset => emb.data.fromArrays(columns as never, { columns: DRAWN_TYPES });
const numbers = async (dataset: emb.data.Dataset): Promise<unknown[]> => (await rowsOf(dataset)).map(({ row }) => row);
const sorted = (all: readonly unknown[]): unknown[] => [...all].sort((a, b) => (a as number) - (b as number));

describe('data sets', () => {
  it('give rows as they are', async () => {
    expect(await rowsOf(drawn())).toEqual(rows);
    expect(drawn().size).toBe(COUNT);
    expect(drawn().featureNames).toEqual(['row', 'text', 'pair', 'bag', 'scores']);
  });

  it('tell how many elements they have, and have as many', async () => {
    const cases: Record<string, [emb.data.Dataset, number | null]> = {
      take: [drawn().take(10), 10],
      'take more': [drawn().take(100), COUNT],
      skip: [drawn().skip(50), 3],
      'skip more': [drawn().skip(100), 0],
      repeat: [drawn().repeat(2), 2 * COUNT],
      'repeat nothing': [drawn().take(0).repeat(), 0],
      'repeat no time': [drawn().repeat(0), 0],
      shuffle: [drawn().shuffle(7, 1), COUNT],
      prefetch: [drawn().prefetch(3), COUNT],
      'shard 0': [drawn().shard(4, 0), 14],
      'shard 1': [drawn().shard(4, 1), 13],
      'shard of none': [drawn().take(2).shard(4, 3), 0],
      batch: [drawn().shuffle(60).batch(10), 6],
      'batch without rest': [drawn().batch(10, { dropRemainder: true }), 5],
      'batches taken': [drawn().batch(10).take(2), 2],
      'batches skipped': [drawn().batch(10).skip(2), 4],
      'batches repeated': [drawn().batch(10).repeat(3).prefetch(1), 18],
      'both ways': [drawn().repeat(2).batch(10), 11],
    };
    for (const [name, [dataset, size]] of Object.entries(cases)) {
      expect(dataset.size).withContext(name).toBe(size);
      let count = 0;
      tf.engine().startScope();
      for await (const _ of dataset) count += 1;
      tf.engine().endScope();
      expect(count).withContext(name).toBe(size!);
    }
    expect(drawn().repeat().size).toBeNull();
    expect(drawn().repeat().batch(5).size).toBeNull();
  });

  it('are read ahead by prefetch, and by it alone', async () => {
    let made = 0;
    class Counted extends emb.preprocessing.Hashing {
      override apply(values: never): never {
        made += 1;
        return super.apply(values);
      }
    }
    const files = Array.from({ length: 6 }, (_, i) => new TextEncoder().encode(`word\n${i}\n`));
    // As many as are wanted, however slow the machine; then a while in which one more could come.
    const madeAfterOne = async (ahead: number, wanted: number): Promise<number> => {
      made = 0;
      const columns = { word: new Counted({ numBins: 5 }) };
      const reading = emb.data.fromCsv(files, { columns }).prefetch(ahead)[Symbol.asyncIterator]();
      await reading.next();
      for (let i = 0; i < 1000 && made < wanted; i++) await new Promise((done) => setTimeout(done, 20));
      await new Promise((done) => setTimeout(done, 200));
      const found = made;
      await reading.return?.(undefined);
      return found;
    };
    expect(await madeAfterOne(0, 1)).toBe(1);
    expect(await madeAfterOne(3, 4)).toBe(4);
  });

  it('repeat without end until no more is asked for', async () => {
    const seen = await numbers(
      drawn()
        .repeat()
        .take(COUNT * 3 + 1),
    );
    expect(seen.length).toBe(COUNT * 3 + 1);
    expect(seen.slice(COUNT, COUNT + 3)).toEqual([0, 1, 2]);
  });

  it('shuffle anew in each reading, alike for a seed', async () => {
    const dataset = drawn().shuffle(100, 5);
    const [first, second] = [await numbers(dataset), await numbers(dataset)];
    expect(sorted(first)).toEqual(columns['row']!);
    expect(sorted(second)).toEqual(columns['row']!);
    expect(first).not.toEqual(second);
    const again = drawn().shuffle(100, 5);
    expect([await numbers(again), await numbers(again)]).toEqual([first, second]);
    expect(await numbers(drawn().shuffle(100, 6))).not.toEqual(first);
    const repeated = await numbers(drawn().shuffle(100, 5).repeat(2));
    expect(repeated).toEqual([...first, ...second]);
    const [one, other] = [await numbers(drawn().shuffle(100)), await numbers(drawn().shuffle(100))];
    expect(one).not.toEqual(other);
  });

  it('split into rows of either part, the same in each reading', async () => {
    const [train, test] = drawn().split(0.7, 3);
    const [first, second] = [await numbers(train), await numbers(test)];
    expect(sorted([...first, ...second])).toEqual(columns['row']!);
    expect(await numbers(train)).toEqual(first);
    expect([train.size, test.size]).toEqual([first.length, second.length]);
    expect(first.length).toBeGreaterThan(25);
    expect(second.length).toBeGreaterThan(5);
    expect(await numbers(drawn().split(0.7, 4)[0])).not.toEqual(first);
    const shards = await Promise.all([0, 1, 2].map((i) => numbers(drawn().shard(3, i))));
    expect(sorted(shards.flat())).toEqual(columns['row']!);
    expect(shards[1]!.slice(0, 3)).toEqual([1, 4, 7]);
  });

  it('make batches of tensors and ragged rows', async () => {
    await expectNoLeakAsync(async () => {
      const batches = await rowsOfBatches(drawn().batch(10));
      expect(batches.map(({ length }) => length)).toEqual([10, 10, 10, 10, 10, 3]);
      expect(batches.flat()).toEqual(rows);
    });
    for await (const { features } of drawn().batch(10).take(1)) {
      const { row, text, pair, bag, scores } = features as Record<string, tf.Tensor>;
      expect([row!.dtype, row!.shape]).toEqual(['int32', [10, 1]]);
      expect([text!.dtype, text!.shape]).toEqual(['string', [10, 1]]);
      expect([pair!.dtype, pair!.shape]).toEqual(['float32', [10, 2]]);
      expect((bag as unknown as emb.RaggedTensor).values).toBeInstanceOf(Int32Array);
      expect((scores as unknown as emb.RaggedTensor).values).toBeInstanceOf(Float32Array);
      tf.dispose([row!, text!, pair!]);
    }
  });

  it('give labels and weights beside the features', async () => {
    const data = { x: [1, 2, 3], y: [0, 1, 1], z: [5, 6, 7], w: [1, 2, 0.5] };
    const one = emb.data.fromArrays(data, { label: 'y', weight: 'w', columns: { x: 'int' } });
    expect(await rowsOf(one)).toEqual([
      { x: 1, label: 0, weight: 1 },
      { x: 2, label: 1, weight: 2 },
      { x: 3, label: 1, weight: 0.5 },
    ]);
    for await (const { label, weight } of one.batch(3)) {
      expect([(label as tf.Tensor).shape, (label as tf.Tensor).dtype]).toEqual([[3, 1], 'float32']);
      expect([(weight as tf.Tensor).shape, (weight as tf.Tensor).dtype]).toEqual([[3], 'float32']);
    }
    tf.disposeVariables();
    const two = emb.data.fromArrays(data, { label: ['y', 'z'], columns: { x: 'int', z: 'int' } });
    expect((await rowsOf(two))[1]).toEqual({ x: 2, label: { y: 1, z: 6 } as never });
  });

  it('make inputs of models', () => {
    const dataset = emb.data.fromArrays(
      { id: [1], age: [1.5], bag: [[1]], vector: [[1, 2]], when: [0], hour: [0], gap: [null] },
      {
        columns: {
          ...{ id: 'int', age: 'float', bag: 'ids', vector: { list: 'float', length: 2 } },
          ...{ when: 'date', hour: { type: 'date', part: 'hour' }, gap: { type: 'int', missing: 'mask' } },
        },
      },
    );
    const inputs = dataset.inputs();
    const facts = Object.fromEntries(
      Object.entries(inputs).map(([name, each]) => [name, [each.sourceLayer.name, each.dtype, each.shape]]),
    );
    expect(facts).toEqual({
      id: ['id', 'int32', [null, 1]],
      age: ['age', 'float32', [null, 1]],
      bag: ['bag', 'int32', [null, null]],
      vector: ['vector', 'float32', [null, 2]],
      when: ['when', 'float32', [null, 1]],
      hour: ['hour', 'int32', [null, 1]],
      gap: ['gap', 'int32', [null, 1]],
      gap_mask: ['gap_mask', 'float32', [null, 1]],
    });
    const isRagged = (name: string): unknown => (inputs[name]!.sourceLayer as { ragged?: boolean }).ragged;
    expect([isRagged('bag'), isRagged('vector')]).toEqual([true, undefined]);
  });

  it('learn the vocabularies of their columns', async () => {
    const { StringLookup, Discretization } = emb.preprocessing;
    const city = new StringLookup();
    const tags = new StringLookup({ vocabulary: ['x'] });
    const age = new Discretization({ numBins: 2 });
    const dataset = emb.data.fromArrays(
      { city: ['a', 'b', 'b', null], tags: [['x'], [], ['y', 'x'], ['z']], age: [1, 2, 30, 40] },
      { columns: { city: { type: city, missing: 'mask' }, tags: { list: tags }, age } },
    );
    await expectRejection(() => rowsOf(dataset), 'RuntimeError', 'apply');
    expect(await dataset.adapt()).toBe(dataset);
    expect(city.getVocabulary(false)).toEqual(['b', 'a']);
    expect(
      (await rowsOf(dataset)).map(({ city: id, city_mask: mask, tags: bag, age: bin }) => [id, mask, bag, bin]),
    ).toEqual([
      [2, 1, [1], 0],
      [1, 1, [], 1],
      [1, 1, [0, 1], 1],
      [0, 0, [0], 1],
    ]);
  });

  it('learn from the rows that they give, whatever was done before', async () => {
    const count = 400;
    const city = Array.from({ length: count }, (_, row) => `c${row}`);
    const tags = Array.from({ length: count }, (_, row) => (row % 3 === 0 ? [] : [`t${row}`, `t${row % 7}`]));
    const age = Array.from({ length: count }, (_, row) => (row % 5 === 2 ? null : row));
    const make = (): emb.data.Dataset =>
      emb.data.fromArrays(
        { city, tags, age },
        {
          columns: {
            city: new emb.preprocessing.StringLookup(),
            tags: { list: new emb.preprocessing.StringLookup() },
            age: { type: new emb.preprocessing.Normalization(), missing: 'mask' },
          },
        },
      );
    const ways: Record<string, (dataset: emb.data.Dataset) => emb.data.Dataset> = {
      all: (each) => each,
      split: (each) => each.split(0.3, 2)[0],
      'other part': (each) => each.split(0.3, 2)[1],
      take: (each) => each.take(17),
      skip: (each) => each.skip(390),
      shard: (each) => each.shard(9, 4),
      'take of a shuffle': (each) => each.shuffle(count, 3).take(11),
      batches: (each) => each.take(30).batch(8, { dropRemainder: true }).take(2),
      'after some': (each) => each.batch(50).prefetch(2).skip(7),
      repeated: (each) => each.take(5).repeat(3),
      'of an endless one': (each) => each.repeat().skip(398).take(7),
    };
    for (const [name, way] of Object.entries(ways)) {
      const dataset = await way(make()).adapt();
      const pipeline = new emb.preprocessing.Pipeline({ columns: dataset.pipelineColumns() });
      const learned = pipeline.getConfig().columns as unknown as Record<string, { type: { config: { mean: number[] } }; config: { vocabulary: string[] }; list: { config: { vocabulary: string[] } } }>; // prettier-ignore
      // The rows that the next reading gives, in raw form: those of the same operations on numbers.
      const numbers = emb.data.fromArrays({ row: Int32Array.from(city.keys()) });
      const seen: number[] = [];
      for await (const { features } of way(numbers)) {
        if (!(features['row'] instanceof tf.Tensor)) seen.push(features['row'] as number);
        else {
          seen.push(...(features['row'].dataSync() as Int32Array));
          features['row'].dispose();
        }
      }
      const words = new Set(seen.flatMap((row) => tags[row]!));
      const ages = seen.filter((row) => age[row] !== null);
      expect([...learned['city']!.config.vocabulary].sort()).withContext(name).toEqual([...new Set(seen.map((row) => city[row]!))].sort()); // prettier-ignore
      expect([...learned['tags']!.list.config.vocabulary].sort())
        .withContext(name)
        .toEqual([...words].sort());
      const mean = ages.reduce((sum, row) => sum + row, 0) / ages.length;
      expect(learned['age']!.type.config.mean[0]).withContext(name).toBeCloseTo(mean, 3);
    }
    // Learning is no reading: the orders of those to come are as without it.
    const mixed = make().shuffle(count, 5);
    await mixed.adapt();
    const plain = emb.data.fromArrays({ row: Int32Array.from(city.keys()), age }, { columns: { row: 'int' } });
    const [order] = [await numbers(plain.shuffle(count, 5))];
    const ages = (await rowsOf(mixed)).map(({ age_mask: isThere }) => isThere);
    expect(ages).toEqual(order.map((row) => (age[row as number] === null ? 0 : 1)));
    await expectRejection(() => make().repeat().adapt(), 'ValueError', 'adapt', 'without end');
    await expectRejection(() => make().repeat().skip(3).batch(2).adapt(), 'ValueError', 'adapt', 'without end');
  });

  it('take vectors, rows of words and normalized numbers of preprocessing objects', async () => {
    const { CategoryEncoding, Normalization, StringLookup, TextVectorization } = emb.preprocessing;
    const objects = {
      flag: new StringLookup({ outputMode: 'oneHot' }),
      size: new Normalization({ axis: null }),
      kind: new CategoryEncoding({ numTokens: 3, outputMode: 'oneHot' }),
      words: new TextVectorization({ ragged: true }),
      title: new TextVectorization({ outputSequenceLength: 2 }),
    };
    const data = {
      flag: ['a', 'b', 'a'],
      size: [1, 3, 5],
      kind: [0, 2, 1],
      words: ['x y', 'x', ''],
      title: ['p q r', 'p', 'q'],
    };
    const dataset = emb.data.fromArrays(data, { columns: objects });
    expectError(() => dataset.inputs(), 'RuntimeError', 'columns.flag', 'has not');
    await dataset.adapt();
    const inputs = Object.values(dataset.inputs()).map(({ sourceLayer, dtype, shape }) => [
      sourceLayer.name,
      dtype,
      shape[1],
    ]);
    expect(inputs).toEqual([
      ['flag', 'float32', 3],
      ['size', 'float32', 1],
      ['kind', 'float32', 3],
      ['words', 'int32', null],
      ['title', 'int32', 2],
    ]);
    const [batch] = await rowsOfBatches(dataset.batch(3));
    const column = (name: string): unknown[] => batch!.map((row) => row[name]);
    expect(column('flag')).toEqual([[0, 1, 0], [0, 0, 1], [0, 1, 0]]); // prettier-ignore
    expectClose(column('size') as number[], [-Math.sqrt(1.5), 0, Math.sqrt(1.5)], 1);
    expect(column('kind')).toEqual([[1, 0, 0], [0, 0, 1], [0, 1, 0]]); // prettier-ignore
    expect(column('words')).toEqual([[2, 3], [2], []]);
    const [, second, first] = objects.title.getVocabulary().slice(1);
    expect([first, second].sort()).toEqual(['p', 'q']);
    expect(column('title')).toEqual([objects.title.apply(['p q r'])[0], objects.title.apply(['p'])[0], objects.title.apply(['q'])[0]]); // prettier-ignore
    const padded = emb.data.fromArrays(
      { t: ['a b'] },
      { columns: { t: new TextVectorization({ vocabulary: ['a'] }) } },
    );
    await expectRejection(() => rowsOf(padded), 'ValueError', 'columns.t', 'pads');
    const counts = new TextVectorization({ vocabulary: ['a'], outputMode: 'count' });
    expect(await rowsOf(emb.data.fromArrays({ t: ['a b a', ''] }, { columns: { t: counts } }))).toEqual([
      { t: [1, 2] },
      { t: [0, 0] },
    ]);
  });

  it('refuse what an object of the caller makes where it is no number', async () => {
    class Words extends emb.preprocessing.Hashing {
      override apply(): never {
        return ['a'] as never;
      }
    }
    const words = emb.data.fromArrays({ n: [1] }, { columns: { n: new Words({ numBins: 3 }) } });
    await expectRejection(() => rowsOf(words), 'RuntimeError', 'columns.n', 'a');
  });

  it('share an object between columns, which learns of both, and make a pipeline of them', async () => {
    const city = new emb.preprocessing.StringLookup();
    const data = { from: ['a', 'b'], to: ['c', 'b'], tags: [['a'], ['d', 'b']], n: [1, 2], x: [0.5, 1] };
    const columns = { from: city, to: city, tags: { list: city }, n: 'int', x: 'float' } as const;
    const dataset = await emb.data.fromArrays(data, { columns }).adapt();
    expect(city.getVocabulary(false).sort()).toEqual(['a', 'b', 'c', 'd']);
    const pipeline = new emb.preprocessing.Pipeline({ columns: dataset.pipelineColumns() });
    expect(pipeline.columnNames).toEqual(dataset.featureNames);
    const served = pipeline.apply(data) as Record<string, tf.Tensor>;
    for await (const { features } of dataset.batch(2)) {
      for (const [name, value] of Object.entries(features)) {
        expect(String(served[name])).withContext(name).toBe(String(value));
        if (value instanceof tf.Tensor) tf.dispose([value, served[name]!]);
      }
    }
    const restored = emb.preprocessing.Pipeline.fromConfig(JSON.parse(JSON.stringify(pipeline.getConfig())) as object);
    expect(restored.getConfig()).toEqual(pipeline.getConfig());
    expectError(() => drawn().pipelineColumns(), 'ValueError', 'columns.text', 'string');
    const dated = emb.data.fromArrays({ d: [new Date(0)] });
    expectError(() => dated.pipelineColumns(), 'ValueError', 'columns.d', 'date');
  });

  it('refuse what they cannot do', () => {
    const batched = drawn().batch(5);
    const shuffled = drawn().shuffle(5);
    expectError(() => drawn().batch(0), 'ValueError', 'batchSize', '0');
    expectError(() => drawn().batch('5' as never), 'TypeError', 'batchSize');
    expectError(() => drawn().batch(5, { drop: true } as never), 'ValueError', 'drop');
    expectError(() => drawn().batch(5, { dropRemainder: 1 as never }), 'TypeError', 'dropRemainder');
    expectError(() => batched.batch(5), 'ValueError', 'batch', 'batches');
    expectError(() => batched.shuffle(5), 'ValueError', 'shuffle', 'batches');
    expectError(() => batched.split(0.5), 'ValueError', 'split', 'batches');
    expectError(() => batched.shard(2, 0), 'ValueError', 'shard', 'batches');
    expectError(() => shuffled.split(0.5), 'ValueError', 'split', 'shuffled');
    expectError(() => shuffled.take(9).shard(2, 0), 'ValueError', 'shard', 'shuffled');
    expectError(() => drawn().shuffle(0), 'ValueError', 'bufferSize');
    expectError(() => drawn().shuffle(5, -1), 'ValueError', 'seed');
    expectError(() => drawn().split(1), 'ValueError', 'fraction', '1');
    expectError(() => drawn().split('half' as never), 'TypeError', 'fraction');
    expectError(() => drawn().shard(2, 2), 'ValueError', 'index', '2');
    expectError(() => drawn().take(1.5), 'ValueError', 'count');
    expectError(() => drawn().skip(-1), 'ValueError', 'count');
    expectError(() => drawn().repeat(NaN), 'ValueError', 'count');
    expectError(() => drawn().prefetch(null as never), 'TypeError', 'count');
    expectError(() => drawn().inputs(), 'ValueError', 'columns.text', 'strings');
  });
});

/** Clicks of users on items, by visits; the truth is linear in what is known. */
function clicks(count: number): Record<string, unknown[]> {
  const { bag } = drawnColumns(9, count) as { bag: number[][] };
  const visits = bag.map((ids) => ids.map((id) => id % 20));
  return {
    visits,
    user: visits.map((_, row) => row % 6),
    age: visits.map((_, row) => (row % 10) / 10),
    click: visits.map((ids, row) => (ids.includes(3) || row % 6 === 1 ? 1 : 0)),
    weight: visits.map((_, row) => 0.25 + (row % 3)),
  };
}

function modelOf(inputs: Record<string, tf.SymbolicTensor>): tf.LayersModel {
  const { visits, user, age } = inputs as Record<'visits' | 'user' | 'age', tf.SymbolicTensor>;
  const initializer = (seed: number): never => tf.initializers.randomUniform({ minval: -1, maxval: 1, seed }) as never;
  const seen = emb.layers
    .raggedEmbedding({ inputDim: 20, outputDim: 3, combiner: 'mean', embeddingsInitializer: initializer(1) })
    .apply(visits) as tf.SymbolicTensor;
  const who = emb.layers
    .embedding({ inputDim: 6, outputDim: 2, combiner: 'sum', embeddingsInitializer: initializer(2) })
    .apply(user) as tf.SymbolicTensor;
  const joined = tf.layers.concatenate().apply([seen, who, age]) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid', kernelInitializer: initializer(3) }).apply(joined);
  return tf.model({ inputs: [user, age, visits], outputs: outputs as tf.SymbolicTensor });
}

const compiled = (model: tf.LayersModel): tf.LayersModel => {
  model.compile({
    optimizer: emb.train.adagrad({ learningRate: 0.2 }),
    loss: 'binaryCrossentropy',
    metrics: ['accuracy'],
  });
  return model;
};

const weightsOf = (model: tf.LayersModel): number[] =>
  model.getWeights().flatMap((each) => Array.from(each.dataSync()));

describeForBackends('models trained on data sets', () => {
  it('get the weights of the same batches given by hand', async () => {
    const data = clicks(40);
    const dataset = emb.data.fromArrays(data as never, {
      label: 'click',
      columns: { visits: 'ids', user: 'int', age: 'float' },
    });
    await expectNoLeakAsync(async () => {
      const model = compiled(modelOf(dataset.inputs()));
      const { history } = await model.fitDataset(dataset.batch(16), {
        epochs: 2,
        verbose: 0,
        validationData: dataset.batch(40),
      });
      const byHand = compiled(modelOf(dataset.inputs()));
      for (let epoch = 0; epoch < 2; epoch++) {
        for (let start = 0; start < 40; start += 16) {
          const part = (name: string): never[] => data[name]!.slice(start, start + 16) as never[];
          const y = tf.tensor2d(part('click'), [part('click').length, 1]);
          const tensors = { user: tf.tensor2d(part('user'), y.shape, 'int32'), age: tf.tensor2d(part('age'), y.shape) };
          const visits = emb.RaggedTensor.fromRows(part('visits'), { dtype: 'int32' });
          await byHand.trainOnBatch({ ...tensors, visits }, y);
          tf.dispose([y, tensors.user, tensors.age]);
        }
      }
      expectClose(weightsOf(model), weightsOf(byHand));
      const [loss, accuracy] = (await model.evaluateDataset(dataset.batch(7))) as tf.Scalar[];
      expectClose([loss!.dataSync()[0]!], [(history['val_loss'] as number[])[1]!], 1, 'loss', 1e-5);
      expect(accuracy!.dataSync()[0]).toBeCloseTo((history['val_acc'] as number[])[1]!, 5);
      tf.dispose([loss!, accuracy!]);
      for (const each of [model, byHand]) {
        each.optimizer.dispose();
        each.dispose();
      }
    });
  });

  it('count the loss of each row by its weight', async () => {
    const data = clicks(12);
    const types = { visits: 'ids', user: 'int', age: 'float' } as const;
    const weighted = emb.data.fromArrays(data as never, { label: 'click', weight: 'weight', columns: types });
    const plainly = emb.data.fromArrays(data as never, { label: 'click', columns: types });
    await expectNoLeakAsync(async () => {
      const model = modelOf(weighted.inputs());
      const before = weightsOf(model);
      const sgd = emb.train.sgd({ learningRate: 1 });
      model.compile({ optimizer: sgd, loss: 'binaryCrossentropy' });
      const [found] = [(await model.evaluateDataset(weighted.batch(5))) as tf.Scalar];
      const each: number[] = [];
      for (let row = 0; row < 12; row++) {
        const loss = (await model.evaluateDataset(plainly.skip(row).take(1).batch(1))) as tf.Scalar;
        each.push(loss.dataSync()[0]!);
        loss.dispose();
      }
      const weights = data['weight'] as number[];
      const expected = each.reduce((sum, loss, row) => sum + loss * weights[row]!, 0) / 12;
      expectClose([found.dataSync()[0]!], [expected], 1, 'weighted loss', 1e-5);
      found.dispose();
      // One step of SGD moves by the mean of the rows' gradients, each times its weight, and that of its class.
      const moves: number[][] = [];
      const start = model.getWeights().map((weight) => weight.clone());
      for (let row = 0; row < 12; row++) {
        await model.fitDataset(plainly.skip(row).take(1).batch(1), { epochs: 1, verbose: 0 });
        moves.push(weightsOf(model).map((weight, i) => weight - before[i]!));
        model.setWeights(start);
      }
      const classes = data['click'] as number[];
      for (const classWeight of [undefined, { 0: 0.25, 1: 3 }]) {
        await model.fitDataset(weighted.batch(12), { epochs: 1, verbose: 0, ...(classWeight && { classWeight }) });
        const factors = weights.map((weight, row) => weight * (classWeight?.[classes[row] as 0 | 1] ?? 1));
        expectClose(
          weightsOf(model),
          before.map((weight, i) => moves.reduce((sum, move, row) => sum + (move[i]! * factors[row]!) / 12, weight)),
          1,
          `weights ${JSON.stringify(classWeight)}`,
          1e-5,
        );
        model.setWeights(start);
      }
      tf.dispose(start);
      sgd.dispose();
      model.dispose();
    });
  });

  it('count the steps of a row by the weight of the row, also where there are as many as rows', async () => {
    const rows = Array.from({ length: 6 }, (_, row) => [row + 1, 2 * row, 3]);
    const data = { x: rows, y: rows.map(() => [0, 0, 0]), w: [1, 0, 0.5, 2, 0, 4] };
    const three = { list: 'float', length: 3 } as const;
    const dataset = emb.data.fromArrays(data, { columns: { x: three, y: three }, label: 'y', weight: 'w' });
    const lossOf = (row: number, factor: number): number =>
      (data.w[row]! * rows[row]!.reduce((sum, x) => sum + (factor * x) ** 2, 0)) / 3;
    const mean = (first: number, end: number, factor: number): number => {
      const of = rows.map((_, row) => lossOf(row, factor)).slice(first, end);
      return of.reduce((sum, loss) => sum + loss, 0) / of.length;
    };
    // The loss of each step: [rows, 3].
    const loss = emb.pure((y: tf.Tensor, output: tf.Tensor) => tf.squaredDifference(y, output));
    for (const size of [3, 2]) {
      await expectNoLeakAsync(async () => {
        const model = ours.sequential({
          layers: [
            tf.layers.reshape({ targetShape: [3, 1], inputShape: [3] }),
            tf.layers.dense({ units: 1, useBias: false, kernelInitializer: 'ones' }),
            tf.layers.reshape({ targetShape: [3] }),
          ],
        });
        const optimizer = tf.train.sgd(0);
        model.compile({ optimizer, loss });
        const { history } = await model.fitDataset(dataset.batch(size), { epochs: 6, verbose: 0 });
        expectClose(history['loss'] as number[], new Array<number>(6).fill(mean(0, 6, 1)), 10, `fit by ${size}`, 1e-5);
        const evaluated = (await model.evaluateDataset(dataset.batch(size))) as tf.Scalar;
        expectClose([(await evaluated.data())[0]!], [mean(0, 6, 1)], 10, `evaluate by ${size}`, 1e-5);
        evaluated.dispose();
        optimizer.dispose();
        model.dispose();
      });
    }
  });

  it('take a single feature whatever their input is called', async () => {
    const dataset = emb.data.fromArrays(
      { bag: [[1, 2], [], [3]], y: [1, 0, 1] },
      { label: 'y', columns: { bag: 'ids' } },
    );
    await expectNoLeakAsync(async () => {
      const model = tf.sequential({
        layers: [
          emb.layers.raggedEmbedding({ inputDim: 5, outputDim: 2, combiner: 'sum', inputShape: [null] } as never),
          tf.layers.dense({ units: 1 }),
        ],
      });
      model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      const { history } = await model.fitDataset(dataset.batch(2), { epochs: 2, verbose: 0 });
      expect((history['loss'] as number[])[1]).toBeLessThan((history['loss'] as number[])[0]!);
      model.optimizer.dispose();
      model.dispose();
    });
  });

  it('are refused rows that are no batches, and names that are no inputs', async () => {
    const dataset = emb.data.fromArrays({ bags: [[1]], user: [1], age: [0.5], y: [1] }, { label: 'y' });
    const model = compiled(
      modelOf(emb.data.fromArrays(clicks(3) as never, { label: 'click', weight: 'weight' }).inputs()),
    );
    const fit = (data: emb.data.Dataset) => (): Promise<unknown> => model.fitDataset(data, { epochs: 1, verbose: 0 });
    await expectRejection(fit(dataset), 'RuntimeError', 'dataset', 'rows');
    await expectRejection(fit(dataset.batch(1)), 'ValueError', 'xs.bags', 'another name');
    model.optimizer.dispose();
    model.dispose();
  });
});
