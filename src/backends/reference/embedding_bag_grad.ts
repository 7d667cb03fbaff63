/** Reference for `EmbeddingBagGrad`: gradient with respect to the table, one entry per touched row. */
import type { BagOptions, HostBags, HostTable, RowGradients } from '../kernel_set.js';
import { newFloats } from '../memory.js';
import { group } from './group.js';

export function embeddingBagGrad(
  gradient: Float32Array,
  bags: HostBags,
  table: HostTable,
  options: BagOptions,
): RowGradients {
  const groups = group(gradient, bags, table, options);
  const rowGradients = newFloats('gradient', 'row gradients', [groups.length, table.dim]);
  groups.forEach((entry, u) => rowGradients.set(entry.gradient, u * table.dim));
  return { uniqueIds: Int32Array.from(groups, ({ id }) => id), rowGradients };
}
