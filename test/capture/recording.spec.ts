/** Two recordings side by side, and what must hold of one, on recordings that are written by hand. */
import type * as tf from '@tensorflow/tfjs';
import { difference, type Constant, type Feed, type Recording, type RecordedOp } from '../../src/capture/recording.js';
import { whyUnsound } from '../../src/capture/sound.js';

const FLOAT = 1;
const BOOL = 10;

const op = (changes: Partial<RecordedOp> = {}): RecordedOp => ({
  node: 'op0',
  name: 'Add',
  attributes: [],
  inputs: ['feed0', 'constant0'],
  inputTypes: [FLOAT, FLOAT],
  outputs: [{ type: FLOAT, shape: [2] }],
  ...changes,
});
const constant = (changes: Partial<Constant> = {}): Constant => ({
  name: 'constant0',
  type: FLOAT,
  shape: [2],
  values: Float32Array.of(1, 2),
  ...changes,
});
const feed = (changes: object = {}): Feed => {
  return { name: 'feed0', type: FLOAT, shape: [2], kind: 'data', place: 0, ...changes } as Feed;
};
const recording = (changes: Partial<Recording> = {}): Recording => ({
  ops: [op()],
  feeds: [feed()],
  constants: [constant()],
  made: [],
  rebound: [],
  stepped: [],
  results: ['op0'],
  problem: null,
  isTypical: true,
  makesVariables: false,
  ...changes,
});

/** What is said of two recordings, whichever comes first. */
function expectDifference(changes: Partial<Recording>, told: RegExp, again: RegExp = told): void {
  expect(difference(recording(), recording(changes))).toMatch(told);
  expect(difference(recording(changes), recording())).toMatch(again);
}

describe('Recordings', () => {
  it('agree where all is the same', () => {
    expect(difference(recording(), recording())).toBeNull();
  });

  it('differ by ops: their names, attributes, inputs and number', () => {
    const other = /^it runs other ops from step to step \(\w+\)$/;
    expectDifference({ ops: [op({ name: 'Sub' })] }, other);
    expectDifference({ ops: [op({ attributes: [{ name: 'N', type: 2, value: 2 }] })] }, other);
    expectDifference({ ops: [op({ inputs: ['constant0', 'feed0'] })] }, other);
    // The op is told where it is the second recording that has it.
    expectDifference(
      { ops: [op(), op({ node: 'op1', name: 'Mul' })] },
      /step \(Mul\)$/,
      /^it runs other ops from step to step$/,
    );
  });

  it('differ by constants: their values, shapes, types and number', () => {
    const numbers = /^JavaScript gives Add other numbers from step to step$/;
    expectDifference({ constants: [constant({ values: Float32Array.of(1, 3) })] }, numbers);
    expectDifference({ constants: [constant({ shape: [1, 2] })] }, numbers);
    expectDifference({ constants: [constant({ type: 3 })] }, numbers);
    // Nothing reads the second one.
    const more = [constant(), constant({ name: 'constant1' })];
    expectDifference({ constants: more }, /^JavaScript gives an op other numbers/);
    // The op is that which reads the one that changed.
    const reader = op({ node: 'op1', name: 'Mul', inputs: ['op0', 'constant1'] });
    const two = (value: number): Recording => {
      const values = Float32Array.of(value, 0);
      return recording({ ops: [op(), reader], constants: [constant(), constant({ name: 'constant1', values })] });
    };
    expect(difference(two(1), two(2))).toMatch(/^JavaScript gives Mul other numbers/);
    expect(difference(two(2), two(2))).toBeNull();
  });

  it('differ by feeds: their names, types, kinds, shapes, variables and number', () => {
    const told = /^it reads other variables from step to step$/;
    for (const change of [{ name: 'feed1' }, { type: 3 }, { kind: 'live', live: 0 }, { shape: [3] }]) {
      expectDifference({ feeds: [feed(change)] }, told);
    }
    expectDifference({ feeds: [] }, told);
    const [a, b] = [{ id: 1 }, { id: 2 }] as unknown as tf.Variable[];
    const read = (variable: tf.Variable): Recording =>
      recording({ feeds: [feed({ kind: 'variable', variable, name: `variable${variable.id}` })] });
    expect(difference(read(a!), read(b!))).toMatch(told);
    expect(difference(read(a!), read(a!))).toBeNull();
    const write = (variable: tf.Variable, place = 'op0'): Recording => recording({ rebound: [{ variable, place }] });
    expect(difference(write(a!), write(b!))).toMatch(/^it writes other variables/);
    expect(difference(write(a!), write(a!, 'op0:1'))).toMatch(/^it writes other variables/);
    expect(difference(write(a!), write(a!))).toBeNull();
  });

  it('differ by the places of their results', () => {
    expectDifference({ results: ['op0:1'] }, /^its results come from other ops/);
  });

  it('are sound with tensors of float32 and int32 alone', () => {
    for (const type of [FLOAT, 3]) expect(whyUnsound(recording({ feeds: [feed({ type })] }))).toBeNull();
    expect(whyUnsound(recording({ feeds: [feed({ type: BOOL })] }))).toMatch(/neither float32 nor int32$/);
  });

  it('are sound with results that are numbers or truth values', () => {
    const STRING = 7;
    const ofType = (type: number): Recording => recording({ ops: [op({ outputs: [{ type, shape: [2] }] })] });
    for (const type of [FLOAT, 3, BOOL]) expect(whyUnsound(ofType(type))).toBeNull();
    expect(whyUnsound(ofType(STRING))).toBe('its results are not all numbers or truth values');
    expect(whyUnsound(recording({ results: ['nowhere'] }))).toBe('its results are not all numbers or truth values');
  });
});
