import { readTables } from '../../src/partition/plan_table.js';
import { expectError } from '../helpers/errors.js';

const BASE = { inputDim: 10, outputDim: 4 };

/** Whether tables with these fields may share a weight. */
function areJoined(a: object, b: object): boolean {
  const [first, second] = readTables([{ ...BASE, ...a }, { ...BASE, ...b }]); // prettier-ignore
  return first!.joinKey === second!.joinKey;
}

describe('tables of a plan', () => {
  it('have defaults', () => {
    for (const none of [{}, { name: null, combiner: null }, { name: undefined, initializer: null }]) {
      const [table] = readTables([{ ...BASE, ...none }]);
      const expected = { name: null, rows: 10, columns: 4, size: 40, combiner: null, rowCoupled: false };
      expect(table).toEqual({ ...expected, joinKey: table!.joinKey });
    }
    const [table] = readTables([{ ...BASE, name: 'a', combiner: 'mean', rowCoupled: true }]);
    expect(table).toEqual(jasmine.objectContaining({ name: 'a', combiner: 'mean', rowCoupled: true }));
  });

  it('may share a weight where all that makes and trains them is the same', () => {
    const f = (): void => undefined;
    class Own {}
    const [own, symbol] = [new Own(), Symbol('a')];
    const same: [object, object][] = [
      [{ name: 'a' }, { name: 'b' }],
      [{ initializer: null }, { initializer: undefined }],
      [{ initializer: { a: 1, b: [1, 'x'] } }, { initializer: { b: [1, 'x'], a: 1, c: undefined } }],
      [{ initializer: Object.assign(Object.create(null), { a: 1 }) as object }, { initializer: { a: 1 } }],
      ...[f, own, symbol, 'ones', 3, true].map((optimizer): [object, object] => [{ optimizer }, { optimizer }]),
    ];
    const others: [object, object][] = [
      [{ combiner: 'sum' }, { combiner: 'mean' }],
      [{ combiner: 'sum' }, {}],
      [{ rowCoupled: true }, {}],
      ...['initializer', 'optimizer', 'regularizer', 'constraint'].map((field): [object, object] => [
        { [field]: 'a' },
        {},
      ]),
      [{ initializer: 'a' }, { optimizer: 'a' }],
      [{ initializer: '1' }, { initializer: 1 }],
      [{ initializer: [1, 2] }, { initializer: [12] }],
      [{ initializer: { a: 1 } }, { initializer: { a: 2 } }],
      [{ initializer: { a: 1 } }, { initializer: { b: 1 } }],
      [{ initializer: new Own() }, { initializer: own }],
      [{ initializer: Symbol('a') }, { initializer: symbol }],
      [{ initializer: (): void => undefined }, { initializer: f }],
    ];
    for (const [a, b] of same) expect(areJoined(a, b)).withContext(Object.keys(a).join()).toBeTrue();
    others.forEach(([a, b], i) => expect(areJoined(a, b)).withContext(`case ${i}`).toBeFalse());
  });

  it('name what is wrong with them', () => {
    const read = (fields: object) => () => readTables([BASE, { ...BASE, ...fields }]);
    expectError(read({ name: 3 }), 'TypeError', 'tables[1].name', '3');
    expectError(read({ rowCoupled: null }), 'TypeError', 'tables[1].rowCoupled', 'null');
    expectError(read({ inputDim: 0 }), 'ValueError', 'tables[1].inputDim', '0');
    expectError(read({ outputDim: '4' }), 'TypeError', 'tables[1].outputDim', '4');
    expectError(read({ inputDim: 2 ** 31 - 1, outputDim: 2 ** 23 }), 'ValueError', 'tables[1]');
    expectError(read({ combiner: 'most' }), 'ValueError', 'tables[1].combiner', 'most');
    expectError(read({ combiner: 1 }), 'TypeError', 'tables[1].combiner', '1');
    expectError(read({ rows: 1 }), 'ValueError', 'tables[1].rows');
    expectError(() => readTables([]), 'ValueError', 'tables', 'none');
    expectError(() => readTables('a', 'own'), 'TypeError', 'own', 'a');
    const named = [{ ...BASE, name: 'a' }, BASE, { ...BASE, name: 'b' }, BASE, { ...BASE, name: 'a' }];
    expectError(() => readTables(named), 'ValueError', 'tables[4].name', '"a" at 0 and at 4');
  });
});
