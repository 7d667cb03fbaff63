/**
 * What makes an index of plain arrays, for layers that were saved with one: the main entries and `emb.ann` say it, so that
 * pages which only rank are without its code.
 */
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import type { AnnIndex, AnnParts } from './ann_index.js';

const state = perProcess('ann', () => ({ make: null as ((parts: AnnParts) => AnnIndex) | null }));

export function offerIndexes(make: (parts: AnnParts) => AnnIndex): void {
  state.make = make;
}

/** The index of these arrays. */
export function makeIndex(parts: AnnParts): AnnIndex {
  if (state.make !== null) return state.make(parts);
  const expected = 'the code of indexes, which `tfjs-embeddings` has';
  throw new RuntimeError('index', expected, described('`tfjs-embeddings/ranking` alone'), 'Import the main entry.');
}
