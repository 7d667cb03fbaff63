import { sameProperties } from '../../../src/capture/known/same_properties.js';

const HIDDEN = Symbol('hidden');

class Base {
  first(): number {
    return 1;
  }
  second(): number {
    return 2;
  }
  [HIDDEN](): number {
    return 3;
  }
}

type Change = (holder: Record<PropertyKey, unknown>) => void;

const KEYS: readonly PropertyKey[] = ['first', 'second', HIDDEN, 'a "quoted"\\ name', 'constructor', 7, 'absent'];
const CHANGES: Record<string, Change> = {
  nothing: () => undefined,
  'a field that is not compared': (holder) => (holder['other'] = 1),
  'a method of its own': (holder) => (holder['first'] = () => 2),
  'a hidden method of its own': (holder) => Object.defineProperty(holder, 'second', { value: () => 1 }),
  'a method by a symbol': (holder) => (holder[HIDDEN] = () => 1),
  'a quoted name': (holder) => (holder['a "quoted"\\ name'] = 1),
  'a number for a name': (holder) => (holder[7] = 1),
  'a name that was absent': (holder) => (holder['absent'] = 1),
  'another class': (holder) => Object.setPrototypeOf(holder, null) as unknown,
};

function noCode(): never {
  throw new EvalError('Code generation from strings disallowed for this context');
}

describe('sameProperties', () => {
  for (const [what, change] of Object.entries(CHANGES)) {
    it(`sees ${what} compiled as in turn`, () => {
      const holder = new Base() as unknown as Record<PropertyKey, unknown>;
      const values = KEYS.map((key) => holder[key]);
      const checks = [sameProperties(KEYS, values), sameProperties(KEYS, values, noCode)];
      for (const isSame of checks) expect(isSame(holder)).toBeTrue();
      change(holder);
      const expected = what === 'nothing' || what === 'a field that is not compared';
      for (const isSame of checks) expect(isSame(holder)).toBe(expected);
    });
  }

  it('holds for no properties', () => {
    expect(sameProperties([], [])({})).toBeTrue();
  });

  it('hides no other error', () => {
    const failing = (): never => {
      throw new RangeError('no memory');
    };
    expect(() => sameProperties(['a'], [1], failing)).toThrowError(RangeError, 'no memory');
  });
});
