/**
 * Shaders of this package, run by the public `runWebGPUProgram` of tfjs. It declares each input as read only and the output
 * as `result`, which may be a tensor that is there already, and is then written in place. A further tensor that is
 * written is declared once more at its binding: a shader may see one of the two declarations, as long as it uses one.
 */
import type * as tf from '@tensorflow/tfjs';
import type { Uniform, WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';

export interface Program {
  /** Tells shaders apart: the same name is the same code and the same dtypes. */
  readonly name: string;
  readonly inputs: Readonly<Record<string, tf.TensorInfo>>;
  /** Inputs that are float32 and written, as `<name>Written`. */
  readonly written?: readonly string[];
  /** Whole numbers, as `uniforms.<name>`. */
  readonly ints?: Readonly<Record<string, number>>;
  readonly floats?: Readonly<Record<string, number>>;
  /** How often `run(index : i32)` runs at least; it returns where the index is beyond what there is to do. */
  readonly threads: number;
  readonly code: string;
}

const WORKGROUP = 64;
/** Of float32. */
const LARGEST = (2 - 2 ** -23) * 2 ** 127;
/** One shape for all tensors: shaders see them as arrays, and tfjs compiles one anew for shapes that differ in kind. */
const SHAPE = [2];

function asArray({ dataId, dtype }: tf.TensorInfo): tf.TensorInfo {
  return { dataId, dtype, shape: SHAPE };
}

function uniformsOf({ ints = {}, floats = {} }: Program): { declared: string; values: Uniform[] } {
  const declared = [
    ...Object.keys(ints).map((name) => `${name} : i32,`),
    ...Object.keys(floats).map((name) => `${name} : f32,`),
  ].join(' ');
  const values = [
    ...Object.values(ints).map((value): Uniform => ({ type: 'int32', data: [value] })),
    // A shader may take infinities for anything.
    ...Object.values(floats).map((value): Uniform => ({
      type: 'float32',
      data: [Math.min(Math.max(value, -LARGEST), LARGEST)],
    })),
  ];
  return { declared, values };
}

/** Runs a shader that writes `output`, or parts of it. Tensors without values are not to be among inputs. */
export function runProgram(backend: WebgpuBackend, program: Program, output: tf.TensorInfo): void {
  const { name, inputs, written = [], threads, code } = program;
  if (threads === 0) return;
  const names = Object.keys(inputs);
  const { declared, values } = uniformsOf(program);
  const again = written.map((input) => {
    const binding = names.indexOf(input) + 1;
    return `@group(0) @binding(${binding}) var<storage, read_write> ${input}Written : array<f32>;\n`;
  });
  // What a shader does not mention is not in its layout, and binding it would be an error.
  const mentioned = names.map((input) => `_ = &${input}${written.includes(input) ? 'Written' : ''};`);
  const main = `\nfn main(index : i32) { _ = uniforms.NAN; ${mentioned.join(' ')} run(index); }\n`;
  backend.runWebGPUProgram(
    {
      variableNames: names,
      uniforms: declared,
      outputShape: SHAPE,
      workgroupSize: [WORKGROUP, 1, 1],
      dispatchLayout: { x: [0] },
      dispatch: [Math.ceil(threads / WORKGROUP), 1, 1],
      shaderKey: `tfjsEmbeddings_${name}`,
      getUserCode: () => again.join('') + code + main,
    },
    Object.values(inputs).map(asArray),
    output.dtype,
    values,
    asArray(output),
  );
}

/** Tensors that a call needs for itself; to be freed at its end. */
export class Scratch {
  readonly #made: tf.TensorInfo[] = [];

  constructor(private readonly backend: WebgpuBackend) {}

  /** One without values, or with these. */
  make(length: number, dtype: 'float32' | 'int32', values?: tf.TypedArray): tf.TensorInfo {
    const info = this.backend.makeTensorInfo([Math.max(1, length)], dtype, values);
    this.#made.push(info);
    return info;
  }

  free(): void {
    for (const { dataId } of this.#made) this.backend.disposeData(dataId);
    this.#made.length = 0;
  }
}

/** Runs with tensors of its own. */
export function withScratch<T>(backend: WebgpuBackend, run: (scratch: Scratch) => T): T {
  const scratch = new Scratch(backend);
  try {
    return run(scratch);
  } finally {
    scratch.free();
  }
}
