/** What a file holds, before a data set is made of it. */
import { ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import type { ColumnType } from './column_spec.js';
import { checkSource, findFiles, type DataSource } from './data_file.js';
import { arrowColumns } from './from_arrow.js';
import { FORMAT_FIELDS, csvColumns, readFormat, type CsvFormatArgs } from './from_csv.js';
import { parquetColumns } from './from_parquet.js';

/**
 * Returns the columns of a file by name, with the types that it says they have or, in CSV files, that its first 1000 rows
 * fit: whole numbers of any size are 'int', and larger ones than int32 holds an error when they are read. Columns without a
 * name of their own are left out. Parquet and Arrow files are told by their first bytes; columns of structs and nested lists are left out. Of several
 * files the first one is looked at.
 *
 * @param source - As `fromCsv`, `fromParquet` and `fromArrow` take it.
 * @param options - Of CSV files: `delimiter`, `header`, `encoding` and `quote`, as `fromCsv` has them.
 * @returns Types by name, to be given to these functions, whole or in part.
 * @throws TypeError and ValueError for other arguments; ValueError for a file that does not exist or holds no columns.
 * Source: pyarrow.parquet.read_schema (pyarrow 26).
 *
 * @example
 * const columns = await emb.data.columnsOf('clicks.csv'); // { user: 'int', visits: 'ids', click: 'int' }
 */
export async function columnsOf(
  source: DataSource | readonly DataSource[],
  options: CsvFormatArgs = {},
): Promise<Record<string, ColumnType>> {
  checkSource(source);
  const format = readFormat(readOptions<CsvFormatArgs>(options, FORMAT_FIELDS));
  const [first] = await findFiles(source);
  const file = await first!.open();
  const magic = new TextDecoder('latin1').decode(await file.read(0, Math.min(8, file.size)));
  // A stream of Arrow begins with a mark and the length of its schema.
  const isArrow = magic.startsWith('ARROW1') || magic.startsWith('\u00FF\u00FF\u00FF\u00FF');
  const columns = magic.startsWith('PAR1')
    ? await parquetColumns(file)
    : isArrow
      ? await arrowColumns(file)
      : await csvColumns(file, format);
  if (columns.size === 0) throw new ValueError('source', 'a file with columns', described(file.name));
  return Object.fromEntries(columns);
}
