/** What objects a step may reach, and which of their changes are told. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Reach } from '../../../src/capture/known/reach.js';

function reach(value: unknown): Reach {
  const reached = new Reach(true, () => true);
  reached.visit(value, 'it');
  return reached;
}

class OwnSet extends Set<string> {}
class OwnList extends Array<number> {}
class Own {
  number = 1;
}
const getter = (): number[] => Object.defineProperty([1, 2], 1, { get: () => 2 });

describe('Reach', () => {
  const refused: [title: string, value: unknown, reason: string][] = [
    ['objects behind a Proxy', new Proxy({}, {}), 'it is a Proxy'],
    ['lists behind a Proxy', { list: new Proxy([1], {}) }, 'the list of it is a Proxy'],
    ['objects of other classes', { own: new Own() }, 'the own of it is of the class Own, which is not one of tfjs or of this package'], // prettier-ignore
    ['objects without a class', { bare: Object.create(null) as object }, 'the bare of it is of the class without a name, which is not one of tfjs or of this package'], // prettier-ignore
    ['functions', { apply: () => 1 }, 'it has a function apply of its own'],
    ['functions in lists', { list: [[() => 1]] }, 'the list of it[0] has a function 0 of its own'],
    ['getters', { get number() { return 1; } }, 'it has a getter number of its own'], // prettier-ignore
    ['getters in lists', { list: getter() }, 'the list of it has a getter 1 of its own'],
    ['lists of other classes', { list: OwnList.of(1, 2) }, 'the list of it is a list of another class, or has methods of its own'], // prettier-ignore
    ['lists with a method', { list: Object.assign([1], { map: 1 }) }, 'the list of it is a list of another class, or has methods of its own'], // prettier-ignore
    ['long lists', { list: new Array(4097).fill(0) }, 'the list of it is a list of 4097 elements'],
    ['sets of other classes', { set: new OwnSet() }, 'the set of it is a set of another class'],
    ['sets with a field', { set: Object.assign(new Set(), { size_: 1 }) }, 'the set of it is a set of another class'],
    ['sets of objects', { set: new Set(['a', {}]) }, 'the set of it is a set of objects'],
    ['large arrays', { numbers: new Float32Array(1025) }, 'the numbers of it is an array of 4100 bytes'],
  ];
  for (const [title, value, reason] of refused) {
    it(`does not know ${title}`, () => expect(reach(value).unknown).toBe(reason));
  }

  it('says what it met first', () => {
    expect(reach({ first: new Own(), second: () => 1 }).unknown).toContain('the first of it');
  });

  const told: [title: string, value: unknown, change: (value: never) => void, name: string][] = [
    ['a number', { a: { b: 1 } }, ({ a }: { a: { b: number } }) => (a.b = 2), 'the b of the a of it'],
    ['a zero of the other sign', { a: 0 }, (it: { a: number }) => (it.a = -0), 'the a of it'],
    ['a field that comes', { a: 1 }, (it: { b?: number }) => (it.b = 1), 'the fields of it'],
    ['a field that goes', { a: 1 }, (it: { a?: number }) => delete it.a, 'the a of it'],
    ['a field that is read by a function', { a: 1 }, (it: object) => Object.defineProperty(it, 'a', { get: () => 1 }), 'the a of it'], // prettier-ignore
    ['another class', { a: 1 }, (it: object) => Object.setPrototypeOf(it, Own.prototype) as void, 'the class of it'],
    ['an element', { list: [1, [2]] }, ({ list }: { list: [number, number[]] }) => (list[1][0] = 3), 'the list of it[1]'], // prettier-ignore
    ['one more element', { list: [1] }, ({ list }: { list: number[] }) => list.push(1), 'the list of it'],
    ['a list that gets shorter', { list: [1, 2] }, ({ list }: { list: number[] }) => list.pop(), 'the list of it'],
    ['a method of a list', { list: [1] }, ({ list }: { list: object }) => Object.assign(list, { map: 1 }), 'the list of it'], // prettier-ignore
    ['a word that comes', { set: new Set(['a']) }, ({ set }: { set: Set<string> }) => set.add('b'), 'the set of it'],
    ['a word that goes', { set: new Set(['a', 'b']) }, ({ set }: { set: Set<string> }) => set.delete('b'), 'the set of it'], // prettier-ignore
    ['another word', { set: new Set(['a', 'b']) }, ({ set }: { set: Set<string> }) => set.add('c').delete('a'), 'the set of it'], // prettier-ignore
    ['a byte', { bytes: new Uint8Array(4096) }, ({ bytes }: { bytes: Uint8Array }) => (bytes[4095] = 255), 'the bytes of it'], // prettier-ignore
    ['a byte of a part of a buffer', { bytes: new Uint8Array(8).subarray(2, 4) }, ({ bytes }: { bytes: Uint8Array }) => (bytes[1] = 1), 'the bytes of it'], // prettier-ignore
  ];
  for (const [title, value, change, name] of told) {
    it(`tells ${title}`, () => {
      const { unknown, watched } = reach(value);
      expect(unknown).toBeNull();
      expect(watched.changed()).toBeNull();
      change(value as never);
      expect(watched.changed()).toBe(name);
    });
  }

  it('does not tell what is no matter of the data it goes to', () => {
    const shared = new Uint8Array(8);
    const value = {
      list: new Array<number>(4096).fill(0),
      kernelInitializer: { seed: 1 },
      part: shared.subarray(2, 4),
    };
    const { unknown, watched } = reach(value);
    expect(unknown).toBeNull();
    shared[0] = shared[4] = 1;
    value.kernelInitializer.seed = 2;
    expect(watched.changed()).toBeNull();
  });

  it('goes through circles once', () => {
    const value: { self?: unknown; number: number } = { number: 1 };
    value.self = [value];
    const { unknown, watched } = reach(value);
    expect(unknown).toBeNull();
    value.number = 2;
    expect(watched.changed()).toBe('the number of it');
  });

  it('takes methods of tfjs as fields, but for those that a layer is called by', () => {
    const { calculateLosses: known } = tf.layers.Layer.prototype as unknown as Record<string, unknown>;
    expect(reach({ other: known }).unknown).toBeNull();
    for (const name of ['call', 'apply', 'computeMask', 'calculateLosses'])
      expect(reach({ [name]: known }).unknown).toBe(`it has a function ${name} of its own`);
  });

  it('says which layers compute in JavaScript, and which are of other classes', () => {
    const words = emb.layers.integerLookup({ maxTokens: 5, name: 'words' });
    expect(reach(words).unknown).toMatch(/^layer words \(\w+\) reads its input in JavaScript$/);
    class Other extends tf.layers.Layer {}
    expect(reach(new Other({ name: 'other' })).unknown).toBe(
      'layer other is of the class Other, which is not one of tfjs or of this package',
    );
  });
});
