/** Every class of `emb.preprocessing` as a column, in a Pipeline and as a layer, against the layers of Keras. */
import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError, expectRejection } from '../../helpers/errors.js';

type Form = 'one' | 'lists' | 'three';
type Values = (string | number)[] | (string | number)[][];
interface Golden {
  layer: 'StringLookup' | 'Normalization' | 'Discretization' | 'TextVectorization' | 'CategoryEncoding';
  settings: Record<string, unknown>;
  form: Form;
  values: Values;
  adapts: boolean;
  /** Null: Keras refuses. */
  result: unknown[] | null;
}

const file = new URL('../../goldens/preprocessing_columns.json', import.meta.url);
const goldens = JSON.parse(readFileSync(file, 'utf8')) as Golden[];
const ROWS = 12;

/** Lists of texts, which no batch holds. */
const isTextLists = ({ layer, settings, form }: Golden): boolean =>
  layer === 'StringLookup' && settings['invert'] === true && form === 'lists';

const made = ({ layer, settings }: Golden): emb.preprocessing.StringLookup =>
  emb.preprocessing[layer].fromConfig(settings) as never;
const nameOf = ({ layer, settings, form }: Golden): string => `${layer} ${JSON.stringify(settings)} of ${form}`;

/** What is refused in place of a matrix of vectors for each row, and where Keras refuses. */
function isRefused({ layer, settings, form, result }: Golden): boolean {
  if (form !== 'one' && settings['output_mode'] === 'one_hot') return true;
  // Its adapt takes no ragged rows in Keras.
  return result === null && layer !== 'Discretization';
}

/** The type of the column. */
const typeOf = (golden: Golden, object: object): never =>
  ({ one: object, lists: { list: object, separator: '|' }, three: { list: object, separator: '|', length: 3 } })[
    golden.form
  ] as never;

/** Numbers in nested arrays, by 1e-5 of them; texts. */
function expectAlike(found: unknown, wanted: unknown, context: string): void {
  const flat = (value: unknown): unknown[] => (Array.isArray(value) ? value.flatMap(flat) : [value]);
  const lengths = (value: unknown): unknown => (Array.isArray(value) ? value.map(lengths) : null);
  expect(lengths(found)).withContext(`${context}, shape`).toEqual(lengths(wanted));
  const [all, others] = [flat(found), flat(wanted)];
  const differs = all.findIndex((value, i) => {
    const other = others[i];
    if (typeof value !== 'number' || typeof other !== 'number') return value !== other;
    return !(Math.abs(value - other) <= 1e-5 * Math.max(1, Math.abs(other)));
  });
  if (differs >= 0) fail(`${context}: ${String(all[differs])} for ${String(others[differs])} at ${differs}`);
}

function rowsOf(value: unknown): unknown[] {
  if (value instanceof emb.RaggedTensor) return value.toRows() as unknown[];
  const { values, rowSplits } = value as { values?: string[]; rowSplits?: Int32Array };
  if (values !== undefined)
    return Array.from({ length: ROWS }, (_, i) => values.slice(rowSplits![i], rowSplits![i + 1]));
  if (!(value instanceof tf.Tensor)) throw new Error('neither a tensor nor ragged rows');
  const rows = value.arraySync() as unknown[];
  value.dispose();
  return rows;
}

/** All rows of a column, as batches have them. */
async function columnOf(dataset: emb.data.Dataset, size: number): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { features } of dataset.batch(size)) rows.push(...rowsOf(features['x']));
  return rows;
}

/** CSV files of five rows each, which come as chunks of their own. */
function files(values: Values): Uint8Array[] {
  const lines = values.map((value) => `"${(Array.isArray(value) ? value : [value]).map(String).join('|')}"`);
  return Array.from({ length: Math.ceil(ROWS / 5) }, (_, i) =>
    new TextEncoder().encode(['x', ...lines.slice(5 * i, 5 * i + 5), ''].join('\n')),
  );
}

async function learned(dataset: emb.data.Dataset, { adapts }: Golden): Promise<emb.data.Dataset> {
  return adapts ? await dataset.adapt() : dataset;
}

describe('objects of preprocessing give what Keras does', () => {
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  it('for each class, and some of each are refused', () => {
    const classes = Object.keys(emb.preprocessing).filter((name) => name !== 'Pipeline' && name !== 'HashedCrossing');
    for (const name of classes) {
      const of = goldens.filter(({ layer }) => layer === name);
      expect(of.filter((each) => !isRefused(each)).length)
        .withContext(name)
        .toBeGreaterThan(4);
    }
    expect(goldens.every(({ values }) => values.length === ROWS)).toBeTrue();
  });

  it('as columns of arrays', async () => {
    for (const golden of goldens) {
      const declare = (): emb.data.Dataset =>
        emb.data.fromArrays({ x: golden.values }, { columns: { x: typeOf(golden, made(golden)) } });
      if (isRefused(golden)) expectError(declare, 'ValueError', 'columns.x');
      else if (golden.result !== null) {
        const dataset = await learned(declare(), golden);
        if (isTextLists(golden))
          await expectRejection(() => columnOf(dataset, ROWS), 'RuntimeError', 'columns', 'strings');
        else for (const size of [ROWS, 7]) expectAlike(await columnOf(dataset, size), golden.result, nameOf(golden));
      }
    }
  });

  it('as columns of several chunks, in any order of operations', async () => {
    for (const golden of goldens) {
      // A text that is split at spaces goes through CSV as it is, in quotes.
      if (isRefused(golden) || golden.result === null || golden.layer === 'Discretization') continue;
      if (isTextLists(golden)) continue;
      const declare = emb.data.fromCsv(files(golden.values), { columns: { x: typeOf(golden, made(golden)) } });
      const dataset = await learned(declare, golden);
      expectAlike(await columnOf(dataset, ROWS), golden.result, nameOf(golden));
      expectAlike(await columnOf(dataset.skip(3).take(7), 4), golden.result.slice(3, 10), nameOf(golden));
    }
  });

  it('in a Pipeline, of columns and of rows', () => {
    for (const golden of goldens) {
      const { form, values, adapts, result } = golden;
      if (form === 'three') continue;
      const object = made(golden);
      const build = (): emb.preprocessing.Pipeline =>
        new emb.preprocessing.Pipeline({ columns: { x: form === 'one' ? object : { list: object } } });
      if (isRefused(golden)) {
        expectError(build, 'ValueError', 'columns.x');
        continue;
      }
      if (result === null) continue;
      const pipeline = build();
      if (adapts) pipeline.adapt({ x: values });
      expectAlike(rowsOf(pipeline.apply({ x: values })['x']), result, nameOf(golden));
      const rows = values.map((x) => ({ x }));
      expectAlike(rowsOf(pipeline.apply(rows)['x']), result, nameOf(golden));
      const again = emb.preprocessing.Pipeline.fromConfig(JSON.parse(JSON.stringify(pipeline.getConfig())) as object);
      expectAlike(rowsOf(again.apply({ x: values })['x']), result, nameOf(golden));
    }
  });

  it('as layers, those that take numbers', () => {
    let compared = 0;
    for (const golden of goldens) {
      const { form, values, adapts, result } = golden;
      const isOfTexts = typeof values.flat()[0] === 'string';
      if (isOfTexts || golden.layer === 'StringLookup' || result === null) continue;
      // Its ragged numbers weigh ids, which another spec shows.
      if (golden.layer === 'Normalization' && form === 'lists') continue;
      const object = made(golden);
      const isRagged = form === 'lists';
      const data = form === 'one' ? (values as number[]).map((each) => [each]) : (values as number[][]);
      if (adapts && (!isRagged || golden.layer !== 'Discretization')) object.adapt(data as never);
      const isWhole = values.flat().every(Number.isInteger);
      const input = emb.input({
        shape: [isRagged ? null : data[0]!.length],
        ragged: isRagged,
        dtype: isWhole ? 'int32' : 'float32',
      });
      const { invert = false, output_mode: mode } = golden.settings;
      if (invert === true && golden.layer !== 'Normalization') {
        expectError(() => emb.layers.preprocessing(object), 'ValueError', 'object');
        continue;
      }
      const layer = emb.layers.preprocessing(object);
      let output = layer.apply(input) as tf.SymbolicTensor;
      const isRows = isRagged && (mode === undefined || mode === 'int');
      if (isRows) {
        // A table of a number that is the id, counted from 1: those of rows side by side.
        const table = emb.layers.embedding({ inputDim: 20, outputDim: 1 });
        output = table.apply(output) as tf.SymbolicTensor;
        tf.tidy(() => table.setWeights([tf.range(1, 21).expandDims(1)]));
      }
      const model = tf.model({ inputs: input, outputs: output });
      const given = isRagged
        ? emb.RaggedTensor.fromRows(data, { dtype: isWhole ? 'int32' : 'float32' } as never)
        : tf.tensor2d(data, undefined, isWhole ? 'int32' : 'float32');
      const predict = (): tf.Tensor => model.predict(given as tf.Tensor) as tf.Tensor;
      if (isRagged && mode === 'one_hot') expectError(predict, 'ValueError', 'outputMode');
      else {
        const predicted = predict();
        const found = predicted.arraySync() as number[][] | [number][][];
        predicted.dispose();
        const idsOf = (row: [number][], i: number): number[] => row.slice(0, data[i]!.length).map(([each]) => each - 1);
        const rows = isRows ? (found as [number][][]).map(idsOf) : found;
        expectAlike(rows, result, nameOf(golden));
        compared += 1;
      }
      if (given instanceof tf.Tensor) given.dispose();
      model.dispose();
    }
    expect(compared).toBeGreaterThan(50);
  });

  it('from the rows that there are, and zeros in the place of others', async () => {
    for (const golden of goldens.filter(({ form, result }) => form === 'one' && result !== null)) {
      const gaps = [...(golden.values.slice(0, 5) as never[]), null, ...(golden.values.slice(5) as never[]), null];
      const column = { type: made(golden), missing: 'mask' as const };
      const dataset = await learned(emb.data.fromArrays({ x: gaps }, { columns: { x: column } as never }), golden);
      const of = golden.result as unknown[][];
      const isRagged = golden.settings['ragged'] === true;
      const nothing = isRagged ? [] : of[0]!.map((each) => (typeof each === 'string' ? '' : 0));
      const wanted = [...of.slice(0, 5), nothing, ...of.slice(5), nothing];
      const masks = gaps.map((each) => [each === null ? 0 : 1]);
      for await (const { features } of dataset.batch(20)) {
        expectAlike(rowsOf(features['x']), wanted, nameOf(golden));
        expect(rowsOf(features['x_mask'])).toEqual(masks);
      }
      const { dtype } = columnForm(dataset);
      if (dtype === 'string') continue;
      // The same when the model serves: rows without the value, and with null.
      const pipeline = new emb.preprocessing.Pipeline({ columns: dataset.pipelineColumns() });
      const rows = gaps.map((x, i) => (x === null && i > 6 ? {} : { x }));
      const restored = emb.preprocessing.Pipeline.fromConfig(
        JSON.parse(JSON.stringify(pipeline.getConfig())) as object,
      );
      for (const each of [pipeline, restored]) {
        const { x, x_mask: mask } = each.apply(rows);
        expectAlike(rowsOf(x), wanted, nameOf(golden));
        expect(rowsOf(mask)).toEqual(masks);
      }
      expect(Object.keys(pipeline.inputs())).toEqual(Object.keys(dataset.inputs()));
      expect(pipeline.columnNames).toEqual(dataset.featureNames);
    }
  });

  it('not for crossings, axes of the batch and lists of texts that are split, which are refused', async () => {
    const { HashedCrossing, Normalization, TextVectorization } = emb.preprocessing;
    const refused = (type: unknown, name: 'ValueError' | 'TypeError', text: string): void => {
      expectError(() => emb.data.fromArrays({ x: [1] }, { columns: { x: type as never } }), name, 'columns.x', text);
    };
    refused(new HashedCrossing({ numBins: 3 }), 'TypeError', 'HashedCrossing');
    refused({ list: new HashedCrossing({ numBins: 3 }) }, 'TypeError', 'HashedCrossing');
    refused(new Normalization({ axis: 0 }), 'ValueError', 'axis [0]');
    refused({ list: new Normalization() }, 'ValueError', 'axis [-1]');
    refused({ list: new TextVectorization() }, 'ValueError', 'splits');
    const texts = emb.data.fromArrays({ x: ['a'] }, { columns: { x: new TextVectorization() } });
    await expectRejection(async () => await columnOf(await texts.adapt(), 1), 'ValueError', 'columns.x', 'pads');
    expectError(() => new TextVectorization({ outputMode: 'oneHot' as never }), 'ValueError', 'outputMode', 'oneHot');
    const uneven = [[1, 2], [3]];
    expectError(() => new Normalization().adapt(uneven), 'ValueError', 'axis', '[-1]');
    expectError(() => new Normalization({ mean: 1, variance: 1 }).apply(uneven), 'ValueError', 'axis', '[-1]');
  });
});

/** What a model is given for a column, by its dtype. */
function columnForm(dataset: emb.data.Dataset): { dtype: string } {
  try {
    return dataset.inputs()['x']!;
  } catch (error) {
    expect((error as Error).message).toContain('strings');
    return { dtype: 'string' };
  }
}
