/** Tables in files that are there, and in new ones. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { checkBoolean, checkDimension, checkName } from '../../base/layer_arguments.js';
import { nextName } from '../../base/layer_names.js';
import { readOptions } from '../../base/options.js';
import { refusePositional } from '../../base/positional.js';
import { pathOf } from '../../io/byte_source.js';
import { checkedInitializer } from '../initial_values.js';
import { readInitializer } from '../initializers.js';
import { checkSeed } from '../table_seed.js';
import { DiskTable } from './disk_table.js';
import {
  CREATE_ARGUMENTS,
  DISK_TABLE_ARGUMENTS,
  type CreateDiskTableArgs,
  type DiskTableArgs,
} from './disk_table_args.js';
import { refuseNetwork } from './file_systems.js';
import { createRowFile } from './row_file.js';
import { formatOf, ROW_FORMATS } from './row_format.js';

/**
 * Returns a table whose rows stay in a file, of which a cache holds those that are asked for often: for tables larger than
 * memory. In Node, on the backends cpu, tensorflow and wasm, with the native addon, on Linux and macOS.
 *
 * The file is `.npy` (float32, float16), safetensors (F32, F16, BF16, and int8 rows of `diskTable.create`), or the index
 * of safetensors files of which one holds the tensor. Rows come as float32. Layers take the table as `table`, and
 * `emb.embeddingLookup` in place of a tensor. The distinct rows of a batch are looked for in the cache; those that are not
 * there are sorted and read by threads of the table, past the page cache where the system allows it. `fit` and
 * `prefetch` have the rows of the next batch read meanwhile. Results never depend on the cache or the threads. A batch of
 * more rows than the cache holds is looked up without it; a training step of as many is refused.
 * Models refer to the file, and hold no weight of it.
 *
 * @param args - The file, and how it is read; see `DiskTableArgs`.
 * @returns Resolves to the table, which is open until `close`.
 * @throws TypeError for wrongly typed arguments; ValueError for a file that is not there or holds no such table, and for
 * a cache that is larger than memory or smaller than a row; RuntimeError where the system refuses, without the addon, and on
 * virtual devices. Lookups throw a RuntimeError, which names row and offset, for a file that ends before, changes or fails.
 *
 * @example
 * const table = await emb.diskTable({ file: 'model.safetensors', tensor: 'ple.weight', cacheBytes: 256e6 });
 * const rows = emb.embeddingLookup(table, [[3, 70_000_000]], { combiner: 'sum' });
 * table.stats(); // { hits: 0, misses: 2, … }
 * table.close();
 */
export async function diskTable(args: DiskTableArgs): Promise<DiskTable>;
export async function diskTable(...all: [DiskTableArgs]): Promise<DiskTable> {
  refusePositional('emb.diskTable', ['file'], all);
  const given = readOptions<DiskTableArgs>(all[0], DISK_TABLE_ARGUMENTS, 'args');
  return new DiskTable(given as DiskTableArgs, checkName(given.name) ?? nextName('disk_table'));
}

/**
 * Makes a file of rows, and returns the table that lies in it: `emb.diskTable.create`.
 *
 * The file is a safetensors file of one tensor `embeddings` [rows, outputDim], which every program that knows the format
 * reads; rows come from the initializer a few at a time, and equal those of `emb.embeddingTable` with the same seed, to
 * the bit. Rows of float32 are trained by `emb.train` optimizers: changed rows, and what the optimizer keeps of them, are
 * written back when others need their place in the cache. Before a row is written for the first time since the last
 * checkpoint, what lay there goes to a journal beside the file (`FILE.journal`), so that opening the file after a crash
 * brings the last checkpoint back. A file has one writer (`FILE.lock`) and any number of readers.
 *
 * @param args - The file and the table; see `CreateDiskTableArgs`.
 * @returns Resolves to the table, open, and to be trained where rows are float32.
 * @throws TypeError for wrongly typed arguments; ValueError for a file that exists, sizes below 1, and training of other
 * rows than float32; RuntimeError where the system refuses, and where there is no room.
 *
 * @example
 * const items = await emb.diskTable.create({ file: 'items.rows', rows: 50_000_000, outputDim: 64, cacheBytes: 1e9 });
 * const layer = emb.layers.embedding({ table: items, combiner: 'mean' });
 */
async function createDiskTable(args: CreateDiskTableArgs): Promise<DiskTable> {
  const given = readOptions<CreateDiskTableArgs>(args, CREATE_ARGUMENTS, 'args') as CreateDiskTableArgs;
  const { file, rows, outputDim, embeddingsInitializer, seed, dtype = 'float32', ...rest } = given;
  if (typeof file !== 'string') throw new ArgumentTypeError('file', 'the path of a file', file);
  if (file === '') throw new ValueError('file', 'the path of a file', file);
  const dtypes = ROW_FORMATS.map((format) => `'${format.dtype}'`).join(', ');
  if (typeof dtype !== 'string') throw new ArgumentTypeError('dtype', `one of ${dtypes}`, dtype);
  const format = formatOf(dtype);
  if (format === undefined) throw new ValueError('dtype', `one of ${dtypes}`, dtype);
  const name = checkName(given.name) ?? nextName('disk_table');
  const [count, dim] = [checkDimension(rows, 'rows'), checkDimension(outputDim, 'outputDim')];
  const trainable = checkBoolean(given.trainable, 'trainable', dtype === 'float32');
  if (trainable && dtype !== 'float32') throw new ValueError('trainable', `false for rows of ${dtype}`, true);
  const initializer = readInitializer(embeddingsInitializer, checkSeed(seed));
  const path = pathOf(file);
  if (trainable) refuseNetwork(path);
  const { fillRows } = checkedInitializer(initializer, { rows: count, columns: dim, name });
  createRowFile(path, { rows: count, dim, format, state: null }, fillRows!);
  return new DiskTable({ ...rest, file, trainable }, name);
}

diskTable.create = createDiskTable;
