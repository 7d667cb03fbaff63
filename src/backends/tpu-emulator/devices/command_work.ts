/** How much a command has to do, as the elements that it touches: a bound for how long it may take. */
import { HYPER_FIELDS } from '../../hyper.js';
import type { BagsAt, Command, CsrAt, EntryAt, TableAt } from './device.js';

/** Drawing a number takes that many times as long as copying one. */
const DRAWN = 8;
/** Grouping ids, summing their gradients and stepping their rows. */
const PASSES_OF_STEP = 8;
const LAZY = HYPER_FIELDS.indexOf('lazy');

function ofBags({ nnz, batch }: BagsAt, dim: number): number {
  return nnz + batch + (nnz + batch) * dim;
}

function ofEntries(entries: readonly EntryAt[], dim: number): number {
  return entries.reduce((sum, { bags }) => sum + PASSES_OF_STEP * ofBags(bags, dim), 0);
}

function ofCsr({ ids, cores, samples }: CsrAt, dim: number): number {
  return (ids + cores * samples) * (1 + dim);
}

function ofTable({ rows, dim }: TableAt): number {
  return rows * dim;
}

/** Estimates the work of commands; it knows the sizes of buffers from those that it has seen. */
export class CommandWork {
  private readonly sizes = new Map<number, number>();

  /** Elements that a command touches, rather too many than too few. */
  of(command: Command): number {
    switch (command.op) {
      case 'allocate': {
        const size = command.part.rows * command.part.columns;
        this.sizes.set(command.buffer, size);
        return command.fill.kind === 'constant' ? size : DRAWN * size;
      }
      case 'free':
        this.sizes.delete(command.buffer);
        return 0;
      case 'copy': {
        const size = this.sizes.get(command.from) ?? 0;
        this.sizes.set(command.buffer, size);
        return 2 * size;
      }
      case 'read':
      case 'write':
        return command.rows * command.table.dim;
      case 'copyShared':
        return command.words;
      case 'lookUp':
        return 2 * command.bags.nnz + ofBags(command.bags, command.table.dim);
      case 'weightsGradient':
        return 2 * ofBags(command.bags, command.table.dim);
      case 'rowGradients':
        return ofEntries(command.entries, command.table.dim) + command.room * (1 + command.table.dim);
      case 'step': {
        const everyRow = command.hyper[LAZY] === 0 ? ofTable(command.table) * (1 + command.slots.length) : 0;
        return ofEntries(command.entries, command.table.dim) + 2 * everyRow;
      }
      case 'csrGather':
        return ofCsr(command.csr, command.table.dim);
      case 'csrCombine':
        return ofCsr(command.csr, command.dim);
      case 'csrRowGradients':
        return PASSES_OF_STEP * ofCsr(command.csr, command.table.dim) + command.room * (1 + command.table.dim);
      case 'csrStep': {
        const everyRow = command.hyper[LAZY] === 0 ? ofTable(command.table) * (1 + command.slots.length) : 0;
        return PASSES_OF_STEP * ofCsr(command.csr, command.table.dim) + 2 * everyRow;
      }
      case 'readRows':
      case 'writeRows':
        return command.count * (1 + command.table.dim);
    }
  }
}
