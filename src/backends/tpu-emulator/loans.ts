/** Tensors that TensorFlow lends to the devices, which read them where they lie: nothing is copied on this thread. */
import type * as tf from '@tensorflow/tfjs';
import type { Addon } from '../native/addon.js';
import { asNodeBackend, withTensor, type NodeBackend } from '../tensorflow/node_backend.js';

/** The functions of the addon that loans need. */
export type LoanAddon = Pick<Addon, 'loansBook' | 'loanNumber' | 'readLoan' | 'endLoan'>;

type LoanType = 'float32' | 'int32';

interface Loan {
  readonly tensor: tf.TensorInfo;
  readonly dtype: LoanType;
}

/** The loans of one call after the other: each is added, begins, and ends. */
export class Loans {
  private readonly added = new Map<number, Loan>();
  private works: boolean | null = null;

  /** `addon`: the one that the devices have too, or null; `hasOps`: whether TensorFlow knows the ops of this package. */
  constructor(
    private readonly backend: tf.KernelBackend,
    private readonly addon: LoanAddon | null,
    private readonly hasOps: () => boolean,
  ) {}

  /** The number under which a tensor can be read from `begin` to `end`, by devices too; null where it cannot. */
  add(tensor: tf.TensorInfo, dtype: LoanType): number | null {
    if (this.addon === null || !('tensorMap' in this.backend)) return null;
    this.works ??= this.hasOps() && this.tryOne(this.addon);
    if (!this.works || asNodeBackend(this.backend).tensorMap.get(tensor.dataId).values !== null) return null;
    const number = this.addon.loanNumber();
    this.added.set(number, { tensor, dtype });
    return number;
  }

  /** Lends what was added. */
  begin(): void {
    for (const dtype of ['float32', 'int32'] as const) {
      const loans = [...this.added].filter(([, loan]) => loan.dtype === dtype);
      if (loans.length > 0) this.lend(asNodeBackend(this.backend), dtype, loans);
    }
  }

  /** Copies a tensor that is lent. */
  read(number: number, target: Float32Array | Int32Array): void {
    const { buffer, byteOffset, length } = target;
    this.addon!.readLoan(number, 0, length, 1, length, new Float32Array(buffer, byteOffset, length));
  }

  /** The call is over, whether it came to lending or not. */
  end(): void {
    for (const number of this.added.keys()) this.addon!.endLoan(number);
    this.added.clear();
  }

  private lend(
    backend: NodeBackend,
    dtype: LoanType,
    loans: readonly (readonly [number, Pick<Loan, 'tensor'>])[],
  ): void {
    const { TF_ATTR_INT, TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = backend.binding;
    const attributes = [
      { name: 'N', type: TF_ATTR_INT, value: loans.length },
      { name: 'T', type: TF_ATTR_TYPE, value: dtype === 'float32' ? TF_FLOAT : TF_INT32 },
    ];
    withTensor(
      backend,
      Int32Array.from(loans, ([number]) => number),
      [loans.length],
      (numbers) => {
        const sources = loans.map(([, { tensor }]) => tensor);
        backend.executeMultipleOutputs('EmbeddingLend', attributes, [numbers, ...sources], 0);
      },
    );
  }

  /** Another copy of this package in the process may have been first with its ops, which lend from a book of theirs. */
  private tryOne(addon: LoanAddon): boolean {
    const backend = asNodeBackend(this.backend);
    const number = addon.loanNumber();
    const read = new Float32Array(1);
    try {
      withTensor(backend, Float32Array.of(1), [1], (one) => {
        this.lend(backend, 'float32', [[number, { tensor: one }]]);
        this.read(number, read);
      });
      return read[0] === 1;
    } catch {
      return false;
    } finally {
      addon.endLoan(number);
    }
  }
}
