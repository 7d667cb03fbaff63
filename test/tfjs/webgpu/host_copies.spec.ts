/** What the host knows of tensors on the GPU, with a backend that keeps values and gives none back at once. */
import * as tf from '@tensorflow/tfjs';
import { followCopies } from '../../../src/tfjs/webgpu/derived_copies.js';
import { HostCopies } from '../../../src/tfjs/webgpu/host_copies.js';
import { WEBGPU, type GpuRecord, type WebgpuBackend } from '../../../src/tfjs/webgpu/webgpu_backend.js';
import { Random } from '../../helpers/random.js';

const KERNELS = ['Slice', 'GatherV2', 'Cast', 'Concat', 'Pack'];
const MOST_FLOATS = 4_194_304;

type Info = tf.TensorInfo;

/** A backend of WebGPU that does nothing but hold values. */
class Gpu {
  readonly records = new Map<object, GpuRecord>();
  readonly reads: object[] = [];
  readonly tensorMap = this.records;
  fails: Error | null = null;
  readonly device = {
    lost: new Promise<never>(() => undefined),
    addEventListener: () => undefined,
    pushErrorScope: () => undefined,
    popErrorScope: () => Promise.resolve(null),
    createShaderModule: () => ({}),
    createComputePipeline: () => ({}),
  };

  /** A tensor whose values are on the host, or nowhere. */
  make(shape: number[], dtype: tf.DataType, values: tf.TypedArray | null = null): Info {
    const dataId = {};
    this.records.set(dataId, { values, dtype, shape, refCount: 1 });
    return { dataId, shape, dtype };
  }

  uploadToGPU(dataId: object): void {
    this.records.get(dataId)!.values = null;
  }

  readSync(dataId: object): tf.TypedArray {
    this.reads.push(dataId);
    return Int32Array.of(77);
  }

  read(dataId: object): Promise<tf.TypedArray> {
    return Promise.resolve(this.readSync(dataId));
  }
}

describe('copies on the host', () => {
  let gpu: Gpu;
  let backend: WebgpuBackend;
  let copies: HostCopies;
  beforeEach(() => {
    gpu = new Gpu();
    backend = gpu as unknown as WebgpuBackend;
    copies = HostCopies.of(backend);
  });

  it('are of whole numbers, and of floats that are no more than ids can be', () => {
    expect(HostCopies.of(backend)).toBe(copies);
    for (const [dtype, values, isKept] of [
      ['int32', Int32Array.of(1, 2), true],
      ['float32', Float32Array.of(1, 2), true],
      ['bool', Uint8Array.of(1, 0), false],
      ['float32', new Float32Array(MOST_FLOATS), true],
      ['float32', new Float32Array(MOST_FLOATS + 1), false],
      ['int32', new Int32Array(MOST_FLOATS + 1), true],
    ] as const) {
      const tensor = gpu.make([values.length], dtype, values);
      expect(copies.valuesOf(tensor)).toBe(values);
      backend.uploadToGPU(tensor.dataId);
      expect(copies.valuesOf(tensor)).toBe(isKept ? values : null);
      expect(copies.sourceOf(tensor)?.() ?? null).toBe(isKept ? values : null);
    }
    expect(copies.valuesOf(gpu.make([2], 'int32'))).toBeNull();
    expect(copies.sourceOf(gpu.make([2], 'int32'))).toBeNull();
  });

  it('are what is read, in an array of its own, until the tensor is written', async () => {
    const tensor = gpu.make([2], 'int32', Int32Array.of(1, 2));
    backend.uploadToGPU(tensor.dataId);
    const found = (backend as unknown as Gpu).readSync(tensor.dataId);
    expect([...found]).toEqual([1, 2]);
    found[0] = 9;
    expect([...copies.valuesOf(tensor)!]).toEqual([1, 2]);
    expect(gpu.reads).toEqual([]);
    copies.forget(tensor.dataId);
    expect(copies.valuesOf(tensor)).toBeNull();
    expect([...(backend as unknown as Gpu).readSync(tensor.dataId)]).toEqual([77]);
    expect([...(await (backend as unknown as Gpu).read(tensor.dataId))]).toEqual([77]);
  });

  it('are derived once, when they are asked for, and from no tensor that is known', () => {
    let calls = 0;
    const make = (): Int32Array => Int32Array.of(++calls);
    const [unknown, here] = [gpu.make([1], 'int32'), gpu.make([1], 'int32', Int32Array.of(5))];
    copies.derive(unknown, make);
    copies.derive(unknown, () => Int32Array.of(-1));
    copies.derive(here, make);
    expect(calls).toBe(0);
    for (let i = 0; i < 2; i++) expect([...copies.valuesOf(unknown)!]).toEqual([1]);
    expect([...copies.valuesOf(here)!]).toEqual([5]);
    backend.uploadToGPU(here.dataId);
    expect([...copies.valuesOf(here)!]).toEqual([5]);
    const never = gpu.make([1], 'int32');
    copies.derive(never, () => (calls++, null));
    for (let i = 0; i < 2; i++) expect(copies.valuesOf(never)).toBeNull();
    expect(calls).toBe(2);
  });
});

describe('ops that make batches', () => {
  let stock: Map<string, tf.KernelConfig | undefined>;
  let gpu: Gpu;
  let copies: HostCopies;

  beforeAll(() => tf.setBackend('cpu'));
  beforeEach(() => {
    gpu = new Gpu();
    copies = HostCopies.of(gpu as unknown as WebgpuBackend);
    stock = new Map(KERNELS.map((name) => [name, tf.getKernel(name, WEBGPU)]));
    for (const kernelName of KERNELS) {
      if (stock.get(kernelName) !== undefined) tf.unregisterKernel(kernelName, WEBGPU);
      // Shape and dtype of the output are told by the call.
      const kernelFunc = ({ attrs }: { attrs: unknown }): Info => {
        const { shape, dtype } = (attrs as { output: Pick<Info, 'shape' | 'dtype'> }).output;
        return gpu.make(shape, dtype);
      };
      tf.registerKernel({ kernelName, backendName: WEBGPU, kernelFunc: kernelFunc as never });
    }
    followCopies();
    followCopies();
  });
  afterEach(() => {
    for (const [name, config] of stock) {
      tf.unregisterKernel(name, WEBGPU);
      if (config !== undefined) tf.registerKernel(config);
    }
  });

  /** Runs a kernel; gives what the host knows of the output. */
  function known(
    name: string,
    inputs: object,
    attrs: object,
    output: { shape: number[]; dtype: tf.DataType },
  ): number[] | null {
    const kernel = tf.getKernel(name, WEBGPU).kernelFunc;
    const made = kernel({ inputs: inputs as never, attrs: { ...attrs, output } as never, backend: gpu }) as Info;
    expect(made.shape).toEqual(output.shape);
    const values = copies.valuesOf(made);
    if (values !== null) expect(values.constructor).toBe(made.dtype === 'int32' ? Int32Array : Float32Array);
    return values === null ? null : [...values];
  }

  /** The same tensor on the GPU, after its values went up, and on the host. */
  function both(
    random: Random,
    shape: number[],
    dtype: 'int32' | 'float32' = 'int32',
    isKnown = true,
  ): [Info, tf.Tensor] {
    const size = tf.util.sizeFromShape(shape);
    const numbers = Array.from({ length: size }, () => random.whole(-50, 50) + (dtype === 'float32' ? 0.5 : 0));
    const values = dtype === 'int32' ? Int32Array.from(numbers) : Float32Array.from(numbers);
    const info = gpu.make(shape, dtype, isKnown ? values : null);
    if (isKnown) (gpu as unknown as WebgpuBackend).uploadToGPU(info.dataId);
    return [info, tf.tensor(numbers, shape, dtype)];
  }

  it('tell what they give where they take whole rows', () => {
    tf.tidy(() => {
      for (let seed = 0; seed < 30; seed++) {
        const random = new Random(seed);
        const dtype = seed % 2 === 0 ? 'int32' : 'float32';
        const shape = [
          random.whole(1, 7),
          ...(seed % 3 === 0 ? [] : [random.whole(1, 4)]),
          ...(seed % 5 === 0 ? [2] : []),
        ];
        const [x, wanted] = both(random, shape, dtype);
        const first = random.whole(0, shape[0]!);
        const rows = random.whole(1, shape[0]! - first + 1);
        const begin = [first, ...shape.slice(1).map(() => 0)];
        const part = wanted.slice(begin, [rows, ...shape.slice(1)]);
        for (const size of [
          [rows, ...shape.slice(1)],
          [rows, ...shape.slice(1).map(() => -1)],
        ])
          expect(known('Slice', { x }, { begin, size }, part)).toEqual([...part.dataSync()]);
        const places = Array.from({ length: random.whole(1, 6) }, () => random.whole(0, shape[0]!));
        const indices = gpu.make([places.length], 'int32', Int32Array.from(places));
        const taken = wanted.gather(tf.tensor1d(places, 'int32'));
        expect(known('GatherV2', { x, indices }, { axis: 0, batchDims: 0 }, taken)).toEqual([...taken.dataSync()]);
        const [y, other] = both(random, [random.whole(1, 4), ...shape.slice(1)], dtype);
        const all = tf.concat([wanted, other]);
        expect(known('Concat', [x, y], { axis: 0 }, all)).toEqual([...all.dataSync()]);
        const stacked = tf.stack([wanted, wanted]);
        expect(known('Pack', [x, x], { axis: 0 }, stacked)).toEqual([...stacked.dataSync()]);
        for (const to of ['int32', 'float32'] as const) {
          const made = wanted.cast(to);
          expect(known('Cast', { x }, { dtype: to }, made)).toEqual([...made.dataSync()]);
        }
      }
    });
  });

  it('tell nothing of what they cut out of rows, of places that are not there, and of values that nobody knows', () => {
    tf.tidy(() => {
      const random = new Random(1);
      const [x] = both(random, [4, 3]);
      const [unknown] = both(random, [4, 3], 'int32', false);
      const places = (...values: number[]): Info => gpu.make([values.length], 'int32', Int32Array.from(values));
      const int = (...shape: number[]): { shape: number[]; dtype: 'int32' } => ({ shape, dtype: 'int32' });
      expect(known('Slice', { x }, { begin: [0, 1], size: [2, 2] }, int(2, 2))).toBeNull();
      expect(known('Slice', { x }, { begin: [0, 0], size: [2, 2] }, int(2, 2))).toBeNull();
      expect(known('Slice', { x: unknown }, { begin: [0, 0], size: [2, 3] }, int(2, 3))).toBeNull();
      for (const row of [-1, 4])
        expect(known('GatherV2', { x, indices: places(0, row) }, { axis: 0, batchDims: 0 }, int(2, 3))).toBeNull();
      expect(known('GatherV2', { x, indices: places(0, 3) }, { axis: 0, batchDims: 0 }, int(2, 3))!.length).toBe(6);
      expect(known('GatherV2', { x, indices: places(0) }, { axis: 1, batchDims: 0 }, int(4, 1))).toBeNull();
      expect(
        known(
          'GatherV2',
          { x, indices: gpu.make([4, 1], 'int32', new Int32Array(4)) },
          { axis: 1, batchDims: 1 },
          int(4, 1),
        ),
      ).toBeNull();
      expect(
        known(
          'GatherV2',
          { x, indices: gpu.make([4], 'int32', new Int32Array(4)) },
          { axis: 0, batchDims: 1 },
          int(4, 3),
        ),
      ).toBeNull();
      expect(known('GatherV2', { x: unknown, indices: places(0) }, { axis: 0, batchDims: 0 }, int(1, 3))).toBeNull();
      expect(
        known('GatherV2', { x, indices: gpu.make([1], 'int32') }, { axis: 0, batchDims: 0 }, int(1, 3)),
      ).toBeNull();
      expect(known('Concat', [x, x], { axis: 1 }, int(4, 6))).toBeNull();
      for (const parts of [
        [x, unknown],
        [unknown, x],
      ])
        expect(known('Concat', parts, { axis: 0 }, int(8, 3))).toBeNull();
      expect(known('Cast', { x }, { dtype: 'bool' }, { shape: [4, 3], dtype: 'bool' })).toBeNull();
      expect(known('Cast', { x: unknown }, { dtype: 'float32' }, { shape: [4, 3], dtype: 'float32' })).toBeNull();
    });
  });

  it('tell nothing of what comes of a copy that turned out to be none', () => {
    const x = gpu.make([2, 1], 'int32');
    copies.derive(x, () => null);
    const int = (...shape: number[]): { shape: number[]; dtype: 'int32' } => ({ shape, dtype: 'int32' });
    expect(known('Slice', { x }, { begin: [0, 0], size: [1, 1] }, int(1, 1))).toBeNull();
    expect(
      known(
        'GatherV2',
        { x, indices: gpu.make([1], 'int32', new Int32Array(1)) },
        { axis: 0, batchDims: 0 },
        int(1, 1),
      ),
    ).toBeNull();
    expect(known('Concat', [x, x], { axis: 0 }, int(4, 1))).toBeNull();
    for (const dtype of ['int32', 'float32'] as const)
      expect(known('Cast', { x }, { dtype }, { shape: [2, 1], dtype })).toBeNull();
  });
});
