/** Tells open tables without their code: what only refuses them, or passes them on, does not bring it into a page. */
import { hasBrand } from '../../base/per_process.js';
import type { OpenTable } from './open_table.js';

/** Whether a value, which may be anything, is an open table. */
export function isOpenTable(value: unknown): value is OpenTable {
  return hasBrand(value, 'OpenTable');
}
