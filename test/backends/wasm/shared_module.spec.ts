import { KERNELS } from '../../../src/backends/wasm/kernels_wasm.js';
import { asShared } from '../../../src/backends/wasm/module.js';

describe('the module for shared memories', () => {
  it('imports a shared memory, and is otherwise the same', () => {
    const plain = new Uint8Array(Buffer.from(KERNELS, 'base64'));
    const module = new WebAssembly.Module(asShared(plain));
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 16, shared: true });
    expect(() => new WebAssembly.Instance(module, { env: { memory } })).not.toThrow();
    const ordinary = new WebAssembly.Memory({ initial: 1, maximum: 16 });
    expect(() => new WebAssembly.Instance(module, { env: { memory: ordinary } })).toThrowError(WebAssembly.LinkError);
    const exported = (from: WebAssembly.Module): string[] => WebAssembly.Module.exports(from).map(({ name }) => name);
    expect(exported(module)).toEqual(exported(new WebAssembly.Module(plain)));
  });

  it('refuses a module that imports something else', () => {
    expect(() => asShared(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))).toThrowError(/env\.memory/);
  });
});
