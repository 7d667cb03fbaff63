/** What graphs of ONNX say in a way of their own. */
import { OnnxType, type OnnxTensor } from '../../../base/protobuf/onnx_messages.js';
import type { OpenTable } from '../../../tables/keys/open_table.js';
import type { GraphVariable } from '../../saved_model/graph/function_builder.js';
import type { FoundKeys, GraphForm, NumberTable, Scan, Scanned } from '../../saved_model/graph/graph_form.js';
import { Operations } from '../../saved_model/graph/operations.js';
import { presentWords } from '../../saved_model/graph/tensorflow_form.js';
import type { Shape, Value } from '../../saved_model/graph/value.js';
import { finishedGraph } from './finished.js';
import { RefusedOp } from '../../saved_model/graph/refused_op.js';
import { bytesOfText, type OnnxGraph, type Settings } from './onnx_graph.js';

const ML = 'ai.onnx.ml';

function int64Tensor(values: BigInt64Array): OnnxTensor {
  const bytes = new Uint8Array(8 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => view.setBigInt64(8 * i, value, true));
  return { dims: [values.length], dataType: OnnxType.int64, rawData: bytes };
}

/**
 * Largest number in a table whose rows are summed up one after the other: with larger ones the sums of bags that come
 * late would lose digits.
 */
const MOST = 1024;

export class OnnxForm implements GraphForm {
  readonly runtime = 'ONNX';
  /** Tables of which it is not known yet whether their rows can be summed up. */
  readonly asked = new Set<GraphVariable>();

  /** `largest`: the largest magnitude in a table, NaN where it holds one. */
  constructor(
    readonly graph: OnnxGraph,
    readonly largest: ReadonlyMap<string, number>,
  ) {}

  scan(o: Operations, { sequences, states, outside, keepsAll, ...scan }: Scan): Scanned {
    const around = o.graph as OnnxGraph;
    const body = around.child();
    const argument = (x: Value, shape: Shape): Value => body.argument(x.dtype, shape, `${body.scope}step`);
    const before = states.map((state) => argument(state, state.shape));
    const items = sequences.map((each) => argument(each, each.shape.slice(1)));
    const after = scan.step(new Operations(body), before, items, outside);
    const kept = keepsAll ? [after[0]!] : [];
    const names = [...after, ...kept].map(() => body.free(`${body.scope}next`));
    const g = finishedGraph(body, [...after, ...kept], names, body.scope);
    const results = [
      ...states.map(({ dtype, shape }) => ({ dtype, shape })),
      ...kept.map(({ dtype, shape }) => ({ dtype, shape: [scan.length, ...shape] })),
    ];
    const settings = { body: { g }, num_scan_inputs: { i: sequences.length } };
    const made = around.ops('Scan', [...states, ...sequences], results, settings);
    return { states: made.slice(0, states.length), all: keepsAll ? made.at(-1)! : null };
  }

  /** What each known one becomes; -1 for others. */
  #encoded(g: OnnxGraph, x: Value, settings: Settings): Value {
    return g.narrow(g.op('LabelEncoder', [x], { dtype: 'int64', shape: x.shape }, settings, ML));
  }

  #ofNumbers(g: OnnxGraph, numbers: Value, keys: BigInt64Array, ids: ArrayLike<number>): Value {
    const values = BigInt64Array.from({ length: ids.length }, (_, i) => BigInt(ids[i]!));
    return this.#encoded(g, g.wide(numbers), {
      keys_tensor: { t: int64Tensor(keys) },
      values_tensor: { t: int64Tensor(values) },
      default_tensor: { t: int64Tensor(BigInt64Array.of(-1n)) },
    });
  }

  #ofTexts(g: OnnxGraph, texts: Value, keys: readonly string[], ids: ArrayLike<number>): Value {
    return this.#encoded(g, texts, {
      keys_strings: { strings: keys.map(bytesOfText) },
      values_int64s: { ints: Array.from(ids) },
      default_int64: { i: -1 },
    });
  }

  findKeys(o: Operations, table: OpenTable, keys: Value, padding: readonly bigint[]): FoundKeys {
    const g = o.graph as OnnxGraph;
    // Rows in place of keys.
    if (keys.dtype === 'int32') {
      if (table.lookups > 1)
        throw new RefusedOp(`whose unknown keys are sums of ${table.lookups} rows, with keys 'rows'`);
      return { row: keys, isFound: null, present: o.compare('GreaterEqual', keys, 0), words: () => keys };
    }
    const { keys: words, rows } = table.frozenKeys();
    if (keys.dtype === 'string') return this.#findTexts(o, table, keys, rows);
    const row = this.#ofNumbers(g, keys, words, rows);
    const isFound = o.compare('GreaterEqual', row, 0);
    return { row, isFound, present: presentWords(o, keys, padding), words: () => keys };
  }

  #findTexts(o: Operations, table: OpenTable, keys: Value, rows: Int32Array): FoundKeys {
    const g = o.graph as OnnxGraph;
    if (!table.keepTexts) throw new RefusedOp(`whose table ${table.name} has no texts of its keys (keepTexts: false)`);
    const used = rows.filter((row) => row >= 0);
    const texts = used.length === 0 ? [''] : (table.keysOf(used) as string[]);
    const row = this.#ofTexts(g, keys, texts, used.length === 0 ? [-1] : used);
    const { paddingKey } = table;
    const present =
      paddingKey === null ? null : o.compare('Less', this.#ofTexts(g, keys, [String(paddingKey)], [0]), 0);
    const words = (): never => {
      throw new RefusedOp('whose unknown keys share rows by a hash of their texts, which ONNX lacks');
    };
    return { row, isFound: o.compare('GreaterEqual', row, 0), present, words };
  }

  findNumbers(o: Operations, numbers: Value, { keys, ids }: NumberTable, unknown: Value): Value {
    if (keys.length === 0) return unknown;
    const found = this.#ofNumbers(o.graph as OnnxGraph, numbers, BigInt64Array.from(keys, BigInt), ids);
    return o.where(o.compare('GreaterEqual', found, 0), found, unknown);
  }

  canSumBags(table: GraphVariable): boolean {
    const largest = this.largest.get(table.name);
    if (largest === undefined) this.asked.add(table);
    return largest === undefined || largest <= MOST;
  }

  /** The differences of sums of all rows so far, in double: each row is read once, whatever threads do. */
  sumBags(o: Operations, numbers: Value, rowSplits: Value): Value {
    const g = o.graph as OnnxGraph;
    const dim = numbers.shape[1]!;
    const rows = rowSplits.shape[0] === null ? null : rowSplits.shape[0]! - 1;
    const double = (shape: Shape): { dtype: 'float64'; shape: Shape } => ({ dtype: 'float64', shape });
    const sums = g.op('CumSum', [g.cast(numbers, 'float64'), g.constant([0], 'int64', [])], double(numbers.shape));
    const none = g.constant(
      Array.from({ length: dim }, () => 0),
      'float64',
      [1, dim],
    );
    const all = g.op('Concat', [none, sums], double([null, dim]), { axis: { i: 0 } });
    const at = g.op('Gather', [all, g.wide(rowSplits)], double([rowSplits.shape[0]!, dim]), { axis: { i: 0 } });
    const part = (from: number, to: bigint): Value =>
      g.op('Slice', [at, g.int64s([from]), g.int64s([to]), g.int64s([0])], double([rows, dim]));
    return g.cast(g.op('Sub', [part(1, 2n ** 63n - 1n), part(0, -1n)], double([rows, dim])), 'float32');
  }
}
