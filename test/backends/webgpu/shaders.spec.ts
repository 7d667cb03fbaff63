/** What shaders name, of each kind of lookup: a browser alone would tell of a name that is not there. */
import type * as tf from '@tensorflow/tfjs';
import { CODECS } from '../../../src/codecs/codecs.js';
import { pooledRows, weightsGradient } from '../../../src/backends/webgpu/lookups.js';
import { occurrencesOf } from '../../../src/backends/webgpu/occurrences.js';
import { withScratch } from '../../../src/backends/webgpu/programs.js';
import type { Bags } from '../../../src/backends/webgpu/operands.js';
import { setBindingLimit } from '../../../src/backends/webgpu/parts.js';
import type { Uniform, WebgpuBackend, WebgpuProgram } from '../../../src/tfjs/webgpu/webgpu_backend.js';

interface Run {
  readonly program: WebgpuProgram;
  readonly dtypes: readonly string[];
  readonly uniforms: readonly Uniform[];
}

/** A backend that notes what it is to run, and computes nothing. */
function noting(runs: Run[]): WebgpuBackend {
  const records = new WeakMap<object, object>();
  const backend = {
    device: { limits: { maxStorageBufferBindingSize: 2 ** 27, maxBufferSize: 2 ** 28 } },
    tensorMap: records,
    uploadToGPU: () => undefined,
    disposeData: () => true,
    makeTensorInfo(shape: number[], dtype: tf.DataType): tf.TensorInfo {
      const dataId = {};
      records.set(dataId, {});
      return { dataId, shape, dtype };
    },
    runWebGPUProgram(program: WebgpuProgram, inputs: tf.TensorInfo[], dtype: string, uniforms: Uniform[]): void {
      runs.push({ program, dtypes: [...inputs.map((each) => each.dtype), dtype], uniforms });
    },
  };
  return backend as unknown as WebgpuBackend;
}

const OF_LANGUAGE =
  /^(fn|let|var|for|if|else|return|while|loop|break|continue|true|false|_|i32|u32|f32|bool|bitcast|sqrt|select|abs|min|max|floor|extractBits|unpack2x16float|pack2x16float|array|storage|read_write|group|binding|uniforms|result|NAN|countOneBits|firstLeadingBit|exp2|ldexp|vec2|vec4|x|y|z|w)$/;

/** Names that a shader uses and that are neither inputs, uniforms, its own nor the language's. */
function strangers({ variableNames, uniforms, getUserCode }: WebgpuProgram): string[] {
  const code = getUserCode().replace(/\/\/[^\n]*/g, '');
  const own = Array.from(code.matchAll(/\b(?:fn|let|var(?:<[^>]*>)?|const)\s+(\w+)|(\w+)\s*:\s*[iuf]32/g), (found) => {
    return found[1] ?? found[2];
  });
  const known = new Set<string | undefined>([...variableNames, ...own]);
  const numbers = new Set([...uniforms.matchAll(/(\w+) :/g)].map(([, name]) => name));
  const used = code.matchAll(/(uniforms\.)?\b([A-Za-z_]\w*)/g);
  return [...used].flatMap(([, ofUniforms, name]) => {
    if (ofUniforms !== undefined) return numbers.has(name) || name === 'NAN' ? [] : [`uniforms.${name}`];
    return known.has(name) || OF_LANGUAGE.test(name!) ? [] : [name!];
  });
}

describe('shaders of lookups', () => {
  const runs: Run[] = [];
  const backend = noting(runs);
  const tensor = (shape: number[], dtype: tf.DataType = 'float32'): tf.TensorInfo =>
    backend.makeTensorInfo(shape, dtype);
  const bagsOf = (isWeighted: boolean): Bags => ({
    values: tensor([7], 'int32'),
    rowSplits: tensor([4], 'int32'),
    weights: isWeighted ? tensor([7]) : null,
  });
  beforeEach(() => (runs.length = 0));
  afterEach(() => setBindingLimit(null));

  for (const codec of CODECS) {
    for (const limit of [null, 64 * 4 * 8]) {
      it(`name what they are given, ${codec.name}, ${limit === null ? 'whole' : 'in parts'}`, () => {
        setBindingLimit(limit);
        const dim = 5;
        const words = codec.words(dim);
        const table = { tensor: tensor([200, words], codec.dtype), codec, dim };
        const texts = new Map<string, string>();
        for (const combiner of ['sum', 'mean', 'sqrtn'] as const) {
          for (const isWeighted of [false, true]) {
            for (const maxNorm of [0, 2]) {
              const options = { combiner, maxNorm, outOfRange: 'zero' } as const;
              pooledRows(backend, table, bagsOf(isWeighted), options);
              const lookups = runs.splice(0);
              const last = lookups.at(-1)!.program;
              expect(last.variableNames.includes('weights')).toBe(isWeighted);
              expect(/\bsum \+= [^;]*weights\[i\]/.test(last.getUserCode())).toBe(isWeighted);
              expect(last.variableNames.includes('scales')).toBe(maxNorm > 0);
              withScratch(backend, (scratch) => occurrencesOf(backend, scratch, bagsOf(isWeighted), options));
              const [places] = runs.splice(0);
              expect(/quotient\(weights\[i\], by\)/.test(places!.program.getUserCode())).toBe(isWeighted);
              if (isWeighted) weightsGradient(backend, table, tensor([3, dim]), bagsOf(true), options);
              for (const { program, dtypes, uniforms } of [...lookups, places!, ...runs.splice(0)]) {
                expect(strangers(program)).withContext(program.shaderKey).toEqual([]);
                for (const name of program.variableNames) {
                  expect(program.getUserCode())
                    .withContext(program.shaderKey)
                    .toMatch(new RegExp(`\\b${name}\\b`));
                }
                expect(uniforms.length).toBe(program.uniforms.match(/:/g)?.length ?? 0);
                // The backend takes shaders of one key for one another.
                const key = `${program.shaderKey} ${dtypes.join()}`;
                const text = program.getUserCode();
                expect(texts.get(key) ?? text)
                  .withContext(key)
                  .toBe(text);
                texts.set(key, text);
              }
            }
          }
        }
      });
    }
  }
});
