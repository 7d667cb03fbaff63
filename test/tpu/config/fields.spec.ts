import {
  configText,
  nameOrNull,
  readConfig,
  readFields,
  sameField,
  truth,
  wholeNumber,
} from '../../../src/tpu/config/fields.js';
import { expectError } from '../../helpers/errors.js';

describe('fields of configs', () => {
  it('come in one object, under known names', () => {
    const read = (...passed: unknown[]): object => readFields('new A', ['a', 'b'] as never, passed);
    expect(read({ a: 1 })).toEqual({ a: 1 });
    expect([read(), read(undefined), read(null)]).toEqual([{}, {}, {}]);
    expectError(() => read({ c: 1 }), 'ValueError', 'c');
    expectError(() => read(3, 'x'), 'TypeError', 'args', '2 arguments by position');
    expect(() => read(3, 'x')).toThrowError(/Write new A\(\{a: 3, b: 'x'\}\)/);
    expectError(() => read(new Set(), 1), 'TypeError', 'args');
  });

  it('are those of configs in either spelling', () => {
    expect(readConfig({ max_ids: 1, dim: 2, nested: { a_b: 1 } })).toEqual({ maxIds: 1, dim: 2, nested: { a_b: 1 } });
    expectError(() => readConfig(3), 'TypeError', 'config', '3');
    expectError(() => readConfig(null, 'table'), 'TypeError', 'table', 'null');
  });

  it('are the same by value', () => {
    const equal: { equals: (other: unknown) => boolean } = {
      equals: (other) => other === equal || (other as { isFriend?: boolean }).isFriend === true,
    };
    const f = (): void => undefined;
    const same: [unknown, unknown][] = [
      [1, 1],
      [NaN, NaN],
      [null, null],
      [
        [1, [2]],
        [1, [2]],
      ],
      [
        { a: [1], b: null },
        { b: null, a: [1] },
      ],
      [equal, equal],
      [equal, { isFriend: true }],
      [f, f],
      [{ f }, { f }],
    ];
    const others: [unknown, unknown][] = [
      [1, 2],
      [0, -0],
      [null, undefined],
      [[1], [1, 2]],
      [[1, 2], [1]],
      [
        [1, 2],
        [1, 3],
      ],
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: 1, b: 2 }, { a: 1 }],
      [{ a: 1 }, { b: 1 }],
      [{ a: undefined }, { b: undefined }],
      [{ toString: 1 }, { a: 1 }],
      [{}, new (class A {})()],
      [{ a: 1 }, 1],
      [1, { a: 1 }],
      [[1], { 0: 1, length: 1 }],
      [f, (): void => undefined],
    ];
    for (const [a, b] of same)
      expect(sameField(a, b))
        .withContext(JSON.stringify([a, b]))
        .toBeTrue();
    for (const [a, b] of others)
      expect(sameField(a, b))
        .withContext(JSON.stringify([a, b]))
        .toBeFalse();
    expect(sameField(equal, { other: 1 })).toBeFalse();
  });

  it('are shown as Python shows them, configs within as they show themselves', () => {
    class Inner {
      getConfig = (): object => ({});
      toString(): string {
        return 'Inner()';
      }
    }
    const shown = configText('A', { a: 0.5, b: 'x', inner: new Inner(), none: null });
    expect(shown).toBe('A(a=0.5, b="x", inner=Inner(), none=null)');
    expect(configText('A', { plain: { getConfig: (): object => ({}) } })).not.toContain('[object');
    expect(configText('A', {})).toBe('A()');
  });

  it('are checked by kind', () => {
    expect([wholeNumber(3, 'a', 3), truth(null, 'a', true), truth(undefined, 'a', false), truth(false, 'a', true)]).toEqual([3, true, false, false]); // prettier-ignore
    for (const wrong of [2, 3.5, '3', null, 2 ** 53]) expectError(() => wholeNumber(wrong, 'a', 3), 'ValueError', 'a');
    expect(() => wholeNumber(2, 'a', 3)).toThrowError(/>= 3/);
    expectError(() => truth(0, 'a', true), 'TypeError', 'a', '0');
    expect([nameOrNull(null), nameOrNull(undefined), nameOrNull('x')]).toEqual([null, null, 'x']);
    expectError(() => nameOrNull(''), 'ValueError', 'name');
    expectError(() => nameOrNull(3), 'TypeError', 'name', '3');
  });
});
