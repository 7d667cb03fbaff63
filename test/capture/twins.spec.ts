/** Twins that are not alike are told apart, by losses and by weights. */
import type * as emb from 'tfjs-embeddings/node';
import { differences, type Twin } from './twins.js';

const info = {} as emb.StepInfo;
const twin = (losses: number[], ...weights: number[][]): Twin => ({
  losses,
  weights: weights.map((each) => Float32Array.from(each)),
  info,
});
const apart = (eager: Twin, captured: Twin, tolerance?: number): string[] =>
  differences({ eager, captured }, tolerance);

describe('Twins', () => {
  const eager = twin([1, 2], [0.5, 0.25], [3]);

  it('are alike within the tolerance, which is ten times as much for weights', () => {
    expect(apart(eager, twin([1, 2], [0.5, 0.25], [3]))).toEqual([]);
    expect(apart(eager, twin([1, 2.0009], [0.5, 0.259], [3]), 1e-3)).toEqual([]);
  });

  it('differ by losses, by weights, and by how many there are', () => {
    expect(apart(eager, twin([1, 2.1], [0.5, 0.25], [3]))).toEqual([jasmine.stringMatching(/^losses: 0\.1/)]);
    expect(apart(eager, twin([1], [0.5, 0.25], [3]))).toEqual([jasmine.stringMatching(/^losses: 1 numbers/)]);
    expect(apart(eager, twin([1, 2], [0.5, 0.25], [3.5]))).toEqual([jasmine.stringMatching(/^weight 1: 0\.5/)]);
    expect(apart(eager, twin([1, 2], [0.5], [3]))).toEqual([jasmine.stringMatching(/^weight 0: 1 numbers/)]);
    expect(apart(eager, twin([1, 2]))).toEqual(['0 weights, op by op 2']);
    expect(apart(eager, twin([1, NaN], [0.5, 0.25], [3]))).toEqual(['losses: not all numbers are finite']);
    expect(apart(eager, twin([1, 2], [0.5, NaN], [3]))).toEqual(['weight 0: not all numbers are finite']);
  });
});
