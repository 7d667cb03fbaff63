/** Tensors that TensorFlow lends to the devices, which read them where they lie: nothing is copied on this thread. */
import type * as tf from '@tensorflow/tfjs';
import type { Addon } from '../../native/addon.js';
import { asNodeBackend, withTensor, type NodeBackend } from '../../tensorflow/node_backend.js';

/** The functions of the addon that loans need. */
export type LoanAddon = Pick<Addon, 'loanNumber' | 'readLoan' | 'endLoan'>;

type LoanType = 'float32' | 'int32';
/** Tensors, by the numbers of their loans. */
type Numbered = Map<number, tf.TensorInfo>;

/** Who lends, and who reads. */
interface Parties {
  readonly backend: NodeBackend;
  readonly addon: LoanAddon;
}

/** The loans of one call after the other: each is added, begins, and ends. */
export class Loans {
  private readonly added: Readonly<Record<LoanType, Numbered>> = { float32: new Map(), int32: new Map() };
  private readonly parties: Parties | null;
  private works: boolean | null = null;

  /** `addon`: the one that the devices have too, or null; `hasOps`: whether TensorFlow knows the ops of this package. */
  constructor(
    backend: tf.KernelBackend,
    addon: LoanAddon | null,
    private readonly hasOps: () => boolean,
  ) {
    const canLend = addon !== null && 'tensorMap' in backend;
    this.parties = canLend ? { backend: asNodeBackend(backend), addon } : null;
  }

  /** The number under which a tensor can be read from `begin` to `end`, by devices too; null where it cannot. */
  add(tensor: tf.TensorInfo, dtype: LoanType): number | null {
    if (this.parties === null) return null;
    const { backend, addon } = this.parties;
    this.works ??= this.hasOps() && tryOne(this.parties);
    if (!this.works || backend.tensorMap.get(tensor.dataId).values !== null) return null;
    const number = addon.loanNumber();
    this.added[dtype].set(number, tensor);
    return number;
  }

  /** Lends what was added. */
  begin(): void {
    for (const dtype of ['float32', 'int32'] as const) {
      if (this.added[dtype].size > 0) lend(this.parties!.backend, dtype, this.added[dtype]);
    }
  }

  /** Copies a tensor that is lent. */
  read(number: number, target: Float32Array | Int32Array): void {
    readLoan(this.parties!.addon, number, target);
  }

  /** The call is over, whether it came to lending or not. */
  end(): void {
    for (const loans of Object.values(this.added)) {
      for (const number of loans.keys()) this.parties!.addon.endLoan(number);
      loans.clear();
    }
  }
}

function readLoan(addon: LoanAddon, number: number, { buffer, byteOffset, length }: Float32Array | Int32Array): void {
  addon.readLoan(number, 0, length, 1, length, new Float32Array(buffer, byteOffset, length));
}

function lend(backend: NodeBackend, dtype: LoanType, loans: Numbered): void {
  const { TF_ATTR_INT, TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = backend.binding;
  const attributes = [
    { name: 'N', type: TF_ATTR_INT, value: loans.size },
    { name: 'T', type: TF_ATTR_TYPE, value: dtype === 'float32' ? TF_FLOAT : TF_INT32 },
  ];
  withTensor(backend, Int32Array.from(loans.keys()), [loans.size], (numbers) => {
    backend.executeMultipleOutputs('EmbeddingLend', attributes, [numbers, ...loans.values()], 0);
  });
}

/** Another copy of this package in the process may have been first with its ops, which lend from a book of theirs. */
function tryOne({ backend, addon }: Parties): boolean {
  const number = addon.loanNumber();
  const read = new Float32Array(1);
  try {
    withTensor(backend, Float32Array.of(1), [1], (one) => {
      lend(backend, 'float32', new Map([[number, one]]));
      readLoan(addon, number, read);
    });
    return read[0] === 1;
  } catch {
    return false;
  } finally {
    addon.endLoan(number);
  }
}
