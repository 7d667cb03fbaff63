/** What this package takes of tfjs-backend-webgpu, as it is from 4.22 on: the backend, its records and its device. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError } from '../../base/errors.js';

export const WEBGPU = 'webgpu';

/** A buffer of the device. */
export interface Buffer {
  readonly size: number;
}

/** A part of a buffer, as a shader sees it. */
export interface Binding {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly size: number;
}

/** What the backend keeps per data id. A resource that is no buffer is bound as it is. */
export interface GpuRecord {
  values: tf.TypedArray | null;
  readonly dtype: tf.DataType;
  readonly shape: number[];
  refCount: number;
  resource?: Buffer | Binding | null;
  external?: boolean;
}

interface Encoder {
  clearBuffer(buffer: Buffer): void;
  copyBufferToBuffer(from: Buffer, fromByte: number, to: Buffer, toByte: number, bytes: number): void;
  finish(): object;
}

interface Labelled {
  readonly label?: string;
}

export interface GpuDevice {
  readonly limits: { readonly maxStorageBufferBindingSize: number; readonly maxBufferSize: number };
  readonly queue: {
    writeBuffer(buffer: Buffer, offset: number, values: tf.TypedArray): void;
    submit(commands: readonly object[]): void;
  };
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>;
  createCommandEncoder(): Encoder;
  createShaderModule(descriptor: Labelled): object;
  createComputePipeline(descriptor: Labelled): object;
  pushErrorScope(filter: 'validation'): void;
  popErrorScope(): Promise<unknown>;
  addEventListener(type: 'uncapturederror', listener: (event: { error: { message: string } }) => void): void;
}

/** A shader as the backend takes it; it declares inputs, output and uniforms before the code. */
export interface WebgpuProgram {
  readonly variableNames: readonly string[];
  readonly uniforms: string;
  readonly outputShape: readonly number[];
  readonly workgroupSize: readonly [number, number, number];
  readonly dispatchLayout: { readonly x: readonly number[] };
  dispatch: readonly [number, number, number];
  shaderKey: string;
  getUserCode(): string;
}

export interface Uniform {
  readonly type: 'int32' | 'float32';
  readonly data: number[];
}

export interface WebgpuBackend extends tf.KernelBackend {
  readonly device: GpuDevice;
  readonly tensorMap: { has(dataId: object): boolean; get(dataId: object): GpuRecord };
  uploadToGPU(dataId: object): void;
  readToGPU(dataId: object): { readonly tensorRef: tf.Tensor };
  ensureCommandEncoderReady(): void;
  endComputePassEncoder(): void;
  submitQueue(): void;
  makeTensorInfo(shape: number[], dtype: tf.DataType, values?: tf.TypedArray): tf.TensorInfo;
  runWebGPUProgram(
    program: WebgpuProgram,
    inputs: readonly tf.TensorInfo[],
    dtype: tf.DataType,
    uniforms: readonly Uniform[],
    output?: tf.TensorInfo,
  ): tf.TensorInfo;
}

/** Every version of the backend asks for exactly its own version of the core. */
const LEAST = [4, 22] as const;

/** Throws where tfjs is older than this package can write tables of. */
export function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return;
  const note = 'Update @tensorflow/tfjs and @tensorflow/tfjs-backend-webgpu together, or train on webgl or wasm.';
  throw new RuntimeError('backend', 'webgpu of tfjs 4.22 or later', `webgpu of tfjs ${version}`, note);
}

/** The backend in use, which is `webgpu`. */
export function webgpuBackend(): WebgpuBackend {
  checkVersion(tf.version_core);
  return tf.backend() as unknown as WebgpuBackend;
}
