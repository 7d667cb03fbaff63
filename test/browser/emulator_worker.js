/* global URLSearchParams, self, importScripts */
/** A worker of a page that runs a whole model: a classic script, told in its address where the libraries lie. */
const { tfjs, wasm } = Object.fromEntries(new URLSearchParams(self.location.search));
importScripts(`${tfjs}/tf.min.js`, `${wasm}/tf-backend-wasm.min.js`, '/dist/tfjs-embeddings.min.js');
self.tf.wasm.setWasmPaths(`${wasm}/`);

self.onmessage = async ({ data: { task, args } }) => {
  try {
    const { tasks } = await import('/test/browser/emulator_tasks.js');
    await self.tfjsEmbeddings.ready();
    self.postMessage({ result: await tasks[task](self.tf, self.tfjsEmbeddings, args) });
  } catch (error) {
    self.postMessage({ error: `${error.message}\n${error.stack}` });
  }
};
