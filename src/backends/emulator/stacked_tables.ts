/** Tables of SparseCores on the emulator: variables whose shard s lies on device s, and what is done with their CSR. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import type { UpdateName } from '../../rules/rules.js';
import type { TableLayout } from '../../partition/table_layout.js';
import type { Quantization } from '../quantize.js';
import type { CsrCounts, HostCsr } from '../sparse_core.js';
import {
  lookUpCsr,
  readStackRows,
  rowGradients,
  stepCsr,
  writeStackRows,
  type CsrBuffers,
  type StackRows,
} from './exchange/csr_exchange.js';
import type { DeviceTable } from './machine/device_table.js';
import { BACKEND_NAME } from './machine/settings.js';
import { running, type Running } from './register.js';

/** The ids of a batch for one stack. */
export interface StackBatch {
  readonly csr: HostCsr;
  readonly counts: CsrCounts;
  readonly buffers: CsrBuffers;
  /** Where the samples of each feature begin among those of a core, ascending. */
  readonly featureStarts: readonly number[];
}

export interface StackLookup extends StackBatch {
  readonly table: tf.Tensor;
  readonly quantization: Quantization | null;
}

export interface StackStep extends StackBatch {
  readonly table: tf.Variable;
  readonly slots: readonly tf.Variable[];
  /** That of all samples, core after core: [samples, dim]. */
  readonly gradient: Float32Array;
  readonly optimizer: UpdateName;
  readonly hyper: readonly number[];
  /** false: each occurrence of an id is a step of its own, in the order of the batch: feature after feature. */
  readonly accumulate: boolean;
}

/** Rows in equal shares: shard s has rows s x rowsPerShard and on. */
export function stackLayout(shards: number, rowsPerShard: number, columns: number): TableLayout {
  return {
    kind: 'rows',
    rows: shards * rowsPerShard,
    columns,
    shards: Array.from({ length: shards }, (_, device) => ({
      device,
      rows: { first: device * rowsPerShard, step: 1, count: rowsPerShard },
      columns: [0, columns] as const,
      inHost: false,
    })),
  };
}

/** The running emulator, seen from stacks. RuntimeError where none runs, and after it was removed. */
export class StackedTables {
  private constructor(private readonly found: Running) {}

  /** `argument`: what needs it. */
  static current(argument: string): StackedTables {
    const found = running();
    if (found === null || tf.getBackend() !== BACKEND_NAME) {
      const note = `await tf.setBackend('${BACKEND_NAME}') starts it.`;
      throw new RuntimeError(
        argument,
        `the backend ${BACKEND_NAME}`,
        described(`the backend ${tf.getBackend()}`),
        note,
      );
    }
    return new StackedTables(found);
  }

  get chips(): number {
    return this.found.machine.settings.chips;
  }

  get coresPerChip(): number {
    return this.found.machine.settings.coresPerChip;
  }

  /** Whether the machine is still there. */
  get isRunning(): boolean {
    return running()?.machine === this.found.machine;
  }

  /** Whether the other one is the same machine. */
  isSame(other: StackedTables): boolean {
    return other.found.machine === this.found.machine;
  }

  /** A variable of zeros on the devices. */
  create(name: string, layout: TableLayout, trainable: boolean): tf.Variable {
    const { emulator } = this.found;
    const tensor = emulator.create({ name, layout, fill: { kind: 'constant', value: 0 } });
    const variable = tf.variable(tensor, trainable);
    tensor.dispose();
    emulator.place(variable, { layout, name });
    return variable;
  }

  /** A variable that lies as its table does; a vector has one value for each row. */
  createSlot(table: tf.Variable, name: string, isPerRow: boolean, value: number): tf.Variable {
    const [rows, columns] = table.shape as [number, number];
    return this.found.emulator.createSlot(table, name, isPerRow ? [rows] : [rows, columns], value);
  }

  /** Puts a caller's variable where slots of the table lie. */
  adoptSlot(table: tf.Variable, slot: tf.Variable): void {
    this.found.emulator.place(slot, { like: table });
  }

  write(variable: tf.Variable, firstRow: number, values: Float32Array): void {
    this.found.emulator.writeRows(variable, firstRow, values);
  }

  read(tensor: tf.Tensor, firstRow: number, rows: number): Float32Array {
    return this.found.emulator.readRows(tensor, firstRow, rows);
  }

  /** Activations of all samples of each stack, core after core. */
  lookUp(lookups: readonly StackLookup[]): Float32Array[] {
    const start = performance.now();
    const { machine } = this.found;
    const placed = lookups.map((lookup) => ({ ...lookup, table: this.placed(lookup.table) }));
    const result = lookUpCsr(machine, placed);
    const samples = lookups.reduce((sum, { csr }) => sum + csr.cores * csr.samples, 0);
    machine.counters.called('lookUp', samples, (performance.now() - start) / 1000);
    return result;
  }

  step(steps: readonly StackStep[]): void {
    if (steps.length === 0) return;
    const start = performance.now();
    const { machine, emulator } = this.found;
    const placed = steps.map((step) => {
      const slots = step.slots.map((slot) => emulator.own(slot));
      return { ...step, table: emulator.own(step.table), slots };
    });
    stepCsr(machine, placed);
    machine.counters.called('update', 0, (performance.now() - start) / 1000);
  }

  /** The gradient of each row that was looked up, rows ascending. */
  rowGradients(table: tf.Variable, batch: StackBatch, gradient: Float32Array): StackRows {
    return rowGradients(this.found.machine, { ...batch, table: this.placed(table), gradient });
  }

  readRows(variable: tf.Variable, rows: Int32Array): Float32Array {
    return readStackRows(this.found.machine, this.placed(variable), rows);
  }

  writeRows(variable: tf.Variable, rows: StackRows): void {
    writeStackRows(this.found.machine, this.found.emulator.own(variable), rows);
  }

  private placed(tensor: tf.Tensor): DeviceTable {
    const table = this.found.emulator.deviceTable(tensor);
    if (table !== null) return table;
    throw new RuntimeError('table', 'a table on the devices', described('one on the host'));
  }
}
