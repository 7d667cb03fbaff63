/** Compares a use of `DistributedEmbedding` on a machine with the same on one device: to the bit, or within bounds. */
import { gradientMagnitude, pooledMagnitudes } from '../../helpers/magnitudes.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator, type EmulatedMachine } from '../../helpers/tpu_emulator.js';
import { pooledBags } from './forms.js';
import type { DistributedCase, InputCase } from './generated_case.js';
import { runCase, type Moment, type Noted } from './run.js';
import { floatTable } from '../../../src/backends/kernel_set.js';

const TOLERANCE = 1e-6;

/** The place of the first value that is further away than its bound, or -1. Without bounds: that differs in a bit. */
function firstFar(actual: Float32Array, expected: Float32Array, bounds: ((place: number) => number) | null): number {
  if (actual.length !== expected.length) return Math.min(actual.length, expected.length);
  return expected.findIndex((value, i) => {
    if (Object.is(actual[i], value)) return false;
    return bounds === null || !(Math.abs(actual[i]! - value) <= bounds(i));
  });
}

/** Compares one run with that on one device. */
class Comparison {
  readonly problems: string[] = [];

  constructor(
    private readonly example: DistributedCase,
    private readonly expected: readonly Moment[],
    private readonly what: string,
  ) {}

  run(actual: readonly Moment[]): string[] {
    actual.forEach((moment, step) => {
      this.outputs(step, moment);
      this.tables(step, moment);
      this.state(step, moment);
    });
    return this.problems;
  }

  private report(what: string, at: number, actual: Float32Array, expected: Float32Array): void {
    if (at < 0) return;
    const lengths = actual.length === expected.length ? '' : ` (lengths ${actual.length}, ${expected.length})`;
    this.problems.push(`${this.what}: ${what}[${at}] is ${actual[at]}, expected ${expected[at]}${lengths}`);
  }

  /** The terms of each value that a feature gives, and of the gradient of its table. */
  private bagCase(input: InputCase, step: number): Parameters<typeof pooledMagnitudes>[0] {
    const { items, tables } = this.example;
    const { name, rows, columns: dim } = tables[items[input.item]!.table]!;
    const { bags, combiner } = pooledBags(this.example, input, input.batches[step]!);
    const { values } = this.expected[Math.max(0, step - 1)]!.tables.find((table) => table.name === name)!;
    return {
      name,
      table: floatTable(values, rows, dim),
      bags,
      options: { combiner, outOfRange: 'zero', maxNorm: 0 },
      gradient: Float32Array.of(1),
    };
  }

  private outputs(step: number, { outputs, kinds }: Moment): void {
    const expected = this.expected[step]!;
    this.example.inputs.forEach((input, i) => {
      const [actual, wanted] = [outputs[i]!, expected.outputs[i]!];
      const what = `step ${step}, output ${i} of ${this.tableOf(input)}, ${kinds.get(this.tableOf(input))}`;
      if (actual.shape.join() !== wanted.shape.join()) {
        this.problems.push(`${this.what}: ${what} has the shape [${actual.shape}], expected [${wanted.shape}]`);
        return;
      }
      const kind = kinds.get(this.tableOf(input));
      const isExact = kind !== 'rows' && (kind !== 'replicated' || step < 2);
      const terms = isExact ? null : pooledMagnitudes(this.bagCase(input, step));
      // Copies differ by what their own training may differ.
      const more = kind === 'replicated' ? this.gradientSize(this.tableOf(input), step - 1) : 1e-6;
      const bounds = terms === null ? null : (place: number) => TOLERANCE * (terms[place]! + more);
      this.report(what, firstFar(actual.values, wanted.values, bounds), actual.values, wanted.values);
    });
  }

  private tableOf({ item }: InputCase): string {
    return this.example.tables[this.example.items[item]!.table]!.name;
  }

  /** The largest sum of |gradient| of a row of a table up to a step, and 1 for what else it is made of. */
  private gradientSize(table: string, steps: number): number {
    let size = 1;
    for (let step = 1; step <= steps; step++) {
      for (const input of this.example.inputs) {
        if (this.tableOf(input) === table) size += gradientMagnitude(this.bagCase(input, step));
      }
    }
    return size;
  }

  private tables(step: number, { tables, kinds }: Moment): void {
    this.pairs(step, 'table', tables, this.expected[step]!.tables, kinds, (name) => {
      if (kinds.get(name) !== 'replicated') return null;
      const size = this.gradientSize(name, step);
      return (value) => TOLERANCE * (size + Math.abs(value));
    });
  }

  private state(step: number, { state, kinds }: Moment): void {
    const isStock = this.example.optimizer.name.startsWith('tf.');
    const anyCopies = [...kinds.values()].includes('replicated');
    this.pairs(step, 'state', state, this.expected[step]!.state, kinds, (name) => {
      const table = isStock && anyCopies ? [...kinds.keys()][0]! : name.split('/')[0]!;
      if (!isStock && kinds.get(table) !== 'replicated') return null;
      if (isStock && !anyCopies) return null;
      const size = Math.max(...[...kinds.keys()].map((each) => this.gradientSize(each, step)));
      return (value) => TOLERANCE * (size * size + Math.abs(value));
    });
  }

  private pairs(
    step: number,
    what: string,
    actual: readonly Noted[],
    expected: readonly Noted[],
    kinds: Moment['kinds'],
    boundsOf: (name: string) => ((value: number) => number) | null,
  ): void {
    const names = (list: readonly Noted[]): string => list.map(({ name }) => name).join();
    if (names(actual) !== names(expected)) {
      this.problems.push(`${this.what}: step ${step}, ${what}s ${names(actual)}, expected ${names(expected)}`);
      return;
    }
    actual.forEach(({ name, values }, i) => {
      const wanted = expected[i]!.values;
      const bound = boundsOf(name);
      const at = firstFar(values, wanted, bound === null ? null : (place) => bound(wanted[place]!));
      this.report(`step ${step}, ${what} ${name}, ${kinds.get(name.split('/')[0]!)}`, at, values, wanted);
    });
  }
}

/** Runs a use on a machine; where that is not what one device gave. */
export async function problemsOf(
  example: DistributedCase,
  machine: EmulatedMachine,
  expected: readonly Moment[],
): Promise<string[]> {
  const actual = await withTpuEmulator(machine, () => expectNoLeakAsync(() => runCase(example)));
  const what = `seed ${example.seed}, ${JSON.stringify(machine)}`;
  return new Comparison(example, expected, what).run(actual);
}
