/** Generated arguments of the planner, from small numbers that make ties and odd cuts likely. */
import type { PlanEmbeddingArgs, PlanTableArgs, StrategyName } from '../../src/partition/index.js';

/** A generator of whole numbers below a bound, equal for equal seeds. */
export function wholeNumbers(seed: number): (below: number) => number {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) >>> 0;
    return Math.floor(((state ^ (state >>> 13)) >>> 0) % below);
  };
}

type Given = Omit<PlanEmbeddingArgs, 'tables' | 'machine' | 'network' | 'hotness' | 'inputTableMap'>;

export type FullArgs = { [Field in keyof Given]-?: Exclude<Given[Field], undefined> } & {
  tables: PlanTableArgs[];
  inputTableMap: number[];
  hotness: number[];
};

export function generatedArgs(seed: number, strategies: readonly StrategyName[]): FullArgs {
  const below = wholeNumbers(seed);
  const maybe = (value: number): number | null => (below(2) === 0 ? null : value);
  const widths = [1, 2, 3, 4, 5, 7, 8, 8, 16];
  const tables = Array.from({ length: 1 + below(9) }, () => {
    const combiner = ([null, 'sum', 'sum', 'mean'] as const)[below(4)]!;
    return { inputDim: 4 + below(60), outputDim: widths[below(widths.length)]!, combiner };
  });
  const inputTableMap = tables.map((_, table) => table);
  for (let extra = below(4); extra > 0; extra--) inputTableMap.push(below(tables.length));
  for (let i = inputTableMap.length - 1; i > 0 && below(2) === 0; i--) {
    const j = below(i + 1);
    [inputTableMap[i], inputTableMap[j]] = [inputTableMap[j]!, inputTableMap[i]!];
  }
  return {
    tables,
    inputTableMap,
    worldSize: 1 + below(9),
    strategy: strategies[below(strategies.length)]!,
    columnSliceThreshold: maybe(10 + below(300)),
    rowSliceThreshold: maybe(200 + below(700)),
    dataParallelThreshold: maybe(below(120)),
    deviceMemory: maybe(4 * below(900)),
    dpInput: below(4) > 0,
    rowSharding: below(2) === 0 ? 'range' : 'modulo',
    rowFallback: true,
    hotness: inputTableMap.map(() => 1 + below(10)),
    batchSize: 64,
  };
}

/** NVIDIA's synthetic model `tiny`: 55 tables, 58 inputs. Rows may be scaled. */
export function tinyModel(scale = 1): { tables: PlanTableArgs[]; inputTableMap: number[]; hotness: number[] } {
  const parts: [count: number, rows: number, columns: number, hotness: number[]][] = [
    [1, 1e4, 8, [1, 10]],
    [1, 1e6, 16, [1, 10]],
    [1, 25e6, 16, [1, 10]],
    [1, 25e6, 16, [1]],
    [16, 10, 8, [1]],
    [10, 1000, 8, [1]],
    [4, 1e4, 8, [1]],
    [2, 1e5, 16, [1]],
    [19, 1e6, 16, [1]],
  ];
  const model = { tables: [] as PlanTableArgs[], inputTableMap: [] as number[], hotness: [] as number[] };
  for (const [count, rows, outputDim, hotness] of parts) {
    for (let i = 0; i < count; i++) {
      model.inputTableMap.push(...hotness.map(() => model.tables.length));
      model.hotness.push(...hotness);
      model.tables.push({ inputDim: Math.max(1, Math.round(rows * scale)), outputDim, combiner: 'sum' });
    }
  }
  return model;
}
