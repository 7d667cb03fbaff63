/** Bins with loads of several kinds, filled and evened out so that the fullest, in whatever it is fullest, is low. */

/** A slice: what it weighs of each kind, as parts of a fair share. */
export interface LoadItem {
  readonly table: number;
  readonly width: number;
  readonly load: readonly number[];
}

interface Bin {
  readonly items: LoadItem[];
  readonly load: number[];
}

/** Exchanges looked at before the search ends; a bound on time, reached by thousands of slices only. */
const MOST_TRIALS = 4e6;
const CLEARLY_LESS = 1 - 1e-9;

function highest(load: readonly number[]): number {
  let most = 0;
  for (const part of load) if (part > most) most = part;
  return most;
}

function sum(load: readonly number[]): number {
  return load.reduce((total, part) => total + part, 0);
}

/** The highest part after one item comes and another one goes. */
function highestAfter(bin: Bin, comes: LoadItem | null, goes: LoadItem | null): number {
  let most = 0;
  for (let kind = 0; kind < bin.load.length; kind++) {
    const part = bin.load[kind]! + (comes?.load[kind] ?? 0) - (goes?.load[kind] ?? 0);
    if (part > most) most = part;
  }
  return most;
}

/** Whether a bin has a slice of a table besides the one that leaves. */
function has(bin: Bin, table: number, leaving: LoadItem | null): boolean {
  return bin.items.some((item) => item.table === table && item !== leaving);
}

interface Exchange {
  readonly item: LoadItem;
  readonly other: Bin;
  readonly back: LoadItem | null;
}

export class LoadBins {
  private readonly bins: Bin[];

  constructor(count: number, kinds: number) {
    this.bins = Array.from({ length: count }, () => ({ items: [], load: new Array<number>(kinds).fill(0) }));
  }

  /** Puts each item, heaviest first, where the highest part stays lowest; slices of one table go to different bins. */
  fill(items: readonly LoadItem[]): void {
    const order = [...items].sort((a, b) => highest(b.load) - highest(a.load) || b.table - a.table);
    for (const item of order) {
      let best: Bin | null = null;
      let least = [Infinity, Infinity];
      for (const bin of this.bins) {
        if (has(bin, item.table, null)) continue;
        const rank = [highestAfter(bin, item, null), sum(bin.load)];
        if (rank[0]! > least[0]! || (rank[0] === least[0] && rank[1]! >= least[1]!)) continue;
        [best, least] = [bin, rank];
      }
      this.add(best!, item);
    }
  }

  /** Moves and exchanges items of the fullest bin as long as that lowers it without filling another as much. */
  even(): void {
    let trials = 0;
    while (trials < MOST_TRIALS) {
      const full = this.bins.reduce((most, bin) => (highest(bin.load) > highest(most.load) ? bin : most));
      let least = highest(full.load) * CLEARLY_LESS;
      let best: Exchange | null = null;
      for (const item of full.items) {
        for (const other of this.bins) {
          if (other === full || has(other, item.table, null)) continue;
          for (const back of [null, ...other.items]) {
            trials++;
            if (back === null && full.items.length === 1) continue;
            if (back !== null && has(full, back.table, item)) continue;
            const most = Math.max(highestAfter(full, back, item), highestAfter(other, item, back));
            if (most >= least) continue;
            least = most;
            best = { item, other, back };
          }
        }
      }
      if (best === null) return;
      this.remove(full, best.item);
      if (best.back !== null) {
        this.remove(best.other, best.back);
        this.add(full, best.back);
      }
      this.add(best.other, best.item);
    }
  }

  contents(): LoadItem[][] {
    return this.bins.map(({ items }) => items);
  }

  private add(bin: Bin, item: LoadItem): void {
    bin.items.push(item);
    item.load.forEach((part, kind) => (bin.load[kind]! += part));
  }

  private remove(bin: Bin, item: LoadItem): void {
    bin.items.splice(bin.items.indexOf(item), 1);
    item.load.forEach((part, kind) => (bin.load[kind]! -= part));
  }
}
