/**
 * A server of TensorFlow on loopback, with the ops of this package, until its standard input ends.
 *   node --import tsx test/helpers/servers/server_program.ts <port>
 */
import { createRequire } from 'node:module';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { serverDefinition } from './messages.js';

createRequire(import.meta.url)('@tensorflow/tfjs-node/lib/napi-v8/tfjs_binding.node');
const addon = loadAddon();
addon.registerTensorFlow();
console.log(addon.startServer(serverDefinition(Number(process.argv[2]))));
process.stdin.on('end', () => process.exit(0)).resume();
