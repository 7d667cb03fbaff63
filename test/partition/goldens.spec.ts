/** Plans of NVIDIA's planner class, run unchanged: ours must be equal in every list. */
import { readFileSync } from 'node:fs';
import { ValueError } from '../../src/base/errors.js';
import { checkPlan } from '../../src/partition/check_plan.js';
import { planEmbedding, type PlanEmbeddingArgs } from '../../src/partition/index.js';
import { camelDeep } from './camel_deep.js';

interface GoldenInputs {
  tables: { input_dim: number; output_dim: number; combiner: 'sum' | 'mean' | null }[];
  world_size: number;
  strategy: 'basic' | 'memory_balanced' | 'memory_optimized';
  input_table_map: number[] | null;
  column_slice_threshold: number | null;
  row_slice_threshold: number | null;
  data_parallel_threshold: number | null;
  gpu_embedding_size: number | null;
  dp_input: boolean;
}
interface GoldenOutputs extends Record<string, unknown> {
  table_parallel?: Record<string, unknown>;
  error: string | null;
}
interface Golden {
  id: string;
  description: string;
  inputs: GoldenInputs;
  outputs: GoldenOutputs;
}

const file = new URL('../goldens/strategies.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Golden[] };

function argsOf(inputs: GoldenInputs): PlanEmbeddingArgs {
  const { gpu_embedding_size: elements, ...rest } = inputs;
  const deviceMemory = elements === null ? null : 4 * elements;
  return { ...(camelDeep(rest) as Omit<PlanEmbeddingArgs, 'deviceMemory'>), deviceMemory, rowFallback: false };
}

function expected(outputs: GoldenOutputs): unknown {
  const { error, upstream_defects: defects, table_parallel: tableParallel, ...rest } = outputs;
  expect(error).toBeNull();
  expect(Array.isArray(defects)).toBeTrue();
  if (tableParallel === undefined) return camelDeep(rest);
  const { sliced_out_ranges_corrected: corrected, ...kept } = tableParallel;
  return camelDeep({ ...rest, table_parallel: { ...kept, sliced_out_ranges: corrected } });
}

describe('planEmbedding and the planner of distributed-embeddings', () => {
  it('has all cases', () => {
    expect(cases.length).toBe(54);
    expect(cases.filter(({ outputs }) => outputs.error !== null).length).toBe(3);
  });

  for (const { id, description, inputs, outputs } of cases) {
    it(`${id}: ${description}`, () => {
      if (outputs.error !== null) {
        expect(() => planEmbedding(argsOf(inputs))).toThrowError(ValueError, /`columnSliceThreshold`: expected pieces/);
        const filled = planEmbedding({ ...argsOf(inputs), rowFallback: true });
        for (const rank of filled.ranks) expect(rank.rowSlice!.every(({ inputDim }) => inputDim > 0)).toBeTrue();
        expect(filled.notes!.length).toBe(1);
        expect(checkPlan(filled, argsOf(inputs).tables)).toEqual([]);
        return;
      }
      const plan = planEmbedding(argsOf(inputs));
      expect(checkPlan(plan, argsOf(inputs).tables)).toEqual([]);
      for (const rank of plan.ranks) {
        expect(Object.keys(rank.predicted!).sort()).toEqual(['bytesMemory', 'bytesOut', 'lookups', 'seconds']);
        delete rank.predicted;
      }
      expect(plan as unknown).toEqual(expected(outputs));
      expect(JSON.parse(JSON.stringify(plan))).toEqual({ version: 1, ...(expected(outputs) as object) });
    });
  }
});
