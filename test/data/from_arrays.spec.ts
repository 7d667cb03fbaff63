/** Columns in memory: what they are read as, and what is refused. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError, expectRejection } from '../helpers/errors.js';
import { rowsOf } from './rows.js';

const { fromArrays } = emb.data;

/** The values of a column alone. */
async function column(values: unknown, type?: emb.data.ColumnType | emb.data.ColumnArgs): Promise<unknown[]> {
  const dataset = fromArrays({ x: values } as never, type === undefined ? {} : { columns: { x: type } });
  return (await rowsOf(dataset)).map(({ x }) => x);
}

describe('columns in memory', () => {
  it('have the types of their values', async () => {
    const inputs = fromArrays({
      whole: [1, null, 3],
      flags: [true, false, true],
      big: BigInt64Array.of(5n, -6n, 7n),
      half: [0.5, 1, 2],
      typed: Float32Array.of(1, 2, 3),
      int: Int32Array.of(1, 2, 3),
      bags: [[1], [], [2, 3]],
      scores: [[0.5], [], [1]],
      when: [new Date(0), new Date(1), new Date(2)],
    }).inputs();
    expect(Object.entries(inputs).map(([name, { dtype, shape }]) => [name, dtype, shape[1]])).toEqual([
      ['whole', 'int32', 1],
      ['flags', 'int32', 1],
      ['big', 'int32', 1],
      ['half', 'float32', 1],
      ['typed', 'float32', 1],
      ['int', 'int32', 1],
      ['bags', 'int32', null],
      ['scores', 'float32', null],
      ['when', 'float32', 1],
    ]);
    expect(await column(['a', 'b'])).toEqual(['a', 'b']);
    expect(await column([['a'], []])).toEqual([['a'], []]);
  });

  it('come in any container', async () => {
    const rows = [[1, 2], [], [3]];
    const ragged = emb.RaggedTensor.fromRows(rows);
    expect(await column(ragged)).toEqual(rows);
    expect(await column({ values: [1, 2, 3], rowSplits: [0, 2, 2, 3] })).toEqual(rows);
    expect(await column(rows.map((row) => Int32Array.from(row)))).toEqual(rows);
    expect(await column([null, ...rows, undefined])).toEqual([[], ...rows, []]);
    const tensors = [
      tf.tensor1d([1.5, 2]),
      tf.tensor2d(
        [
          [1, 2],
          [3, 4],
        ],
        [2, 2],
        'int32',
      ),
    ];
    expect(await column(tensors[0])).toEqual([1.5, 2]);
    expect(await column(tensors[1])).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(await column(tensors[1], { list: 'int', length: 2 })).toEqual([
      [1, 2],
      [3, 4],
    ]);
    tf.dispose(tensors);
    expect(await column(BigInt64Array.of(2n ** 31n - 1n, -(2n ** 31n)))).toEqual([2147483647, -2147483648]);
    expect(await column([3n, 4])).toEqual([3, 4]);
    expect(await column([7, 8], 'ids')).toEqual([[7], [8]]);
    expect(await column([null, 8], 'ids')).toEqual([[], [8]]);
    expect(await column([], 'ids')).toEqual([]);
  });

  it('have dates in parts', async () => {
    const times = ['1969-12-31', '1970-01-05T13:30', '2024-02-29 23:59:59.5Z', '2024-03-01T01:00:00+02:00'];
    const days = await column(times, 'date');
    const expected = times.map((text, i) =>
      Math.fround(Date.parse([`${text}`, `${text}Z`, text.replace(' ', 'T'), text][i]!) / 864e5),
    );
    expect(days).toEqual(expected);
    expect(await column(times, { type: 'date', part: 'weekday' })).toEqual([2, 0, 3, 3]);
    expect(await column(times, { type: 'date', part: 'hour' })).toEqual([0, 13, 23, 23]);
    expect(await column(times, { type: 'date', part: 'month' })).toEqual([12, 1, 2, 2]);
    expect(await column([new Date(864e5), 2 * 864e5, 3n * 86_400_000n], 'date')).toEqual([1, 2, 3]);
  });

  it('have values in the place of missing ones, or masks', async () => {
    expect(await column([1, null, NaN], { type: 'float', missing: -1 })).toEqual([1, -1, -1]);
    expect(await column(Float32Array.of(1, NaN), { type: 'float', missing: 7 })).toEqual([1, 7]);
    expect(await column(['a', null], { type: 'string', missing: 'none' })).toEqual(['a', 'none']);
    expect(await column([[1, null], null, [null]], { type: 'ids', missing: 0 })).toEqual([[1, 0], [], [0]]);
    expect(await column([[1, null, 2], [null], [3]], { type: 'ids', missing: 'mask' })).toEqual([[1, 2], [], [3]]);
    const masked = fromArrays({ x: [5, null] }, { columns: { x: { type: 'int', missing: 'mask' } } });
    expect(await rowsOf(masked)).toEqual([
      { x: 5, x_mask: 1 },
      { x: 0, x_mask: 0 },
    ]);
    const hashed = new emb.preprocessing.Hashing({ numBins: 1000 });
    const exact = column([2n ** 60n, undefined, NaN, 5n, 6], { type: hashed, missing: 5 });
    await expectAsync(exact).toBeResolvedTo([2n ** 60n, 5, 5, 5, 6].map((value) => hashed.apply(String(value))));
    const lookup = new emb.preprocessing.StringLookup({ vocabulary: ['a', 'b'], maskToken: '' });
    expect(await column(['b', null, 'c'], { type: lookup, missing: '' })).toEqual([3, 0, 1]);
  });

  it('name the row of a value that an object of emb.preprocessing refuses', async () => {
    const { IntegerLookup, StringLookup } = emb.preprocessing;
    const closed = { numOovIndices: 0 };
    const texts = new StringLookup({ vocabulary: ['a'], ...closed });
    const numbers = new IntegerLookup({ vocabulary: [5], ...closed });
    const refused = (values: unknown, type: never): Promise<void> =>
      expectRejection(() => column(values, type), 'ValueError', 'columns.x', 'in row 3 of the arrays');
    await refused(['a', 'a', 'b'], texts as never);
    await refused([5, 5, 6], numbers as never);
    await refused([['a'], [], ['a', 'b']], { list: texts } as never);
    await refused(['a', null, 'b'], { type: texts, missing: 'mask' } as never);
  });

  it('may be labels of several numbers', async () => {
    const pair = { list: 'float', length: 2 } as const;
    const dataset = fromArrays({ x: [1], y: [[0.5, 1]] }, { label: 'y', columns: { x: 'int', y: pair } });
    expect(await rowsOf(dataset)).toEqual([{ x: 1, label: [0.5, 1] }]);
  });

  it('may have other names in the model', async () => {
    const dataset = fromArrays({ USER_ID: [4] }, { columns: { user: { type: 'int', column: 'USER_ID' } } });
    expect(await rowsOf(dataset)).toEqual([{ user: 4 }]);
  });

  it('may be labels, weights and features in tensors [rows, 1]', async () => {
    const y = tf.tensor2d([1, 0, 1], [3, 1]);
    const x = tf.tensor2d([5, 6, 7], [3, 1], 'int32');
    const dataset = emb.data.fromArrays({ x, y, w: y }, { label: 'y', weight: 'w' });
    expect(await rowsOf(dataset)).toEqual(
      [5, 6, 7].map((id, i) => ({ x: id, label: [1, 0, 1][i]!, weight: [1, 0, 1][i]! })),
    );
    const lists = emb.data.fromArrays({ x }, { columns: { x: 'ids' } });
    expect(await rowsOf(lists)).toEqual([{ x: [5] }, { x: [6] }, { x: [7] }]);
    tf.dispose([x, y]);
  });

  it('are refused where they do not fit', async () => {
    const refused = (
      values: unknown,
      type: unknown,
      name: 'ValueError' | 'TypeError',
      received: string,
    ): Promise<void> => expectRejection(() => column(values, type as never), name, 'columns.x', received);
    await refused([1, 2.5], 'int', 'ValueError', '2.5 in row 2');
    await refused([1, 2 ** 31], 'int', 'ValueError', '2147483648 in row 2');
    await refused(BigInt64Array.of(1n, 2n ** 31n), 'int', 'ValueError', '2147483648 in row 2');
    await refused(BigInt64Array.of(1n, 2n ** 32n + 1n), 'int', 'ValueError', '4294967297 in row 2');
    await refused(['a'], 'int', 'TypeError', '"a" in row 1');
    await refused([1], 'string', 'ValueError', '1 in row 1');
    await refused([1, 1e39], 'float', 'ValueError', '1e+39 in row 2');
    await refused([1, null], 'float', 'ValueError', 'row 2');
    await refused([1, NaN], 'float', 'ValueError', 'row 2');
    await refused(['b', null], 'string', 'ValueError', 'row 2');
    await refused([[1], [2, null]], 'ids', 'ValueError', 'row 2');
    await refused([[1], [2, 3]], { list: 'int', length: 1 }, 'ValueError', '2 in row 2 of the arrays');
    await refused([[1], []], { list: 'int', length: 1 }, 'ValueError', '0 in row 2 of the arrays');
    const vectors = new emb.preprocessing.CategoryEncoding({ numTokens: 3, outputMode: 'oneHot' });
    await refused([[1], [2]], { list: vectors }, 'ValueError', 'oneHot');
    await refused(Float32Array.of(1, 2 ** 24), 'int', 'ValueError', '16777216 in row 2');
    await refused([[1]], 'int', 'ValueError', 'lists');
    await refused(['2024-02-30x'], 'date', 'TypeError', '2024-02-30x');
    await refused(['2024-13-01'], 'date', 'TypeError', '2024-13-01');
    expectError(() => fromArrays({ a: [1], b: [1, 2] }), 'ValueError', 'columns.b', '2');
    expectError(() => fromArrays({}), 'ValueError', 'columns', 'none');
    expectError(() => fromArrays([1] as never), 'TypeError', 'columns');
    expectError(() => fromArrays({ a: 5 as never }), 'TypeError', 'columns.a', '5');
    expectError(() => fromArrays({ a: [[1], 2] }), 'TypeError', 'columns.a', 'row 2');
    expectError(() => fromArrays({ a: [[[1]]] }), 'ValueError', 'columns.a', 'lists of lists');
    expectError(() => fromArrays({ a: emb.RaggedTensor.fromRows([[[1]]]) }), 'ValueError', 'columns.a');
    const cube = tf.zeros([1, 1, 1]);
    expectError(() => fromArrays({ a: cube }), 'ValueError', 'columns.a', 'rank 3');
    cube.dispose();
  });
});

describe('columns that objects of the caller read', () => {
  /** One that gives this of each list of values. */
  const given = (apply: (values: number[]) => unknown, more: object = {}): never =>
    ({ apply: (values: ArrayLike<number>) => apply(Array.from(values)), getConfig: () => ({}), ...more }) as never;
  const tenfold = given((values) => values.map((value) => value * 10));
  const pairs = given((values) => values.map((value) => [value, 0.5]), { width: 2 });

  it('are what these give: a number for each value, or a vector', async () => {
    expect(await column([1, 2], tenfold)).toEqual([10, 20]);
    expect(
      await column(
        [1, 2],
        given((values) => Float32Array.from(values, (value) => value / 2)),
      ),
    ).toEqual([0.5, 1]);
    expect(await column([1, 2], pairs)).toEqual([
      [1, 0.5],
      [2, 0.5],
    ]);
    expect(await column([[1], [], [2, 3]], { list: tenfold })).toEqual([[10], [], [20, 30]]);
    expect(
      await column(
        [
          [1, 2],
          [3, 4],
        ],
        { list: tenfold, length: 2 },
      ),
    ).toEqual([
      [10, 20],
      [30, 40],
    ]);
  });

  it('are refused where these give something else', async () => {
    const refused = (item: never, received: string): Promise<void> =>
      expectRejection(() => column([1, 2], item), 'RuntimeError', 'columns.x', received);
    for (const wrong of [0.5, 2 ** 31, NaN])
      await refused(
        given((values) => values.map(() => wrong)),
        `[${wrong}, ${wrong}]`,
      );
    const all: readonly [unknown, string][] = [
      [[1], '[1]'],
      [[1, 'a'], '[1, "a"]'],
      [[[], []], '[[], []]'],
      [undefined, 'undefined'],
    ];
    for (const [wrong, received] of all)
      await refused(
        given(() => wrong),
        received,
      );
    await refused(
      given(() => [[1, 2], [1]], { width: 2 }),
      '[[1, 2], [1]]',
    );
    await expectRejection(() => column([[1]], { list: pairs }), 'ValueError', 'columns.x', 'vectors');
  });

  it('are inputs of their form', () => {
    const wide = given((values) => values, { width: 3 });
    const inputs = fromArrays(
      { one: [1], any: [[1]], two: [[1, 2]], wide: [1], wideAny: [[1]], wideTwo: [[1, 2]] },
      {
        columns: {
          ...{ one: tenfold, any: { list: tenfold }, two: { list: tenfold, length: 2 } },
          ...{ wide, wideAny: { list: wide }, wideTwo: { list: wide, length: 2 } },
        },
      },
    ).inputs();
    const forms = Object.values(inputs).map((input) => [
      input.name.replace(/_\d+$/, ''),
      input.dtype,
      input.shape[1],
      input.sourceLayer.getConfig()['ragged'] ?? false,
    ]);
    expect(forms).toEqual([
      ['one', 'int32', 1, false],
      ['any', 'int32', null, true],
      ['two', 'int32', 2, false],
      ['wide', 'float32', 3, false],
      ['wideAny', 'float32', null, true],
      ['wideTwo', 'float32', 6, false],
    ]);
  });
});

describe('what a data set is told of its columns', () => {
  const data = { user: [1], click: [0], w: [1], word: ['a'] };
  const told = (args: object) => (): unknown => fromArrays(data, args as never);

  it('is refused where it says something else', () => {
    expectError(told({ columns: { user: 'integer' } }), 'ValueError', 'columns.user', 'integer');
    expectError(told({ columns: { user: 5 } }), 'TypeError', 'columns.user', '5');
    expectError(told({ columns: { usr: 'int' } }), 'ValueError', 'columns.usr', 'no column usr');
    expectError(told({ columns: { user: { apply: () => 1 } } }), 'TypeError', 'columns.user');
    expectError(told({ columns: { user: { getConfig: () => ({}) } } }), 'TypeError', 'columns.user');
    expectError(told({ columns: ['user'] }), 'TypeError', 'columns');
    expectError(told({ columns: { user: { list: 'date' } } }), 'ValueError', 'columns.user.list', 'date');
    expectError(told({ columns: { user: { list: 7 } } }), 'TypeError', 'columns.user.list', '7');
    expectError(told({ columns: { user: { list: 'int', length: 0 } } }), 'ValueError', 'columns.user.length', '0');
    expectError(told({ columns: { user: { list: 'int', separator: '' } } }), 'ValueError', 'columns.user.separator');
    expectError(told({ columns: { user: { list: 'int', separators: '|' } } }), 'ValueError', 'columns.user.separators');
    expectError(told({ columns: { user: { type: 'int', missing: true } } }), 'TypeError', 'columns.user.missing');
    expectError(told({ columns: { user: { type: 'int', missing: 'zero' } } }), 'ValueError', 'columns.user.missing');
    expectError(told({ columns: { user: { type: 'int', part: 'hour' } } }), 'ValueError', 'columns.user.part');
    const half = { type: 'date', missing: 0.5 };
    for (const part of ['hour', 'weekday', 'month'])
      expectError(told({ columns: { user: { ...half, part } } }), 'ValueError', 'columns.user.missing', '0.5');
    for (const days of [half, { ...half, part: 'days' }]) expect(told({ columns: { user: days } })).not.toThrow();
    expectError(told({ columns: { user: { type: 'date', part: 'year' } } }), 'ValueError', 'columns.user.part', 'year');
    expectError(told({ columns: { user: { type: 'int', column: 3 } } }), 'TypeError', 'columns.user.column');
    const masked = { type: { list: 'int', length: 1 }, missing: 'mask' };
    expectError(told({ columns: { user: masked } }), 'ValueError', 'columns.user.missing', 'mask');
    expectError(told({ label: 'clicks' }), 'ValueError', 'columns.clicks', 'no column clicks');
    expectError(told({ label: 3 }), 'TypeError', 'label');
    expectError(told({ label: ['click', 'click'] }), 'ValueError', 'label');
    expectError(told({ label: 'word', columns: { user: 'int', word: 'string' } }), 'ValueError', 'label', 'word');
    expectError(told({ label: 'user', columns: { user: 'ids', w: 'float' } }), 'ValueError', 'label', 'lists');
    expectError(told({ label: 'click', columns: { click: 'int' } }), 'ValueError', 'columns', 'none');
    expectError(told({ weight: 7 }), 'TypeError', 'weight');
    expectError(told({ label: 'click', weight: 'click' }), 'ValueError', 'weight', 'click');
    const mask = { type: 'float', missing: 'mask' };
    expectError(told({ label: 'click', columns: { user: 'int', click: mask } }), 'ValueError', 'columns.click.missing');
    const both = { user: mask, user_mask: { type: 'int', column: 'w' } };
    expectError(told({ columns: both }), 'ValueError', 'columns.user_mask', 'mask');
    // Without a mask its name is free.
    for (const user of ['int', { type: 'int', missing: 0 }, { type: 'ids', missing: 'mask' }])
      expect(told({ columns: { user, user_mask: { type: 'int', column: 'w' } } })).not.toThrow();
    expectError(told({ lable: 'click' }), 'ValueError', 'lable');
  });
});
