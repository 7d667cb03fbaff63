/** Messages by which TensorFlow's sessions and servers are set up (tensorflow/core/protobuf, the part that is used). */
import { Message, many, one } from '../../base/protobuf/message.js';

interface RewriteOptions {
  disableMetaOptimizer: boolean;
}
interface GraphOptions {
  optimizerOptions: { optLevel: number };
  rewriteOptions: RewriteOptions;
}

const Rewrites = new Message<RewriteOptions>({ disableMetaOptimizer: one(19, 'bool') });
const Optimizer = new Message<{ optLevel: number }>({ optLevel: one(3, 'int32') });
const Graphs = new Message<GraphOptions>({
  optimizerOptions: one(3, () => Optimizer),
  rewriteOptions: one(10, () => Rewrites),
});

/** Settings of a session. */
export const SessionConfig = new Message<{
  deviceFilters: readonly string[];
  graphOptions: GraphOptions;
  operationTimeoutInMs: number;
}>({
  deviceFilters: many(4, 'string'),
  graphOptions: one(10, () => Graphs),
  operationTimeoutInMs: one(11, 'int64'),
});

/** Settings of a call. */
export const RunOptions = new Message<{ timeoutInMs: number }>({ timeoutInMs: one(2, 'int64') });

/** Graphs run as they are written: no constant is folded, no op merged. */
export const AS_WRITTEN: GraphOptions = {
  optimizerOptions: { optLevel: -1 },
  rewriteOptions: { disableMetaOptimizer: true },
};
