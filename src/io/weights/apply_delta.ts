/** Brings the tables of a model up to date with the rows that changed elsewhere. */
import * as tf from '@tensorflow/tfjs';
import { numbersShape, tableOf } from '../../backends/table.js';
import { storeInUse } from '../../backends/registry.js';
import { addedChecksums, checksumOf, NO_ELEMENTS, sameChecksum, type Checksum } from '../../backends/table_checksum.js';
import { changedRows } from '../../backends/table_delta.js';
import { rowsRead, writtenTable } from '../../backends/stores/table_rows.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { rowBlocks } from '../../base/row_blocks.js';
import type { ByteInput } from '../byte_source.js';
import { openDelta, type StoredDelta } from './delta_file.js';
import { unknownName, weightsByName } from './load.js';

/** A table of the model, and what becomes of it. */
interface Due {
  readonly weight: tf.LayerVariable;
  readonly delta: StoredDelta;
}

/**
 * Brings tables of a model up to date with a file that `emb.cluster().deltas` wrote. Returns how many rows of each table
 * were written, by its name; 0 where it was up to date.
 *
 * The model may be anywhere: on `cpu`, `wasm`, `tensorflow`, devices or servers, under any plan. Its tables are then those
 * of the cluster to the bit, as they were when the file was written. Each must have the values of the checkpoint that the
 * file was made since; which these are, a checksum of the whole table tells, so that deltas apply in their order alone.
 * All tables are read once and compared before anything is written; what is interrupted can be repeated.
 *
 * Edge cases: tables of the model that the file does not have stay as they are; slots of optimizers are not in it.
 *
 * @param model - A layers model whose tables are called as those of the cluster.
 * @param source - A path, a URL, bytes or a Blob.
 * @returns A promise of the numbers of rows.
 * @throws TypeError for anything but a model; ValueError for a file that is no delta or is damaged, for tables that the
 * model lacks or has in another size or precision, and for a table that is neither what the delta was made from nor what
 * it leads to. RuntimeError where the file cannot be read.
 * Source: the safetensors format (safetensors 0.4); what the header of the file says beside is ours.
 *
 * @example
 * await emb.weights.applyDelta(model, 'ctr-100.safetensors'); // { 'tables/users/embeddings': 8211 }
 */
export async function applyDelta(model: tf.LayersModel, source: ByteInput): Promise<Record<string, number>> {
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a tf.LayersModel', model);
  const opened = await openDelta(source);
  try {
    const weights = weightsByName(model);
    const all = opened.tables.map((delta): Due => ({ weight: tableWeight(delta, weights), delta }));
    const due: Due[] = [];
    for (const each of all) if (await isDue(each, opened.name)) due.push(each);
    for (const each of due) await apply(each);
    return Object.fromEntries(
      all.map((each) => [each.delta.name, due.includes(each) ? changedRows(each.delta.parts) : 0]),
    );
  } finally {
    opened.close();
  }
}

function tableWeight(
  { name, rows, columns }: StoredDelta,
  weights: ReadonlyMap<string, tf.LayerVariable>,
): tf.LayerVariable {
  const weight = weights.get(name);
  if (weight === undefined) throw unknownName('source', 'tables called as weights of the model', name, weights.keys());
  const variable = weight.read();
  const [shape, { codec }] = [numbersShape(variable), tableOf(variable)];
  const text = (of: readonly number[], type: string): string => `${type} [${of.join(', ')}] for ${name}`;
  const type = codec.isPlain ? weight.dtype : codec.name;
  if (type === 'float32' && tf.util.arraysEqual([...shape], [rows, columns])) return weight;
  const note =
    type === 'float32' ? undefined : 'Rows of less precision have no bits in common with those of a cluster.';
  throw new ValueError('model', text([rows, columns], 'float32'), described(text(shape, type)), note);
}

/** Whether the delta is to be applied. Throws ValueError where it does not fit. */
async function isDue({ weight, delta }: Due, source: string): Promise<boolean> {
  const { name, base, result, rows, columns } = delta;
  const variable = weight.read();
  let [before, after]: [Checksum, Checksum] = [NO_ELEMENTS, NO_ELEMENTS];
  for (const block of rowBlocks({ rows, columns })) {
    const part = { firstRow: block.firstRow, rowStep: 1, rows: block.rows, firstColumn: 0, columns };
    const values = await rowsOf(variable, block.firstRow, block.rows);
    const old = checksumOf(values, part);
    before = addedChecksums(before, old);
    after = addedChecksums(after, overlay(delta, block.firstRow, values) ? checksumOf(values, part) : old);
  }
  if (sameChecksum(before, result)) return false;
  const hex = (sum: Checksum): string => sum.map((each) => each.toString(16).padStart(8, '0')).join('');
  if (!sameChecksum(before, base)) {
    const expected = `a table ${name} with checksum ${hex(base)}, which ${source} was made from, or ${hex(result)}, which it leads to`;
    const note = 'Deltas apply to the checkpoint that they were made since, in their order.';
    throw new ValueError('model', expected, described(`one with ${hex(before)}`), note);
  }
  if (sameChecksum(after, result)) return true;
  throw new ValueError(
    'source',
    `rows that lead to checksum ${hex(result)} of ${name}`,
    described(`${source}, damaged`),
  );
}

async function apply({ weight, delta }: Due): Promise<void> {
  const variable = weight.read() as tf.Variable;
  const { rows, columns } = delta;
  const rewrite = storeInUse().rewrite(variable);
  if (rewrite !== null) {
    for (const { firstRow, rows: count } of rowBlocks({ rows, columns })) {
      if (!hasChanges(delta, firstRow, count)) continue;
      const values = await rowsOf(variable, firstRow, count);
      overlay(delta, firstRow, values);
      rewrite(firstRow, values);
    }
    return;
  }
  const values = await rowsOf(variable, 0, rows);
  overlay(delta, 0, values);
  const table = writtenTable<tf.Rank.R2>([rows, columns], (write) => write(0, values));
  weight.write(table);
  table.dispose();
}

/** Some rows, which may be written over. */
async function rowsOf(table: tf.Tensor, firstRow: number, rows: number): Promise<Float32Array> {
  const values = new Float32Array(rows * table.shape[1]!);
  const read = await rowsRead(table, firstRow, rows, values);
  if (read !== values) values.set(read);
  return values;
}

/** The first place in ascending ids of one that is not below `least`. */
function placeOf(ids: Int32Array, least: number): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function hasChanges({ parts }: StoredDelta, firstRow: number, rows: number): boolean {
  return parts.some(({ ids }) => placeOf(ids, firstRow) < placeOf(ids, firstRow + rows));
}

/** Writes changed rows over rows from `firstRow` on; false: none of them changed. */
function overlay({ parts, columns }: StoredDelta, firstRow: number, values: Float32Array): boolean {
  const end = firstRow + values.length / columns;
  let isChanged = false;
  for (const part of parts) {
    const [from, to] = [placeOf(part.ids, firstRow), placeOf(part.ids, end)];
    if (from === to) continue;
    isChanged = true;
    const given = part.values(from, to);
    for (let place = from; place < to; place++) {
      const at = (part.ids[place]! - firstRow) * columns + part.firstColumn;
      const start = (place - from) * part.columns;
      values.set(given.subarray(start, start + part.columns), at);
    }
  }
  return isChanged;
}
