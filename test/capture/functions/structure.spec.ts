/** What calls are given and give: which differ by their tensors alone, and which are captured at all. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Structure } from '../../../src/capture/functions/structure.js';

class Own {
  constructor(public rate: unknown) {}
}
const SHARED = new Own(1);
const SYMBOL = Symbol('one');
const f = (): void => undefined;

describe('Structure', () => {
  let [a, b]: tf.Tensor[] = [];
  beforeEach(() => ([a, b] = [tf.scalar(1), tf.scalar(2)]));
  afterEach(() => tf.dispose([a, b]));

  const kindOf = (value: unknown): string => Structure.ofArguments(value).kind;

  it('finds tensors wherever they are, and puts others in their places', () => {
    const value = { list: [a, [b, 3]], again: a, nothing: null, text: 'x' };
    const structure = Structure.ofArguments(value);
    expect(structure.problem).toBeNull();
    expect(structure.tensors).toEqual([a!, b!, a!]);
    expect(structure.rebuilt(structure.tensors)).toBe(value);
    expect(structure.rebuilt([a, b])).not.toBe(value);
    const rebuilt = structure.rebuilt([b, a, b]) as typeof value;
    expect(rebuilt).toEqual({ list: [b, [a, 3]], again: b, nothing: null, text: 'x' });
    expect(rebuilt.list[0]).toBe(b);
  });

  it('is of one kind where tensors alone differ', () => {
    for (const make of [
      (x: unknown): unknown => x,
      (x: unknown): unknown => [x, 1, [x]],
      (x: unknown): unknown => ({ x, of: { x } }),
      (x: unknown): unknown => [SHARED, f, SYMBOL, x, null, undefined, true, 1n],
      (x: unknown): unknown => Object.assign(Object.create(null), { x }),
    ])
      expect(kindOf(make(a))).toBe(kindOf(make(b)));
  });

  it('is of another kind for each other value', () => {
    const values = [
      ...[a, [a], [[a]], [a, a], { a }, { b: a }, { a, b: a }, { a: [a] }, [], {}, [[], []], [{}]],
      ...[1, -1, 0, -0, NaN, 1n, '1', 'a', '"a"', '', 't,', true, 'true', false, null, 'null', undefined, 'undefined'],
      ...[[1, 2], [12], ['1,2'], { 'a:1': 2 }, { a: 1 }, { a: '1' }, { a: 1, b: 2 }, { a: { b: 2 } }],
      ...[f, (): void => undefined, SHARED, new Own(1), new Own(2), SYMBOL],
    ];
    const kinds = values.map(kindOf);
    kinds.forEach((kind, i) => {
      expect(kinds.indexOf(kind)).withContext(`${i}: ${kind}`).toBe(i);
    });
  });

  it('is still what it was until a value or a tensor differs', () => {
    const own = new Own({ deep: new Own(1) });
    const list = [1, a];
    const structure = Structure.ofArguments([own, list, own]);
    expect(structure.isStill()).toBeTrue();
    (own.rate as { deep: Own }).deep.rate = 2;
    expect(structure.isStill()).toBeFalse();
    (own.rate as { deep: Own }).deep.rate = 1;
    expect(structure.isStill()).toBeTrue();
    list[1] = b;
    expect(structure.isStill()).toBeFalse();
    expect(structure.isStill([own, list, own], [b!])).toBeTrue();
    expect(structure.isStill([own, list, own], [b!, b!])).toBeFalse();
    expect(structure.isStill([own, [2, a], own])).toBeFalse();
    expect(structure.isStill([own, [1, a], own])).toBeTrue();
  });

  it('looks into no fields of tfjs and of functions, which are told by themselves', () => {
    const variable = tf.variable(a!, false);
    const optimizer = tf.train.sgd(1);
    const held = Object.assign(f.bind(null), { rate: 1 });
    const structure = Structure.ofArguments([variable, optimizer, held]);
    expect([structure.problem, structure.tensors]).toEqual([null, []]);
    optimizer.setLearningRate(2);
    held.rate = 2;
    expect(structure.isStill()).toBeTrue();
    tf.dispose(variable);
    optimizer.dispose();
  });

  it('calls no getter, which makes another kind where it is another function', () => {
    let calls = 0;
    const get = (): number => calls++;
    const own = Object.defineProperty(new Own(1), 'rate', { get, enumerable: true, configurable: true });
    const structure = Structure.ofArguments(own);
    expect([structure.problem, structure.isStill(), calls]).toEqual([null, true, 0]);
    Object.defineProperty(own, 'rate', { get: () => 1, enumerable: true });
    expect(structure.isStill()).toBeFalse();
  });

  it('is refused as an argument where what it holds may change unseen', () => {
    const circle: unknown[] = [a];
    circle.push({ circle });
    const rows = emb.RaggedTensor.fromRows([[1], []]);
    const changing = 'whose contents may change: give tensors, or lists';
    const many = (count: number): Own =>
      Object.assign(
        new Own(0),
        Array.from({ length: count - 1 }, () => 0),
      );
    for (const [value, problem] of [
      [circle, 'holds itself'],
      [[rows], 'holds a RaggedTensor, whose rows are read in JavaScript: pad them'],
      [{ of: Promise.resolve() }, 'is a promise'],
      [new Map(), `holds an object of class Map, ${changing}`],
      [[new Set()], `holds an object of class Set, ${changing}`],
      [new Own(new Date(0)), `holds an object of class Date, ${changing}`],
      [new Float32Array(1), `holds an object of class Float32Array, ${changing}`],
      [new ArrayBuffer(1), `holds an object of class ArrayBuffer, ${changing}`],
      [new Proxy([], {}), `holds an object of class Array, ${changing}`],
      [many(4097), 'holds an object of class Own with more than 4096 values'],
      [many(4096), null],
      // The same object twice holds nothing of itself.
      [[SHARED, [SHARED, { SHARED }], [a], [a]], null],
    ] as const)
      expect(Structure.ofArguments(value).problem).toBe(problem);
  });

  it('is refused as a result where it holds more than tensors', () => {
    const variable = tf.variable(a!, false);
    const other = 'which may be another one in each call: return tensors, in lists and objects';
    for (const [value, problem] of [
      [[a, { b }, null, undefined, variable, [], {}], null],
      [1, `holds a number, ${other}`],
      [{ a, name: 'x' }, `holds a string, ${other}`],
      [[f], `holds a function, ${other}`],
      [new Own(a), `holds an object of class Own, ${other}`],
      [Promise.resolve(a), 'is a promise'],
    ] as const)
      expect(Structure.ofResults(value).problem).toBe(problem);
    tf.dispose(variable);
  });
});
