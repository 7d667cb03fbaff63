/** Programs over objects of graphs that real TensorFlow ran: see test/goldens/gen_stateful_ops.py. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../helpers/project.js';
import type { GoldenSignature, GoldenTensor } from './golden_ops.js';
import { tensorOf } from './one_op_graph.js';
import { loadGraph, placeholder, type Node } from './small_graph.js';

interface Step {
  readonly op: string;
  /** As the converter writes them. */
  readonly attributes: object;
  readonly inputs: readonly (GoldenTensor | { readonly step: number; readonly output: number })[];
  /** null for handles. */
  readonly outputs?: readonly (GoldenTensor | null)[];
  /** Whether the outputs are in the order of the first one's values. */
  readonly sorted?: boolean;
}

export interface StatefulProgram {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly error?: string;
}

export interface Outcome {
  readonly expected: GoldenTensor;
  readonly actual: tf.Tensor;
  readonly sorted: boolean;
  readonly what: string;
}

interface Golden {
  readonly signatures: readonly GoldenSignature[];
  readonly programs: readonly StatefulProgram[];
}

export function statefulGoldens(): Golden {
  return JSON.parse(readFileSync(join(ROOT, 'test', 'goldens', 'stateful_ops.json'), 'utf8')) as Golden;
}

const TYPES = { int32: 'DT_INT32', float32: 'DT_FLOAT', bool: 'DT_BOOL', string: 'DT_STRING' } as const;

/** The steps as nodes, each after the one before it, and what their placeholders are fed. */
function graphOf({ steps }: StatefulProgram): { nodes: Node[]; feeds: tf.NamedTensorMap } {
  const nodes: Node[] = [];
  const feeds: tf.NamedTensorMap = {};
  steps.forEach(({ op, attributes, inputs }, at) => {
    const input = inputs.map((given, i) => {
      if ('step' in given) return given.output === 0 ? `s${given.step}` : `s${given.step}:${given.output}`;
      const name = `s${at}x${i}`;
      nodes.push(placeholder(name, { type: TYPES[given.dtype] }));
      feeds[name] = tensorOf(given);
      return name;
    });
    nodes.push({ name: `s${at}`, op, input: at === 0 ? input : [...input, `^s${at - 1}`], attr: attributes });
  });
  return { nodes, feeds };
}

/** Whether tfjs-converter runs an op only so; it warns where that is not needed. */
function isAsync({ steps }: StatefulProgram): boolean {
  return steps.some(({ op }) => /^(HashTable|LookupTable(Import|Find|Size))/.test(op));
}

/** Runs a program as one graph; the tensors of the outcomes are the caller's. */
export async function runProgram(program: StatefulProgram): Promise<Outcome[]> {
  const { nodes, feeds } = graphOf(program);
  const model = await loadGraph(nodes);
  const wanted = program.steps.flatMap(({ outputs = [], op, sorted = false }, at) =>
    outputs.flatMap((expected, i) =>
      expected === null ? [] : [{ expected, sorted, what: `${op} at step ${at}, output ${i}`, name: `s${at}:${i}` }],
    ),
  );
  const last = `s${program.steps.length - 1}`;
  try {
    const names = [...wanted.map(({ name }) => name), last];
    const results = isAsync(program) ? await model.executeAsync(feeds, names) : model.execute(feeds, names);
    const all = Array.isArray(results) ? results : [results];
    const lastOne = all[all.length - 1]!;
    if (!all.slice(0, -1).includes(lastOne)) lastOne.dispose();
    return wanted.map((each, i) => ({ ...each, actual: all[i]! }));
  } finally {
    tf.dispose(feeds);
    model.dispose();
  }
}
