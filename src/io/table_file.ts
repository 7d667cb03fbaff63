/** A table in an `.npy` file, read in blocks of rows. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { fromPlatform, type PositionedFile } from '../base/platform.js';
import { readNpyHeader, toFloat32Values, type NpyHeader } from './npy.js';
import { readError } from './system_errors.js';

export interface TableFile {
  readonly rows: number;
  readonly columns: number;
  /** The values of so many rows, row-major: reads those bytes of the file and no others. */
  read(firstRow: number, rows: number): Float32Array;
  /** Closing twice does nothing. */
  close(): void;
}

/**
 * Opens the file at a path. Throws ValueError where there is none; RuntimeError where the system refuses, and where files
 * cannot be opened here.
 */
export function openPath(path: string, argument: string): PositionedFile {
  const note = 'Tensors and typed arrays work everywhere.';
  const openFile = fromPlatform('openFile', argument, `The file ${path}`, note);
  return system(path, argument, () => openFile(path));
}

/**
 * Returns the table in an `.npy` file (versions 1.0 to 3.0; float16, float32 or float64 of either byte order, as float32),
 * open until it is closed.
 *
 *
 * Source: numpy.load with mmap_mode (NumPy 2).
 *
 * @throws ValueError, which names the file, where there is none, and for any other content: other dtypes, column-major
 * order, pickles, cut off files, arrays that are not 2-D. Throws RuntimeError where files cannot be opened here, or where
 * the system refuses.
 */
export function openTable(path: string, argument = 'weights'): TableFile {
  if (typeof path !== 'string') throw new ArgumentTypeError(argument, 'the path of an .npy file', path);
  const file = openPath(path, argument);
  try {
    const header = system(path, argument, () => readNpyHeader(file, path, argument));
    const { shape } = header;
    if (shape.length !== 2) {
      throw new ValueError(argument, 'a 2-D array', described(`${path}, of shape [${shape.join(', ')}]`));
    }
    return new NpyTable(file, header, path, argument);
  } catch (error) {
    file.close();
    throw error;
  }
}

function system<T>(path: string, argument: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw readError(error, path, argument);
  }
}

class NpyTable implements TableFile {
  readonly rows: number;
  readonly columns: number;
  #file: PositionedFile | null;

  constructor(
    file: PositionedFile,
    readonly header: NpyHeader,
    readonly path: string,
    readonly argument: string,
  ) {
    this.#file = file;
    [this.rows, this.columns] = header.shape as [number, number];
  }

  read(firstRow: number, rows: number): Float32Array {
    const file = this.#file;
    if (file === null) throw new RuntimeError(this.argument, 'an open file', described(`${this.path}, closed`));
    this.#checkRange(firstRow, rows);
    const { floats, start } = this.header;
    const bytes = new Uint8Array(rows * this.columns * floats.bytes);
    const position = start + firstRow * this.columns * floats.bytes;
    const count = system(this.path, this.argument, () => file.read(position, bytes));
    if (count < bytes.length) {
      const received = described(`${this.path}, which has become shorter`);
      throw new RuntimeError(this.argument, `${bytes.length} bytes at ${position}`, received);
    }
    return toFloat32Values(bytes, floats);
  }

  #checkRange(firstRow: number, rows: number): void {
    const isWhole = Number.isInteger(firstRow) && Number.isInteger(rows) && firstRow >= 0 && rows >= 0;
    if (isWhole && firstRow + rows <= this.rows) return;
    throw new ValueError('rows', `rows in [0, ${this.rows})`, described(`${rows} from ${firstRow} on`));
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }
}
