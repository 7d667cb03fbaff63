#!/usr/bin/env node
import { tensorflowPart } from './setup/tensorflow.mjs';
import { tfjsNodePart } from './setup/tfjs_node.mjs';
const log = (text) => console.error(text);
const first = await tensorflowPart({ log });
console.error(first);
console.error(await tfjsNodePart({ log, tensorflow: first.tensorflow }));
