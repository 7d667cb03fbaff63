/** Tables and slots in files: in the global layout, so that any number of devices reads what any other has written. */
import * as tf from '@tensorflow/tfjs';
import { devicesInUse } from '../../backends/registry.js';
import { rowBlocks } from '../../base/row_blocks.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { writeNpy } from '../../io/npy_writer.js';
import { openPath } from '../../io/table_file.js';
import { writeTables, type TableWrite } from '../../tables/writes.js';
import { readOptions } from '../../base/options.js';

/** `tfjs`: model.json and binary weights, as tfjs writes them. `npy`: a file for each table and slot. */
export type CheckpointFormat = 'tfjs' | 'npy';

export interface SaveOptions {
  /** `tfjs` by default. */
  format?: CheckpointFormat | undefined;
}

/** Rows that lie elsewhere in another order, as those of the global layout. */
export interface RowsElsewhere {
  readonly shape: readonly [rows: number, columns: number];
  read(firstRow: number, rows: number): Float32Array;
  write(firstRow: number, values: Float32Array): void;
}

/** A table or a slot, [rows, columns], under the name by which it is saved. */
export interface SavedVariable {
  readonly name: string;
  readonly variable: tf.Variable | RowsElsewhere;
}

const FORMATS: readonly CheckpointFormat[] = ['tfjs', 'npy'];
const MODEL_JSON = 'model.json';

function checkDirectory(directory: unknown): string {
  const expected = 'the path of a folder, or a URL that tfjs knows, such as indexeddb://tables';
  if (typeof directory !== 'string') throw new ArgumentTypeError('directory', expected, directory);
  if (directory === '') throw new ValueError('directory', expected, directory);
  return directory;
}

function readFormat(options: unknown): CheckpointFormat {
  const { format = 'tfjs' } = readOptions<SaveOptions>(options, ['format']);
  const known = FORMATS.find((each) => each === format);
  if (known === undefined) throw new ValueError('format', `one of ${FORMATS.join(', ')}`, format);
  return known;
}

function hasScheme(directory: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(directory);
}

/** The file of a variable: slots beside their table. */
function fileOf(directory: string, name: string): string {
  const path = directory.replace(/^file:\/\//, '').replace(/\/+$/, '');
  return `${path}/${encodeURIComponent(name).replaceAll('%2F', '.')}.npy`;
}

function fileExists(path: string): boolean {
  try {
    openPath(path, 'directory').close();
    return true;
  } catch (error) {
    if (error instanceof ValueError) return false;
    throw error;
  }
}

function handlerOf(directory: string, isSave: boolean): tf.io.IOHandler {
  const url = hasScheme(directory) ? directory : `file://${directory}`;
  const [handler] = isSave ? tf.io.getSaveHandlers(url) : tf.io.getLoadHandlers(url);
  if (handler !== undefined) return handler as tf.io.IOHandler;
  const note = "file:// is for Node and comes with 'tfjs-embeddings/node'.";
  throw new RuntimeError('directory', 'a place for which tfjs has a handler', described(url), note);
}

/** How whole rows are read that do not lie on the host; null for those that do. */
function readerOf(variable: SavedVariable['variable']): RowsElsewhere['read'] | null {
  if (!(variable instanceof tf.Variable)) return (firstRow, rows) => variable.read(firstRow, rows);
  const devices = devicesInUse();
  return devices === null ? null : (firstRow, rows) => devices.readRows(variable, firstRow, rows);
}

/** Whole rows from the devices, or from the host, in blocks. */
function* blocksOf(variable: SavedVariable['variable']): Generator<Float32Array> {
  const [rows, columns] = variable.shape as [number, number];
  const read = readerOf(variable);
  if (read === null) {
    yield (variable as tf.Variable).dataSync<'float32'>();
    return;
  }
  for (const block of rowBlocks({ rows, columns })) yield read(block.firstRow, block.rows);
}

/** The values as one tensor, as the format of tfjs wants them; `made` takes those that are to be disposed. */
function tensorOf({ variable }: SavedVariable, made: tf.Tensor[]): tf.Tensor {
  if (variable instanceof tf.Variable) return variable;
  const [rows, columns] = variable.shape;
  const tensor = tf.tensor2d(variable.read(0, rows), [rows, columns]);
  made.push(tensor);
  return tensor;
}

/** Weights as tfjs writes them. Tensors that are made for that are gone afterwards, even where a variable cannot be read. */
async function encoded(variables: readonly SavedVariable[]): ReturnType<typeof tf.io.encodeWeights> {
  const made: tf.Tensor[] = [];
  try {
    return await tf.io.encodeWeights(variables.map((each) => ({ name: each.name, tensor: tensorOf(each, made) })));
  } finally {
    tf.dispose(made);
  }
}

/**
 * Writes variables into a folder or to a URL of tfjs. Slots go beside their tables.
 * Throws TypeError for what is no path; ValueError for another format; RuntimeError where files cannot be written.
 */
export async function saveVariables(
  variables: readonly SavedVariable[],
  directory: unknown,
  options: unknown,
): Promise<void> {
  const place = checkDirectory(directory);
  const format = readFormat(options);
  if (format === 'npy') {
    if (fileExists(fileOf(place, 'x').replace(/[^/]*$/, MODEL_JSON))) {
      const received = described(`${place}, which holds ${MODEL_JSON}`);
      throw new ValueError('directory', 'a folder without tables in the format tfjs', received);
    }
    for (const { name, variable } of variables) {
      await writeNpy(fileOf(place, name), variable.shape, blocksOf(variable));
    }
    return;
  }
  const { data, specs } = await encoded(variables);
  const artifacts = { modelTopology: {}, format: 'embedding-tables', weightSpecs: specs, weightData: data };
  await handlerOf(place, true).save!(artifacts);
}

/** Writes values into variables: all are checked before the first is written. */
export function writeVariables(
  variables: readonly SavedVariable[],
  values: readonly unknown[],
  argumentOf: (i: number) => string,
  options: unknown = {},
): void {
  const writes = variables.map(({ name, variable }, i): TableWrite => {
    const [rows, columns] = variable.shape as [number, number];
    const written = { table: i, argument: argumentOf(i), values: values[i], name, rows, columns };
    if (!(variable instanceof tf.Variable)) {
      const devices = { writeRows: (_: tf.Variable, row: number, part: Float32Array) => variable.write(row, part) };
      return { ...written, weight: { read: () => null } as unknown as tf.LayerVariable, devices };
    }
    const weight = { read: () => variable, write: (value: tf.Tensor) => variable.assign(value) };
    return { ...written, weight: weight as unknown as tf.LayerVariable, devices: devicesInUse() };
  });
  writeTables(writes, options);
}

/**
 * Reads variables from where `saveVariables` has put them, in either format; others that lie there are left alone.
 * Throws ValueError for variables that are missing or of another shape; nothing is written then.
 */
export async function loadVariables(variables: readonly SavedVariable[], directory: unknown): Promise<void> {
  const place = checkDirectory(directory);
  const isFolder = !hasScheme(place) || place.startsWith('file://');
  const files = variables.map(({ name }) => fileOf(place, name));
  const isNpy = isFolder && !fileExists(fileOf(place, 'x').replace(/[^/]*$/, MODEL_JSON)) && fileExists(files[0]!);
  if (isNpy) {
    writeVariables(variables, files, (i) => variables[i]!.name);
    return;
  }
  const url = isFolder ? `${place}/${MODEL_JSON}` : place;
  const { weightSpecs = [], weightData } = await handlerOf(url, false).load!();
  const tensors = tf.io.decodeWeights(weightData as ArrayBuffer, weightSpecs);
  try {
    const found = variables.map(({ name, variable }) => {
      const tensor = tensors[name];
      if (tensor !== undefined) return tensor;
      const names = Object.keys(tensors).join(', ');
      throw new ValueError(
        name,
        `values of shape [${variable.shape.join(', ')}]`,
        described(`none in ${place} (${names})`),
      );
    });
    writeVariables(variables, found, (i) => variables[i]!.name);
  } finally {
    tf.dispose(tensors);
  }
}
