import { KERNELS } from '../../../src/backends/wasm/kernels_wasm.js';
import { moduleFor, ready, setWasmPath } from '../../../src/backends/wasm/module.js';
import { ArgumentTypeError, RuntimeError } from '../../../src/base/errors.js';

const AS_URL = `data:application/wasm;base64,${KERNELS}`;

describe('the WebAssembly module', () => {
  afterEach(async () => {
    setWasmPath(AS_URL);
    await ready();
  });

  it('is there at once in Node', () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    expect(moduleFor(memory)).toBeInstanceOf(WebAssembly.Module);
  });

  it('imports only a memory, of any kind', () => {
    const memories = [
      new WebAssembly.Memory({ initial: 1 }),
      new WebAssembly.Memory({ initial: 1, maximum: 65536 }),
      new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true }),
    ];
    for (const memory of memories) {
      const module = moduleFor(memory);
      expect(WebAssembly.Module.imports(module).map((entry) => entry.name)).toEqual(['memory']);
      expect(() => new WebAssembly.Instance(module, { env: { memory } })).not.toThrow();
    }
  });

  it('comes from a URL after setWasmPath', async () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const before = moduleFor(memory);
    setWasmPath(AS_URL);
    await ready();
    expect(moduleFor(memory)).not.toBe(before);
  });

  it('names a URL that gives no module', async () => {
    setWasmPath('data:application/wasm;base64,AAAA');
    await expectAsync(ready()).toBeRejected();
    setWasmPath('http://127.0.0.1:1/kernels.wasm');
    await expectAsync(ready()).toBeRejectedWithError(RuntimeError, /127\.0\.0\.1:1/);
  });

  it('takes only text as a URL', () => {
    expect(() => setWasmPath(7 as never)).toThrowError(ArgumentTypeError, /url/);
  });
});
