import * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../../../src/tfjs/engine/stock_kernel.js';

const KERNEL = 'StockKernelSpec';
const BACKEND = 'cpu';
const named = (dtype: tf.DataType): tf.TensorInfo => ({ dataId: {}, shape: [], dtype });

describe('replaceStockKernel', () => {
  const ran: string[] = [];
  const stock: tf.KernelConfig = {
    kernelName: KERNEL,
    backendName: BACKEND,
    setupFunc: () => ran.push('setup'),
    kernelFunc: () => {
      ran.push('stock');
      return named('float32');
    },
  };
  const replacement =
    (name: string) =>
    (before: tf.KernelFunc): tf.KernelFunc =>
    (params) => {
      ran.push(name);
      return before(params);
    };
  const run = (): string[] => {
    ran.length = 0;
    tf.getKernel(KERNEL, BACKEND).kernelFunc({ inputs: {}, backend: {} });
    return [...ran];
  };
  beforeEach(() => tf.registerKernel(stock));
  afterEach(() => tf.unregisterKernel(KERNEL, BACKEND));

  it('runs before the stock kernel, once for each purpose', () => {
    expect(run()).toEqual(['stock']);
    for (let times = 0; times < 2; times++) replaceStockKernel(KERNEL, BACKEND, 'specA', replacement('a'));
    expect(run()).toEqual(['a', 'stock']);
    for (const purpose of ['specB', 'specA']) replaceStockKernel(KERNEL, BACKEND, purpose, replacement('b'));
    expect(run()).toEqual(['b', 'a', 'stock']);
  });

  it('keeps what else belongs to the kernel', () => {
    replaceStockKernel(KERNEL, BACKEND, 'specA', replacement('a'));
    const { kernelName, backendName, setupFunc } = tf.getKernel(KERNEL, BACKEND);
    expect([kernelName, backendName, setupFunc]).toEqual([KERNEL, BACKEND, stock.setupFunc]);
  });

  it('waits for a backend that has no such kernel yet', () => {
    tf.unregisterKernel(KERNEL, BACKEND);
    replaceStockKernel(KERNEL, BACKEND, 'specA', replacement('a'));
    expect(tf.getKernel(KERNEL, BACKEND)).toBeUndefined();
    tf.registerKernel(stock);
    replaceStockKernel(KERNEL, BACKEND, 'specA', replacement('a'));
    expect(run()).toEqual(['a', 'stock']);
  });
});
