/**
 * Ragged rows that are given to a stock model. Its methods are tfjs's own, which look for inputs by name in whatever is
 * neither a tensor nor a list; where that is a RaggedTensor, the error says what to write.
 */
import { ValueError, described } from '../base/errors.js';

/** The functions of tfjs that read what a model is fed. */
const READERS = /\b(standardizeInputData|ensureTensorsRank2OrHigher)\b/;
/** What `instanceof` of tensors, promises and the like look for. */
const ASKED: ReadonlySet<PropertyKey> = new Set(['data', 'dataSync', 'throwIfDisposed', 'dispose', 'then', 'toJSON']);

/** Throws ValueError where a stock model calls the getter that calls this. */
export function refuseStockModels(): undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 3;
  const caller = new Error('who reads').stack?.split('\n')[3] ?? '';
  Error.stackTraceLimit = stackTraceLimit;
  if (!READERS.test(caller)) return undefined;
  const note =
    'Only models with a layer or an input of this package take ragged rows: emb.input({shape: [null], ragged: true}). ' +
    'Others take padded ones: x.toPadded({defaultValue: 0}).';
  throw new ValueError('x', 'tensors, as the model is one of TensorFlow.js alone', described('ragged rows'), note);
}

/** A prototype without properties, at which each look for one ends. */
export const refusingStockModels: object = new Proxy(
  {},
  {
    get(target, key, receiver): unknown {
      if (typeof key === 'string' && !ASKED.has(key)) refuseStockModels();
      return Reflect.get(target, key, receiver);
    },
  },
);
