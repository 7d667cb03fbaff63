/** A table that is to be filled, and what errors call it. */
import type { TableSize } from '../partition/table_layout.js';

export interface TableToFill extends TableSize {
  readonly name: string;
  /** What its initializer was given as; `embeddingsInitializer` by default. */
  readonly argument?: string;
}
