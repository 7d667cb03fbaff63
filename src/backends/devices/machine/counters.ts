/** What the emulator counts. Everything adds up from the start of the backend until `reset`. */

/** From where to where: [from][to], devices by number. The diagonal is 0: what stays on a device is no traffic. */
export interface LinkCounts {
  readonly bytes: readonly (readonly number[])[];
  readonly ids: readonly (readonly number[])[];
}

/** Bytes of the device's memory; `host` lies in the memory of the host instead, because a plan says so. */
export interface DeviceMemoryCounts {
  readonly tables: number;
  readonly slots: number;
  /** The largest exchange of a call so far: ids, pooled rows and gradients that lie on the device at a time. */
  readonly exchange: number;
  readonly host: number;
  /** Largest sum of the first three so far. */
  readonly peak: number;
  /** null: no limit. */
  readonly capacity: number | null;
}

export interface DeviceCounts {
  /** Ids looked up: rows read, and ids outside a table that count as zeros. */
  readonly ids: number;
  /** Distinct ids of each lookup, summed over lookups. */
  readonly uniqueIds: number;
  /** Ids times the width of the rows read. */
  readonly elements: number;
  /** Bytes sent to and received from other devices. */
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly memory: DeviceMemoryCounts;
}

/** What was done for one table, the steps on it and on its slots included. */
export interface TableCounts {
  /** Ids looked up, each once however many devices hold a part of its row. */
  readonly ids: number;
  /** Bytes that went from device to device: ids, pooled rows, gradients. */
  readonly linkBytes: number;
}

/** What was looked up for one layer: sums over calls, one number for each of its inputs. */
export interface ServedInputs {
  readonly calls: number;
  readonly samples: readonly number[];
  /** As many as samples, or more where ids are looked up one by one. */
  readonly bags: readonly number[];
  readonly ids: readonly number[];
  /** How many of the ids had weights. */
  readonly weights: readonly number[];
}

/** All calls of a layer, and those in which gradients were taken. */
export interface ServedLayer {
  readonly all: ServedInputs;
  readonly training: ServedInputs;
}

export interface Counters {
  /** Calls that looked something up, and steps of optimizers. */
  readonly lookUps: number;
  readonly updates: number;
  /** Bags looked up, over all lookups of all calls. */
  readonly bags: number;
  readonly links: LinkCounts;
  readonly devices: readonly DeviceCounts[];
  /** Wall-clock time of the host inside lookups and updates, exchange included. */
  readonly seconds: { readonly lookUp: number; readonly update: number };
}
