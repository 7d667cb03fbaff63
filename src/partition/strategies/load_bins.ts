/** Bins with loads of several kinds, filled and evened out so that the fullest, in whatever it is fullest, is low. */

/** A slice: what it weighs of each kind, as parts of a fair share. */
export interface LoadItem {
  readonly table: number;
  readonly width: number;
  readonly load: readonly number[];
}

interface Bin {
  readonly items: LoadItem[];
  readonly tables: Set<number>;
  readonly load: number[];
}

/** Exchanges looked at before the search ends; a bound on time, reached by thousands of slices only. */
const MOST_TRIALS = 1e6;
const CLEARLY_LESS = 1 - 1e-9;

function sum(load: readonly number[]): number {
  return load.reduce((total, part) => total + part, 0);
}

/** Sixteenth powers, summed: the highest parts count by far the most, and lower ones still count a little. */
function strain(load: readonly number[], comes: LoadItem | null, goes: LoadItem | null): number {
  let total = 0;
  for (let kind = 0; kind < load.length; kind++) {
    const part = load[kind]! + (comes?.load[kind] ?? 0) - (goes?.load[kind] ?? 0);
    const fourth = part * part * part * part;
    total += fourth * fourth * fourth * fourth;
  }
  return total;
}

/** Whether a bin has a slice of a table besides the one that leaves. No bin has two of one table. */
function has(bin: Bin, table: number, leaving: LoadItem | null): boolean {
  return bin.tables.has(table) && leaving?.table !== table;
}

interface Exchange {
  readonly item: LoadItem;
  readonly other: Bin;
  readonly back: LoadItem | null;
}

export class LoadBins {
  private readonly bins: Bin[];
  private trials = 0;

  constructor(count: number, kinds: number) {
    this.bins = Array.from({ length: count }, () => {
      return { items: [], tables: new Set<number>(), load: new Array<number>(kinds).fill(0) };
    });
  }

  /** Puts each item, heaviest first, where it strains least; slices of one table go to different bins. */
  fill(items: readonly LoadItem[]): void {
    const order = items
      .map((item) => ({ item, weight: Math.max(...item.load) }))
      .sort((a, b) => b.weight - a.weight || b.item.table - a.item.table);
    for (const { item } of order) {
      let best: Bin | null = null;
      let least = [Infinity, Infinity];
      for (const bin of this.bins) {
        if (has(bin, item.table, null)) continue;
        const rank = [strain(bin.load, item, null) - strain(bin.load, null, null), sum(bin.load)];
        if (best !== null && (rank[0]! > least[0]! || (rank[0] === least[0] && rank[1]! >= least[1]!))) continue;
        [best, least] = [bin, rank];
      }
      this.add(best!, item);
    }
  }

  /** Moves and exchanges items, those of the most strained bin first, as long as that eases both bins together. */
  even(): void {
    for (;;) {
      const order = this.bins
        .map((bin) => ({ bin, strain: strain(bin.load, null, null) }))
        .sort((a, b) => b.strain - a.strain);
      const eased = order.some(({ bin }) => {
        const exchange = this.bestExchange(bin);
        if (exchange !== null) this.apply(bin, exchange);
        return exchange !== null;
      });
      if (!eased || this.trials > MOST_TRIALS) return;
    }
  }

  private bestExchange(bin: Bin): Exchange | null {
    const now = strain(bin.load, null, null);
    let most = 0;
    let best: Exchange | null = null;
    for (const other of this.bins) {
      if (other === bin) continue;
      const both = now + strain(other.load, null, null);
      for (const item of bin.items) {
        if (has(other, item.table, null)) continue;
        for (const back of [null, ...other.items]) {
          this.trials++;
          if (back === null ? bin.items.length === 1 : has(bin, back.table, item)) continue;
          const after = strain(bin.load, back, item) + strain(other.load, item, back);
          if (after >= both * CLEARLY_LESS || both - after <= most) continue;
          most = both - after;
          best = { item, other, back };
        }
      }
    }
    return best;
  }

  private apply(bin: Bin, { item, other, back }: Exchange): void {
    this.remove(bin, item);
    if (back !== null) {
      this.remove(other, back);
      this.add(bin, back);
    }
    this.add(other, item);
  }

  contents(): LoadItem[][] {
    return this.bins.map(({ items }) => items);
  }

  private add(bin: Bin, item: LoadItem): void {
    bin.items.push(item);
    bin.tables.add(item.table);
    item.load.forEach((part, kind) => (bin.load[kind]! += part));
  }

  private remove(bin: Bin, item: LoadItem): void {
    bin.items.splice(bin.items.indexOf(item), 1);
    bin.tables.delete(item.table);
    item.load.forEach((part, kind) => (bin.load[kind]! -= part));
  }
}
