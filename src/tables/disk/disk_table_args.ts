/** What makes a disk table. */
import type { SparseOptimizer } from '../../optimizers/sparse_optimizer.js';
import type { InitializerInput } from '../initializers.js';
import type { RowDtype } from './row_format.js';
import type { DiskIo } from './row_reader.js';

/** Reads at a time where nothing is said. */
export const THREADS = 16;

/** Arguments of a table whose rows lie in a file. */
export interface DiskTableArgs {
  /** Saved with the model: layers that name the same table share it again. Default: disk_table, with a number. */
  name?: string | undefined;
  /** The path of an `.npy` or safetensors file, or of the index of several of these. */
  file: string;
  /** Its name in the file; null (default): the only table there. */
  tensor?: string | null | undefined;
  /** Memory for rows, which lie there as float32; optimizers' slots of the same rows come on top. Default: 2^28. */
  cacheBytes?: number | undefined;
  /** How the file is read. */
  io?: DiskIo | undefined;
  /** Whether training changes the file, which `diskTable.create` made. Default: false. */
  trainable?: boolean | undefined;
  /** Where a file of the same rows is made, as float32, that training changes in place of `file`. Default: null. */
  copyTo?: string | null | undefined;
  /** An `emb.train` optimizer for this table alone; `compile` must be given one too. Default: null. */
  optimizer?: SparseOptimizer | null | undefined;
}

export const DISK_TABLE_ARGUMENTS = [
  'name',
  'file',
  'tensor',
  'cacheBytes',
  'io',
  'trainable',
  'copyTo',
  'optimizer',
] as const satisfies readonly (keyof DiskTableArgs)[];

/** Arguments of a table whose file is made. */
export interface CreateDiskTableArgs extends Omit<DiskTableArgs, 'tensor' | 'copyTo'> {
  /** Number of rows. */
  rows: number;
  /** Number of columns. */
  outputDim: number;
  /** What rows begin with. Default: 'randomUniform', from -0.05 to 0.05. */
  embeddingsInitializer?: InitializerInput | null | undefined;
  /** Seed of an initializer given by name; null (default): another one each time. */
  seed?: number | null | undefined;
  /** How rows lie in the file: 'float32' (default), or, for lookups alone, 'float16', 'bfloat16' or 'int8'. */
  dtype?: RowDtype | undefined;
  /** Default: whether rows are float32. */
  trainable?: boolean | undefined;
}

export const CREATE_ARGUMENTS = [
  'name',
  'file',
  'rows',
  'outputDim',
  'embeddingsInitializer',
  'seed',
  'dtype',
  'cacheBytes',
  'io',
  'trainable',
  'optimizer',
] as const satisfies readonly (keyof CreateDiskTableArgs)[];
