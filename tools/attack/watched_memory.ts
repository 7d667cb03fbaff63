/** The memory behind the arguments of a call: what may change in it, and what may not. */

type View = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

/** Positions of the arguments that a function of the addon writes, and of those that it reads while it writes. */
interface Roles {
  readonly written: readonly number[];
  readonly read: readonly number[];
  /** What is written may be half done when an id turns out to be bad: results, never tables. */
  readonly isResult?: boolean;
}

const ROLES: Readonly<Record<string, Roles>> = {
  embeddingBag: { written: [10], read: [0, 4, 5, 6], isResult: true },
  embeddingBagWeightsGrad: { written: [11], read: [0, 4, 5, 6, 10], isResult: true },
  sparseApply: { written: [0, 11, 12, 13, 14], read: [4, 5, 6, 15, 17] },
  matMul: { written: [3], read: [0, 1, 2], isResult: true },
  topK: { written: [12, 13], read: [0, 5, 8, 9, 10, 11], isResult: true },
  scanLists: { written: [14, 15], read: [0, 4, 5, 6, 7, 8, 9, 12, 13], isResult: true },
  rankRows: { written: [10, 11], read: [0, 4, 5, 7], isResult: true },
  foldIn: { written: [9], read: [0, 4, 5, 6, 8], isResult: true },
  partitionCsr: { written: [8, 9, 10, 11, 12, 13], read: [0, 1, 2, 3], isResult: true },
  indexTexts: { written: [2], read: [0, 1], isResult: true },
  findTexts: { written: [5], read: [0, 1, 2, 3], isResult: true },
  indexNumbers: { written: [1], read: [0], isResult: true },
  findNumbers: { written: [2], read: [0, 1], isResult: true },
  hashTexts: { written: [5], read: [0, 1, 4], isResult: true },
  hashNumbers: { written: [3], read: [0, 2], isResult: true },
  splitTexts: { written: [2], read: [0], isResult: true },
  fingerprintTexts: { written: [2], read: [0, 1], isResult: true },
  findKeys: { written: [5], read: [0, 1, 3], isResult: true },
  touchKeys: { written: [1, 6, 7], read: [0, 3] },
  lowestRows: { written: [6, 7], read: [0], isResult: true },
  fillKeyedRows: { written: [6], read: [1, 2, 3, 4], isResult: true },
  startReads: { written: [], read: [1] },
  findSlots: { written: [1, 4, 5], read: [0, 3], isResult: true },
  finishReads: { written: [2], read: [], isResult: true },
  readSharedTensor: { written: [5], read: [] },
  writeSharedTensor: { written: [], read: [5] },
  startServer: { written: [], read: [0] },
  openSession: { written: [], read: [1, 2] },
  extendSession: { written: [], read: [1] },
  startRuns: { written: [], read: [1] },
  finishRuns: { written: [1], read: [], isResult: true },
};
const NOTHING: Roles = { written: [], read: [] };
/** Functions that take lists of what another function takes. */
const MANY: Readonly<Record<string, string>> = { embeddingBags: 'embeddingBag', sparseApplyMany: 'sparseApply' };

function picked(name: string, args: readonly unknown[], role: 'written' | 'read'): View[] {
  const lists = MANY[name] === undefined ? [args] : Array.isArray(args[0]) ? args[0].filter(Array.isArray) : [];
  const places = rolesOf(name)[role];
  return lists.flatMap((list: readonly unknown[]) => places.flatMap((i) => list[i]).flat(2)).filter(isView);
}

function rolesOf(name: string): Roles {
  return ROLES[MANY[name] ?? name] ?? NOTHING;
}

function isView(value: unknown): value is View {
  const kinds = [Float32Array, Int32Array, BigInt64Array, Uint8Array];
  return kinds.some((kind) => value instanceof kind) && ArrayBuffer.isView(value);
}

function overlap(a: View, b: View): boolean {
  if (a.buffer !== b.buffer || a.byteLength === 0 || b.byteLength === 0) return false;
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}

/** The addon takes ids, splits and starts out of shared memory before it checks them. */
function isCopied(view: View): boolean {
  return view instanceof Int32Array && view.buffer instanceof SharedArrayBuffer;
}

/** A call that is about to be made. */
export class WatchedMemory {
  private readonly before = new Map<ArrayBufferLike, Uint8Array>();
  private readonly isResult: boolean;
  private readonly written: View[];
  /** Whether something is written that the same call reads, or writes elsewhere: it must be refused. */
  readonly isShared: boolean;

  constructor(
    name: string,
    args: readonly unknown[],
    /** Memory that others write meanwhile. */
    raced: ReadonlySet<ArrayBufferLike> = new Set(),
  ) {
    this.isResult = rolesOf(name).isResult === true;
    const written = (this.written = picked(name, args, 'written'));
    const read = picked(name, args, 'read').filter((view) => !isCopied(view));
    this.isShared = written.some(
      (one, i) => read.some((other) => overlap(one, other)) || written.some((other, j) => j < i && overlap(one, other)),
    );
    for (const arg of args.flat(4)) {
      if (!ArrayBuffer.isView(arg) || arg.buffer.byteLength === 0) continue;
      if (raced.has(arg.buffer) || this.before.has(arg.buffer)) continue;
      this.before.set(arg.buffer, new Uint8Array(arg.buffer).slice());
    }
  }

  /** What is wrong after the call; null where all is as it should be. */
  fault(hasThrown: boolean): string | null {
    if (this.isShared && !hasThrown) return 'wrote memory that another argument uses';
    const mayChange = hasThrown && (this.isShared || !this.isResult) ? [] : this.written;
    for (const [buffer, before] of this.before) {
      if (buffer.byteLength === 0) continue; // a getter among the arguments sent it elsewhere
      const after = new Uint8Array(buffer);
      for (const { buffer: whose, byteOffset, byteLength } of mayChange) {
        if (whose === buffer) before.set(after.subarray(byteOffset, byteOffset + byteLength), byteOffset);
      }
      if (Buffer.compare(before, after) !== 0) return hasThrown ? 'threw, and wrote' : 'wrote outside its results';
    }
    return null;
  }
}
