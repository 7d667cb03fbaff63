/**
 * Numbers of tensors of a second `wasm` backend. BackendWasm numbers its tensors per instance, and all instances share
 * one module, which knows tensors by number alone. So those of a second instance begin far away, each where the one
 * before it stands, since tensors of that one may live on.
 */

interface NumberedBackend {
  dataIdNextNumber: number;
}

const FIRST = 2 ** 30;
const LAST_BACKEND = Symbol.for('tfjs-embeddings.lastWasmBackend');

/** The module of a backend, where numbers are kept; a backend that is removed forgets its own. */
function holderOf(backend: NumberedBackend): Record<symbol, NumberedBackend | undefined> {
  return (backend as unknown as { wasm: Record<symbol, NumberedBackend | undefined> }).wasm;
}

function isNumbered(backend: object): backend is NumberedBackend {
  return 'dataIdNextNumber' in backend;
}

/** Gives a second backend on the module numbers that no other uses; leaves backends of other kinds alone. */
export function numberApart(backend: object): void {
  if (!isNumbered(backend)) return;
  const holder = holderOf(backend);
  backend.dataIdNextNumber = holder[LAST_BACKEND]?.dataIdNextNumber ?? FIRST;
  holder[LAST_BACKEND] = backend;
}

/** Keeps the number of a backend that is removed, and not the backend. */
export function keepNumber(backend: object): void {
  if (!isNumbered(backend)) return;
  const holder = holderOf(backend);
  if (holder[LAST_BACKEND] !== backend) return;
  holder[LAST_BACKEND] = { dataIdNextNumber: backend.dataIdNextNumber };
}
