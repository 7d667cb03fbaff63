// usage: node mem.mjs OP [backend] [storage]
import { readFileSync, rmSync } from 'node:fs';
const [, , op, backend = 'cpu', storage = 'float32', dir = '/tmp/mem/model'] = process.argv;
const tf = await import('@tensorflow/tfjs');
if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
const emb = await import('tfjs-embeddings/node');
await emb.ready(); await tf.setBackend(backend);
const rss = () => +/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] / 1024;
const peak = () => +/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] / 1024;
const { writeFileSync } = await import('node:fs');
const reset = () => writeFileSync('/proc/self/clear_refs', '5');
const rows = storage === 'float32' ? 2 ** 22 : 2 ** 23, dim = 64; // 1 GiB, or 1 GiB of float16
const make = () => { const m = tf.sequential(); m.add(emb.layers.embedding({ inputDim: rows, outputDim: dim, inputShape: [4], combiner: 'mean', storage, embeddingsInitializer: 'randomUniform', seed: 1 })); m.add(tf.layers.dense({ units: 1 })); return m; };
const report = (name, before) => console.log(`${backend} ${storage} ${name}: before ${before.toFixed(0)} MB, peak +${(peak() - before).toFixed(0)} MB, after +${(rss() - before).toFixed(0)} MB`);
if (op === 'save' || op === 'export' || op === 'keras') {
  const m = make(); m.predict(tf.zeros([1, 4], 'int32')).dispose();
  globalThis.gc?.(); await new Promise((r) => setTimeout(r, 500)); globalThis.gc?.();
  const before = rss(); reset();
  const t = Date.now();
  if (op === 'save') await m.save(`file://${dir}-${storage}`);
  else if (op === 'export') await emb.savedModel.export(m, `/tmp/mem/sm-${storage}`);
  else await emb.exportKeras(m, `/tmp/mem/m-${storage}.keras`);
  report(op + ` ${((Date.now() - t) / 1000).toFixed(1)} s`, before);
} else if (op === 'load') {
  globalThis.gc?.();
  const before = rss(); reset(); const t = Date.now();
  const m = await tf.loadLayersModel(`file://${dir}-${storage}/model.json`);
  m.predict(tf.zeros([1, 4], 'int32')).dispose();
  report(`load ${((Date.now() - t) / 1000).toFixed(1)} s (a table of 1024 MB)`, before);
}
