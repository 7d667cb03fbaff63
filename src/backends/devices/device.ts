/**
 * A virtual device: tables in memory of its own, and kernels that run on them.
 *
 * What goes in and out lies in the exchange memory, which the host and all devices see. Positions in it count 4-byte
 * words from its start; int32 and float32 lie side by side. A device has floats of its own in buffers, named by
 * numbers that the host hands out.
 */
import { brand } from '../../base/per_process.js';
import type { UpdateName } from '../../rules/rules.js';
import type { FilledPart } from '../counter_random.js';
import type { Fill } from '../fill.js';
import type { BagOptions, KernelInfo } from '../kernel_set.js';
import type { Addon } from '../native/addon.js';
import type { Quantization } from '../quantize.js';

/** The ids of a batch in the exchange memory: as they are, or in the CSR of a stack. */
export type BagsAt = PlainBagsAt | CsrBagsAt;

export interface PlainBagsAt {
  readonly values: number;
  readonly nnz: number;
  /** Position of batch + 1 row splits; null where every bag has `length` ids. */
  readonly rowSplits: number | null;
  readonly length: number;
  readonly batch: number;
  readonly weights: number | null;
  /** The bags that are meant: `bags` of them from `firstBag` on. */
  readonly firstBag: number;
  readonly bags: number;
}

/** Where the CSR of a stack lies. */
export interface CsrAt {
  readonly rowPointers: number;
  readonly sampleIds: number;
  readonly tokenIds: number;
  readonly gains: number;
  /** Slots. */
  readonly ids: number;
  readonly cores: number;
  readonly shards: number;
  /** Samples of each core. */
  readonly samples: number;
}

export type CsrBagsAt = { readonly csr: CsrAt } & (
  | {
      /** All samples, core after core, as bags of the rows that they have on a shard. */
      readonly samplesOn: number;
    }
  | {
      /** The rows that the cores ask a shard for, core after core: one for each run of equal ids, each in a bag. */
      readonly rowsOf: number;
    }
  | {
      /** The samples of a core as bags of the rows that it asked for; those of shard s count from `firstRows[s]` on. */
      readonly core: number;
      readonly firstRows: readonly number[];
    }
);

/** Rows of floats in the exchange memory, `stride` words from one to the next. */
export interface RowsAt {
  readonly at: number;
  readonly stride: number;
}

/** Rows of floats in the exchange memory, or in a tensor of TensorFlow that is shared under `sharedKey`. */
export interface SharedRowsAt extends RowsAt {
  readonly sharedKey: number | null;
}

/** A buffer as a table. */
export interface TableAt {
  readonly buffer: number;
  readonly rows: number;
  readonly dim: number;
}

/** Rows in the exchange memory as a table. */
export interface ExchangedTableAt {
  readonly at: number;
  readonly rows: number;
  readonly dim: number;
}

/** What one lookup adds to the gradient of a table; `gradient` holds one row for each of the bags that are meant. */
export interface EntryAt {
  readonly gradient: SharedRowsAt;
  readonly bags: BagsAt;
  readonly options: BagOptions;
  /** The gradient is one of rows already: bags are single ids that occur once. */
  readonly ofRows: boolean;
}

/** A buffer as others know it. */
export interface BufferName {
  /** Of the table or slot, and of the part of it. */
  readonly name: string;
  /** The table or slot. */
  readonly table: string;
  /** The table that it is a slot of; null: it is a table. */
  readonly slotOf: string | null;
  /** Of the whole table or slot. */
  readonly columns: number;
  /** Each device has a copy of it. */
  readonly isCopy: boolean;
}

export type Command =
  | {
      readonly op: 'allocate';
      readonly buffer: number;
      readonly part: FilledPart;
      readonly fill: Fill;
      /** What others may know it by; absent: nobody else is to know it. */
      readonly known?: BufferName;
    }
  | { readonly op: 'free'; readonly buffer: number }
  /** Makes `buffer` a copy of `from`. */
  | { readonly op: 'copy'; readonly buffer: number; readonly from: number }
  /** Rows of the buffer to or from the exchange memory: so many from one on, or those whose numbers lie at `ids`. */
  | ({
      readonly op: 'read' | 'write';
      readonly table: TableAt;
      readonly rows: number;
      readonly where: RowsAt;
    } & ({ readonly firstRow: number } | { readonly ids: number }))
  /** Copies `words` words of a shared tensor of TensorFlow into the exchange memory. */
  | { readonly op: 'copyShared'; readonly sharedKey: number; readonly words: number; readonly at: number }
  /**
   * Pooled rows [bags, dim] to where `pooled` says, quantized where that is wanted, and how many distinct ids of the
   * table there were into the word at `distinct`. Where an id outside the table is an error: -1 - its place among the
   * values, and no rows. null: ids are not counted, and were checked before.
   */
  | {
      readonly op: 'lookUp';
      readonly table: TableAt | ExchangedTableAt;
      readonly bags: BagsAt;
      readonly options: BagOptions;
      readonly pooled: SharedRowsAt;
      readonly distinct: number | null;
      readonly quantization: Quantization | null;
    }
  /** Gradient with respect to the weights of the bags that are meant, one float per id. */
  | {
      readonly op: 'weightsGradient';
      readonly table: TableAt;
      readonly bags: BagsAt;
      readonly options: BagOptions;
      readonly gradient: SharedRowsAt;
      readonly out: number;
    }
  /** The gradients of all entries by row, one entry after the other: [count, ids (room), rows (room x dim)] from `out` on. */
  | {
      readonly op: 'rowGradients';
      readonly table: TableAt;
      readonly entries: readonly EntryAt[];
      readonly room: number;
      readonly out: number;
    }
  /**
   * One exact step over the sum of all entries. `order`: each occurrence of an id of the one entry is a step of its own;
   * there lie the numbers of its bags, in the order of the batch.
   */
  | {
      readonly op: 'step';
      readonly optimizer: UpdateName;
      readonly table: TableAt;
      readonly slots: readonly number[];
      readonly entries: readonly EntryAt[];
      readonly hyper: readonly number[];
      readonly order: number | null;
    };

export type CommandOf<Name extends Command['op']> = Extract<Command, { op: Name }>;

/** What runs commands: a method for each, which `runCommand` calls. */
export type Commands = {
  [Name in Exclude<Command['op'], 'read' | 'write'>]: (command: CommandOf<Name>) => void;
} & { [Name in 'read' | 'write']: (command: CommandOf<'read' | 'write'>) => void };

export function runCommand(on: Commands, command: Command): void {
  (on[command.op] as (of: Command) => void).call(on, command);
}

export type DeviceKind = 'worker' | 'inline' | 'server';
export type FaultName = 'terminate' | 'kernelError' | 'outOfMemory' | 'hang';
export const FAULT_NAMES: readonly FaultName[] = ['terminate', 'kernelError', 'outOfMemory', 'hang'];

/** Why a device cannot be used any more, or why its command failed. */
export class DeviceFault extends Error {
  static {
    brand(this, 'DeviceFault');
  }
  /** `isRefusal`: it did nothing of what it was asked, and never will. */
  constructor(
    readonly device: number,
    text: string,
    readonly isRefusal = false,
  ) {
    super(text);
    this.name = 'DeviceFault';
  }
}

export interface Device {
  readonly index: number;
  readonly kind: DeviceKind;
  readonly kernels: KernelInfo;
  /** Queues commands; they run in order, after those that were posted before. Throws DeviceFault on a dead device. */
  post(commands: readonly Command[]): void;
  /**
   * Returns when all that was posted has run. Throws DeviceFault where a command failed or the device died; the device
   * then takes no more commands.
   */
  finish(): void;
  /** Makes the device fail from the next command on. */
  injectFault(fault: FaultName): void;
  /** Ends the device and frees its memory; resolves when it is gone. */
  close(): Promise<void>;
}

/** The exchange memory as devices and host share it. It may grow: take views of it anew for each call. */
export interface ExchangeMemory {
  readonly floats: Float32Array;
  readonly ints: Int32Array;
  /** Makes it hold at least so many words; what it holds is lost, but for the first `kept` words. */
  reserve(words: number, kept?: number): void;
}

/** The exchange memory as the host uses it. */
export interface HostExchange extends ExchangeMemory {
  /** Changes when what it holds is lost, from its first word on. */
  epoch: number;
}

/** Makes the devices of an emulator. */
export interface DeviceSet {
  readonly devices: readonly Device[];
  readonly exchange: ExchangeMemory;
  /** The addon of the devices, which reads and writes shared tensors of TensorFlow; null where there is none. */
  readonly addon: Addon | null;
  /** Why devices run in line where workers were wanted; null otherwise. */
  readonly inlineBecause: string | null;
}
