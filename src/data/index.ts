/** Data sets of columns: arrays and files, in batches, for `fitDataset` and for loops. */
export { columnsOf } from './columns_of.js';
export { Dataset, type BatchOptions, type DatasetElement, type FeatureValue } from './dataset.js';
export { fromCsv, type CsvArgs, type CsvFormatArgs } from './from_csv.js';
export type { DataSource } from './data_file.js';
export { fromParquet } from './from_parquet.js';
export { fromArrow, type ArrowTable } from './from_arrow.js';
export { fromArrays, type ArrayColumn } from './from_arrays.js';
export type {
  ColumnArgs,
  ColumnSpecs,
  ColumnType,
  DatePart,
  DeclarationArgs,
  ListType,
  Missing,
  Preprocessor,
  ScalarType,
} from './column_spec.js';
