/**
 * The planner once more, written from its description alone, step by step and without thought for speed. Shares nothing
 * with the one under test. Knows the strategies that have golden files; null where some device stays without a piece.
 */
import type { FullArgs } from './table_sets.js';

type Entry = { t: number; from: number; to: number };

export function naivePlan(a: FullArgs): Record<string, unknown> | null {
  const N = a.worldSize;
  const ignore = N === 1 || !a.dpInput;
  const dpT = ignore ? null : a.dataParallelThreshold;
  const rowT = ignore ? null : a.rowSliceThreshold;
  const strategy = N === 1 ? 'basic' : a.strategy;
  const size = (t: number): number => a.tables[t]!.inputDim * a.tables[t]!.outputDim;

  const dp: number[] = [];
  const tp: number[] = [];
  const row: number[] = [];
  for (let t = 0; t < a.tables.length; t++) {
    if (dpT && size(t) <= dpT) dp.push(t);
    else if (rowT && size(t) >= rowT) row.push(t);
    else tp.push(t);
  }
  const inputsOf = (group: number[]): number[] => {
    const found: number[] = [];
    for (let i = 0; i < a.inputTableMap.length; i++) if (group.includes(a.inputTableMap[i]!)) found.push(i);
    return found;
  };
  const groups = { dataParallel: dp, tableParallel: tp, rowSlice: row };
  const inputGroups = { dataParallel: inputsOf(dp), tableParallel: inputsOf(tp), rowSlice: inputsOf(row) };
  const mapOf = (inputs: number[], group: number[]): number[] => inputs.map((i) => group.indexOf(a.inputTableMap[i]!));
  const mapGroups = {
    dataParallel: mapOf(inputGroups.dataParallel, dp),
    tableParallel: mapOf(inputGroups.tableParallel, tp),
    rowSlice: mapOf(inputGroups.rowSlice, row),
  };
  const order = [...inputGroups.dataParallel, ...inputGroups.tableParallel, ...inputGroups.rowSlice];
  const revGroupIds = a.inputTableMap.map((_, i) => order.indexOf(i));
  const ranks: Record<string, unknown>[] = [];
  for (let r = 0; r < N; r++) ranks.push({});
  const plan: Record<string, unknown> = {
    effectiveStrategy: strategy,
    effectiveRowSliceThreshold: rowT,
    effectiveDataParallelThreshold: dpT,
    tableGroups: groups,
    inputGroups,
    mapGroups,
    revGroupIds,
    ranks,
  };
  if (dp.length > 0) {
    plan['dataParallelTables'] = dp.map((t) => {
      return { table: t, inputDim: a.tables[t]!.inputDim, outputDim: a.tables[t]!.outputDim };
    });
  }
  if (tp.length > 0) {
    let threshold = a.columnSliceThreshold;
    if (threshold === null && N > tp.length) {
      const sizes = tp.map(size);
      while (N > sizes.length) {
        sizes.sort((x, y) => y - x);
        const x = sizes.shift()!;
        threshold = x - 1;
        sizes.push(Math.floor(x / 2), Math.floor(x / 2));
      }
    }
    const widths = tp.map((t) => {
      const C = a.tables[t]!.outputDim;
      let k = 1;
      if (threshold !== null) for (let x = size(t); x > threshold && k < 1e6; x /= 2) k *= 2;
      if (k > 1) k = Math.min(k, N, C);
      const list: number[] = [];
      for (let s = 0; s < k; s++) list.push(Math.floor(C / k) + (s < C % k ? 1 : 0));
      return list;
    });
    const items: [number, number][] = [];
    widths.forEach((list, g) => list.forEach((w) => items.push([w * a.tables[tp[g]!]!.inputDim, g])));
    const divided: number[][] = [];
    for (let r = 0; r < N; r++) divided.push([]);
    const falling = (): [number, number][] => [...items].sort(([s, g], [u, h]) => (u === s ? h - g : u - s));
    if (strategy === 'basic') items.forEach(([, g], i) => divided[i % N]!.push(g));
    else if (strategy === 'memory_balanced') {
      const sorted = falling();
      for (let r = 0; r < N; r++) {
        for (let i = r; i < sorted.length; i += 2 * N) divided[r]!.push(sorted[i]![1]);
        for (let i = 2 * N - 1 - r; i < sorted.length; i += 2 * N) divided[r]!.push(sorted[i]![1]);
      }
    } else {
      const bins = divided.map((ids) => ({ total: 0, ids }));
      const text = (ids: number[]): string => ids.map((id) => String(id).padStart(4, '0')).join();
      for (const [s, g] of falling()) {
        bins[0]!.total += s;
        bins[0]!.ids.push(g);
        bins.sort((x, y) => x.total - y.total || (text(x.ids) < text(y.ids) ? -1 : 1));
      }
      bins.forEach(({ ids }, r) => (divided[r] = ids));
    }
    if (divided.some((ids) => ids.length === 0)) return null;
    const queues = widths.map((list) => [...list]);
    const ends = widths.map(() => 0);
    const held: Entry[][] = divided.map((ids) => {
      const entries: Entry[] = [];
      for (const g of ids) {
        const w = queues[g]!.shift()!;
        const old = entries.find(({ t }) => t === g);
        if (old) old.to += w;
        else entries.push({ t: g, from: ends[g]!, to: ends[g]! + w });
        ends[g]! += w;
      }
      return entries;
    });
    const flat: number[] = [];
    const flatInputs: number[] = [];
    held.forEach((entries, r) => {
      const elements = entries.map(({ t, from, to }) => (to - from) * a.tables[tp[t]!]!.inputDim);
      const host = entries.map(() => false);
      if (a.deviceMemory !== null) {
        const bySize = entries.map((_, e) => e).sort((x, y) => elements[x]! - elements[y]!);
        let sum = 0;
        for (const e of bySize) {
          sum += elements[e]!;
          if (sum * 4 > a.deviceMemory) host[e] = true;
        }
      }
      const joined: { w: number; combiner: unknown; host: boolean; members: number[] }[] = [];
      entries.forEach(({ t, from, to }, e) => {
        const { combiner } = a.tables[tp[t]!]!;
        const fit = joined.find((j) => j.w === to - from && j.combiner === combiner && !j.host && !host[e]);
        if (fit) fit.members.push(e);
        else joined.push({ w: to - from, combiner, host: host[e]!, members: [e] });
      });
      const rowsOf = (e: number): number => a.tables[tp[entries[e]!.t]!]!.inputDim;
      const offsets = joined.map(({ members }) => {
        const list = [0];
        for (const e of members) list.push(list[list.length - 1]! + rowsOf(e));
        return list;
      });
      const inputIds: number[] = [];
      const localMap: number[] = [];
      const inputOffsets: number[] = [];
      entries.forEach(({ t, from, to }, e) => {
        mapGroups.tableParallel.forEach((g, i) => {
          if (g !== t) return;
          const j = joined.findIndex(({ members }) => members.includes(e));
          inputIds.push(i);
          localMap.push(j);
          inputOffsets.push(offsets[j]![joined[j]!.members.indexOf(e)]!);
          flat.push(to - from);
          flatInputs.push(i);
        });
      });
      ranks[r]!['tableParallel'] = {
        tableIds: entries.map(({ t }) => t),
        shards: entries.map(({ t, from, to }) => ({ table: tp[t], columns: [from, to] })),
        inputIds,
        inputIdsGlobal: inputIds.map((i) => inputGroups.tableParallel[i]),
        localMap,
        inputOffsets,
        physicalTables: joined.map(({ w, combiner, host: cpuOffload }, j) => {
          return { inputDim: offsets[j]![offsets[j]!.length - 1], outputDim: w, combiner, cpuOffload };
        }),
        concatGroups: joined.map(({ members }) => members),
        weightOffsets: offsets,
        elements: elements.reduce((x, y) => x + y, 0),
      };
    });
    const before: number[][] = [];
    const after: number[][] = [];
    mapGroups.tableParallel.forEach((g, i) => {
      if (widths[g]!.length === 1) return;
      before.push([i, i + widths[g]!.length]);
      after.push([i, i + held.filter((entries) => entries.some(({ t }) => t === g)).length]);
    });
    const places: number[] = [];
    for (let i = 0; i < mapGroups.tableParallel.length; i++) {
      flatInputs.forEach((input, place) => {
        if (input === i) places.push(place);
      });
    }
    plan['tableParallel'] = {
      sliceWidthsPerTable: widths,
      dividedIds: divided,
      slicedOutRangesBeforeMerge: before,
      slicedOutRanges: after,
      widthsListFlat: flat,
      revTpIds: places,
    };
  }
  if (row.length > 0) {
    for (const t of row) {
      const { inputDim: R, outputDim } = a.tables[t]!;
      let start = 0;
      for (let r = 0; r < N; r++) {
        const inputDim = Math.floor(R / N) + (r < R % N ? 1 : 0);
        const list = (ranks[r]!['rowSlice'] ??= []) as unknown[];
        if (a.rowSharding === 'modulo') {
          list.push({ table: t, modulo: { divisor: N, remainder: r }, inputDim, outputDim });
        } else {
          const inputOffset = start === 0 ? 0 : -start;
          list.push({ table: t, rows: [start, start + inputDim], inputOffset, inputDim, outputDim });
        }
        start += inputDim;
      }
    }
  }
  return plan;
}
