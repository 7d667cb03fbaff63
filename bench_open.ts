import * as tf from '@tensorflow/tfjs';
if (process.argv[2] === 'tensorflow') await import('@tensorflow/tfjs-node');
import * as emb from './src/node.ts';
await tf.setBackend(process.argv[2] ?? 'cpu');
const rows = Number(process.argv[3] ?? 1e6), dim = 64, count = 40960;
const e: any = emb;
const table = e.openTable({ outputDim: dim, capacity: Math.ceil(rows*1.02), keys: 'int64' });
const optimizer = e.train.adagrad({ learningRate: 0.1 });
const plain = tf.variable(tf.zeros([Math.ceil(rows*1.02), dim]));
const po = e.train.adagrad({ learningRate: 0.1 });
// fill
let t0 = performance.now();
const step = (keys: BigInt64Array) => tf.tidy(() => { optimizer.minimize(() => (e.embeddingLookup(table, keys) as tf.Tensor).sum()); });
for (let k = 0; k < rows; k += count) step(BigInt64Array.from({length: Math.min(count, rows-k)}, (_, i) => BigInt(k + i) * 7919n));
console.log('fill ms/step', (performance.now()-t0) / (rows/count), table.size());
const keysOf = () => BigInt64Array.from({length: count}, () => BigInt(Math.floor(Math.random()*rows)) * 7919n);
const idsOf = () => Int32Array.from({length: count}, () => Math.floor(Math.random()*rows));
const med = (a: number[]) => a.sort((x,y)=>x-y)[a.length>>1]!;
const [a, b, p, q]: number[][] = [[],[],[],[]];
for (let i = 0; i < 21; i++) {
  const keys = keysOf(), ids = idsOf();
  let t = performance.now(); step(keys); a.push(performance.now()-t);
  t = performance.now(); tf.tidy(() => { po.minimize(() => (e.embeddingLookup(plain, tf.tensor1d(ids,'int32')) as tf.Tensor).sum()); }); b.push(performance.now()-t);
  t = performance.now(); tf.dispose(e.embeddingLookup(table, keys)); p.push(performance.now()-t);
  t = performance.now(); tf.dispose(tf.tidy(() => e.embeddingLookup(plain, tf.tensor1d(ids,'int32')))); q.push(performance.now()-t);
}
console.log('open step', med(a).toFixed(1), 'plain', med(b).toFixed(1), 'ratio', (med(a)/med(b)).toFixed(2), 'predict', med(p).toFixed(1), med(q).toFixed(1), (med(p)/med(q)).toFixed(2));
// new keys with eviction
const c: number[] = [];
for (let i = 0; i < 15; i++) { const keys = keysOf(); for (let j = 0; j < count; j += 4) keys[j] = BigInt(1e12 + i*count + j); const t = performance.now(); step(keys); c.push(performance.now()-t); }
console.log('25% new', c.map(x=>x.toFixed(0)).join(' '), 'evicted', table.stats().evicted);
