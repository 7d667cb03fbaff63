/** What graphs of TensorFlow say in a way of their own. */
import type { FunctionMessage } from '../../../base/protobuf/graph_messages.js';
import type { OpenTable } from '../../../tables/keys/open_table.js';
import { FunctionBuilder, type, type GraphVariable } from './function_builder.js';
import type { FoundKeys, GraphForm, NumberTable, Scan, Scanned } from './graph_form.js';
import { scanByLoop } from './loops.js';
import type { Operations } from './operations.js';
import type { Value } from './value.js';

/** The keys of a table as a SavedModel holds them. */
export interface KeptKeys {
  /** int64 [keys], ascending. */
  readonly keys: GraphVariable;
  /** int32 [keys], where they lie. */
  readonly rows: GraphVariable;
}

/** Places in ascending values before which (`LowerBound`) or behind which (`UpperBound`) numbers belong; both vectors. */
export function placesIn(o: Operations, op: 'LowerBound' | 'UpperBound', sorted: Value, numbers: Value): Value {
  const places = o.graph.node(op, [o.expandDims(sorted, 0), o.expandDims(numbers, 0)], {
    attr: { T: type(numbers.dtype), out_type: type('int32') },
    dtype: 'int32',
    shape: [1, ...numbers.shape],
  });
  return o.squeeze(places, [0]);
}

/** Flat keys as int64 [n]: numbers as they are, of texts the fingerprint of their UTF-8. */
function wordsOf(o: Operations, keys: Value): Value {
  if (keys.dtype !== 'string') return o.cast(keys, 'int64');
  const bytes = o.graph.node('Fingerprint', [keys, stringConstant(o, 'farmhash64')], {
    attr: { T: type('string') },
    dtype: 'uint8',
    shape: [null, 8],
    output: 'fingerprint',
  });
  const attr = { T: type('uint8'), type: type('int64') };
  return o.graph.node('Bitcast', [bytes], { attr, dtype: 'int64', shape: [null] });
}

function stringConstant({ graph }: Operations, value: string): Value {
  const tensor = { dtype: type('string').type!, shape: { dim: [] }, strings: [new TextEncoder().encode(value)] };
  return graph.node('Const', [], {
    attr: { dtype: type('string'), value: { tensor } },
    dtype: 'string',
    shape: [],
  });
}

export class TensorFlowForm implements GraphForm {
  readonly runtime = 'TensorFlow';
  /** Functions that ops of the graph call. */
  readonly functions: FunctionMessage[] = [];

  constructor(
    readonly name: string,
    readonly keysOf: (table: OpenTable) => KeptKeys,
  ) {}

  scan(o: Operations, scan: Scan): Scanned {
    const add = (name: string, make: (graph: FunctionBuilder) => readonly Value[]): FunctionMessage => {
      const builder = new FunctionBuilder(`${this.name}_${name}_${this.functions.length}`);
      const outputs = make(builder);
      const made = builder.finish(outputs);
      this.functions.push(made);
      return made;
    };
    return scanByLoop(o, add, scan);
  }

  findKeys(o: Operations, table: OpenTable, keys: Value, padding: readonly bigint[]): FoundKeys {
    const kept = this.keysOf(table);
    const words = wordsOf(o, keys);
    const sorted = o.read(kept.keys);
    const place = o.minimum(placesIn(o, 'LowerBound', sorted, words), kept.keys.shape[0]! - 1);
    const row = o.gather(o.read(kept.rows), place);
    const isFound = o.and(o.compare('Equal', o.gather(sorted, place), words), o.compare('GreaterEqual', row, 0));
    return { row, isFound, present: presentWords(o, words, padding), words: () => words };
  }

  findNumbers(o: Operations, numbers: Value, { keys, ids }: NumberTable, unknown: Value): Value {
    if (keys.length === 0) return unknown;
    const sorted = o.ints(keys);
    const places = o.minimum(placesIn(o, 'LowerBound', sorted, o.reshape(numbers, [null])), keys.length - 1);
    const shaped = o.reshape(places, o.sizesOf(numbers), numbers.shape);
    return o.where(o.compare('Equal', o.gather(sorted, shaped), numbers), o.gather(o.ints(ids), shaped), unknown);
  }

  /** Rows are padded, or summed up by the op of this package. */
  canSumBags(): boolean {
    return false;
  }

  sumBags(): never {
    throw new Error('bags are padded');
  }
}

/** Which keys are none of those that stand for nothing; null: all. */
export function presentWords(o: Operations, words: Value, padding: readonly bigint[]): Value | null {
  return padding
    .map((each) => o.compare('NotEqual', words, o.graph.constant([each], 'int64', [])))
    .reduce<Value | null>((all, each) => (all === null ? each : o.and(all, each)), null);
}
