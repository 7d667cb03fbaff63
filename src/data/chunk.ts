/** Some rows of a data set, column by column: what files are read into, and what batches are cut from. */

/** Numbers, or texts; of columns that are learned from also those as they were read. */
export type ColumnValues =
  Float32Array | Int32Array | Float64Array | BigInt64Array | BigUint64Array | readonly unknown[];

export interface Column {
  readonly values: ColumnValues;
  /** Values of each row; 0 where rows have different lengths, which `rowSplits` tells. */
  readonly width: number;
  readonly rowSplits: Int32Array | null;
}

export interface Chunk {
  /** Rows. */
  readonly count: number;
  readonly columns: ReadonlyMap<string, Column>;
}

type NumberValues = Float32Array | Int32Array;

const isNumbers = (values: ColumnValues): values is NumberValues => ArrayBuffer.isView(values);

/** Values from `start` to before `end`: a view of numbers, a copy of others. */
export function part<T extends ArrayLike<unknown>>(values: T, start: number, end: number): T {
  if (start === 0 && end === values.length) return values;
  const cut: unknown = ArrayBuffer.isView(values)
    ? (values as unknown as NumberValues).subarray(start, end)
    : (values as unknown as readonly unknown[]).slice(start, end);
  return cut as T;
}

function withColumns(count: number, chunk: Chunk, columnOf: (column: Column, name: string) => Column): Chunk {
  const columns = new Map<string, Column>();
  for (const [name, column] of chunk.columns) columns.set(name, columnOf(column, name));
  return { count, columns };
}

/** Rows from `start` to before `end`. Numbers are views. */
export function sliceChunk(chunk: Chunk, start: number, end: number): Chunk {
  if (start === 0 && end === chunk.count) return chunk;
  return withColumns(end - start, chunk, ({ values, width, rowSplits }) => {
    if (rowSplits === null) return { values: part(values, start * width, end * width), width, rowSplits };
    const first = rowSplits[start]!;
    const splits = rowSplits.slice(start, end + 1);
    if (first !== 0) for (let i = 0; i < splits.length; i++) splits[i]! -= first;
    return { values: part(values, first, rowSplits[end]!), width, rowSplits: splits };
  });
}

/** An empty list of `count` values of the kind of these. */
function roomFor(like: ColumnValues, count: number): NumberValues | unknown[] {
  if (!isNumbers(like)) return [];
  return new (like.constructor as new (count: number) => NumberValues)(count);
}

function gatherColumn({ values, width, rowSplits }: Column, rows: Int32Array): Column {
  const count = rows.length;
  if (rowSplits === null) {
    const picked = roomFor(values, count * width) as Float32Array;
    const from = values as Float32Array;
    if (width === 1) for (let i = 0; i < count; i++) picked[i] = from[rows[i]!]!;
    else {
      for (let i = 0; i < count; i++) {
        const first = rows[i]! * width;
        for (let j = 0; j < width; j++) picked[i * width + j] = from[first + j]!;
      }
    }
    return { values: picked, width, rowSplits };
  }
  const splits = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) splits[i + 1] = splits[i]! + rowSplits[rows[i]! + 1]! - rowSplits[rows[i]!]!;
  const picked = roomFor(values, splits[count]!) as Float32Array;
  const from = values as Float32Array;
  for (let i = 0, at = 0; i < count; i++) {
    const end = rowSplits[rows[i]! + 1]!;
    for (let place = rowSplits[rows[i]!]!; place < end; place++) picked[at++] = from[place]!;
  }
  return { values: picked, width, rowSplits: splits };
}

/** The rows of these numbers, in their order, copied. */
export function gatherChunk(chunk: Chunk, rows: Int32Array): Chunk {
  return withColumns(rows.length, chunk, (column) => gatherColumn(column, rows));
}

function concatColumns(columns: readonly Column[]): Column {
  const { values: like, width, rowSplits: isRagged } = columns[0]!;
  const total = columns.reduce((sum, { values }) => sum + values.length, 0);
  // Files may hold the same column in different types: kept as they are, in a list.
  const isAlike = isNumbers(like) && columns.every((each) => each.values.constructor === like.constructor);
  const values = isAlike ? roomFor(like, total) : [];
  let at = 0;
  for (const each of columns) {
    if (isAlike) (values as Float32Array).set(each.values as Float32Array, at);
    else for (let i = 0; i < each.values.length; i++) (values as unknown[])[at + i] = each.values[i];
    at += each.values.length;
  }
  if (isRagged === null) return { values, width, rowSplits: null };
  const rows = columns.reduce((sum, { rowSplits }) => sum + rowSplits!.length - 1, 0);
  const rowSplits = new Int32Array(rows + 1);
  let row = 0;
  let before = 0;
  for (const { rowSplits: splits } of columns) {
    for (let i = 1; i < splits!.length; i++) rowSplits[++row] = before + splits![i]!;
    before = rowSplits[row]!;
  }
  return { values, width, rowSplits };
}

/** The rows of all chunks, which have the same columns; at least one chunk. */
export function concatChunks(chunks: readonly Chunk[]): Chunk {
  if (chunks.length === 1) return chunks[0]!;
  const count = chunks.reduce((sum, chunk) => sum + chunk.count, 0);
  return withColumns(count, chunks[0]!, (_, name) => concatColumns(chunks.map(({ columns }) => columns.get(name)!)));
}
