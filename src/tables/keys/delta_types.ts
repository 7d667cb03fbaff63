/** What deltas of open tables are to those who write and apply them. */

/** An open table at one moment: what `writeDelta` takes as `since`. */
export interface OpenTableMark {
  /** The name of the table. */
  readonly table: string;
  /** The first mark of a table is 1. */
  readonly number: number;
}

/** How many keys a delta wrote, and how many it took away. */
export interface DeltaCounts {
  readonly rows: number;
  readonly removed: number;
}

/** What was written, and the mark that it leads to. */
export interface WrittenDelta extends DeltaCounts {
  readonly mark: OpenTableMark;
}

// Said here once more, so that types of tables do not depend on those of files: bundles of both come out wrong.
/** A path, or a WritableStream where there are no files. */
export type DeltaTarget = string | WritableStream<Uint8Array>;
/** A path or URL, a Blob or File, or bytes in memory. */
export type DeltaSource = string | URL | Blob | ArrayBuffer | Uint8Array;
