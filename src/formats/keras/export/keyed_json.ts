/** Layers over open tables as Keras has them: a lookup of the keys that have a row, and an embedding of those rows. */
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../../base/errors.js';
import { rowBlocks } from '../../../base/row_blocks.js';
import { littleEndianBytes } from '../../../io/byte_order.js';
import type { TableLayer } from '../../../layers/embedding/table_layer.js';
import { RaggedEmbedding } from '../../../layers/embedding/ragged_embedding.js';
import { readRowsAt } from '../../../lookup/lookup.js';
import { NO_ROW } from '../../../tables/keys/open_rows.js';
import { isOpenTable } from '../../../tables/keys/is_open_table.js';
import type { OpenTable } from '../../../tables/keys/open_table.js';
import { layerError } from '../layer_error.js';
import type { Hdf5Array } from './hdf5_bytes.js';
import { keras, namedLayer, type LayerEntry } from './layer_json.js';
import { tableEntry } from './table_json.js';

type KeyedLayer = TableLayer & tf.layers.Layer & { readonly table: OpenTable };

/** Numbers of 64 bits, which JSON of JavaScript cannot hold; `withWholeNumbers` makes numbers of them. */
const WHOLE = 'tfjs-embeddings whole number ';

/** A layer as two of Keras. */
export interface FrozenLayer {
  /** What gives ids; each call of the layer has its own. */
  readonly lookup: (name: string) => LayerEntry;
  readonly entry: LayerEntry;
  /** The rows of those ids. */
  readonly rows: Omit<Hdf5Array, 'path'>;
  /** Ids below this one count nowhere. */
  readonly firstCounted: number;
}

/** Whether a layer looks keys up. */
export function isKeyed(layer: tf.layers.Layer): layer is KeyedLayer {
  return isOpenTable((layer as { table?: unknown }).table);
}

/** Throws ValueError, which names the layer and the field, for what lookups of Keras cannot do. */
export function frozenLayer(layer: KeyedLayer, model: tf.LayersModel): FrozenLayer {
  const { table } = layer;
  const named = namedLayer(layer);
  const isText = table.keyKind === 'string';
  const others = model.layers.filter((each) => (each as { table?: unknown }).table === table);
  if (others.length > 1) {
    const received = described(`table ${table.name}, which ${others.map(({ name }) => name).join(', ')} share`);
    throw layerError(named, 'table', 'a table of its own: a layer of Keras owns its table', received);
  }
  if (typeof table.unknown !== 'string') {
    throw layerError(
      named,
      'table.unknown',
      "'zero' or 'drop': lookups of Keras share rows by other hashes",
      table.unknown,
    );
  }
  if (isText && !table.keepTexts) {
    throw layerError(named, 'table.keepTexts', 'true: Keras looks texts up by themselves', false);
  }
  const padding = paddingOf(layer);
  const first = layer.inboundNodes[0]?.inputTensors[0];
  const isRagged = (first?.sourceLayer as { ragged?: boolean } | undefined)?.ragged === true;
  if (padding === null && (isRagged || layer instanceof RaggedEmbedding)) {
    throw layerError(named, 'table.paddingKey', 'a key that pads rows: Keras has none of different lengths', null);
  }
  const { keys, rows } = table.frozenKeys();
  const hasRows = rows[0]! >= 0;
  const texts = isText && hasRows ? (table.keysOf(rows) as string[]) : [];
  const all = isText ? texts : hasRows ? Array.from(keys, (key) => WHOLE + String(key)) : [];
  const known = all.map((token, i) => ({ token, row: rows[i]! })).filter(({ token }) => token !== padding);
  const specials = padding === null ? 1 : 2;
  const lookup = (name: string): LayerEntry =>
    keras(isText ? 'StringLookup' : 'IntegerLookup', {
      name,
      num_oov_indices: 1,
      mask_token: padding,
      oov_token: freeToken(new Set([...all, padding ?? '']), isText),
      vocabulary: known.map(({ token }) => token),
    });
  const sources = Int32Array.from([...new Array<number>(specials).fill(NO_ROW), ...known.map(({ row }) => row)]);
  const shape = [sources.length, table.outputDim];
  const entry = tableEntry(layer, { inputDim: sources.length, config: table.getConfig() as never });
  return {
    lookup,
    entry,
    rows: { dtype: 'float32', shape, pieces: () => piecesOf(table, sources) },
    firstCounted: table.unknown === 'drop' ? specials : specials - 1,
  };
}

/** The key that stands for nothing, as Keras takes it; null: none does. */
function paddingOf(layer: KeyedLayer): string | null {
  const { table, maskZero } = layer;
  const { paddingKey } = table;
  const named = namedLayer(layer);
  if (maskZero && table.keyKind === 'string') {
    throw layerError(named, 'maskZero', 'false: no text is 0', true);
  }
  if (maskZero && (table.paddingWord ?? 0n) !== 0n) {
    throw layerError(named, 'table.paddingKey', 'null or 0 beside maskZero: Keras masks one token', paddingKey);
  }
  if (maskZero) return `${WHOLE}0`;
  if (paddingKey === null) return null;
  return table.keyKind === 'string' ? String(paddingKey) : WHOLE + String(table.paddingWord);
}

/** A token that no key is. */
function freeToken(taken: ReadonlySet<string>, isText: boolean): string {
  let n = 1;
  const token = (): string => (isText ? `[UNK${n === 1 ? '' : n}]` : `${WHOLE}${-n}`);
  while (taken.has(token())) n += 1;
  return token();
}

/** Rows of a table in another order, a few at a time. */
async function* piecesOf(table: OpenTable, sources: Int32Array): AsyncGenerator<Uint8Array> {
  for (const { firstRow, rows } of rowBlocks({ rows: sources.length, columns: table.outputDim })) {
    yield littleEndianBytes(readRowsAt(table.built(), sources.subarray(firstRow, firstRow + rows)));
  }
}

/** JSON text in which whole numbers of 64 bits stand for themselves. */
export function withWholeNumbers(text: string): string {
  return text.replace(new RegExp(`"${WHOLE}(-?\\d+)"`, 'g'), '$1');
}
