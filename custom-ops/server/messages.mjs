/** The messages of TensorFlow that the command `server` writes. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Fields of a message, each [number, value]: a text, a whole number, or the fields of a message in it. */
function write(writer, fields) {
  for (const [number, value] of fields) {
    if (typeof value === 'number') writer.tag(number, WireType.Varint).int64(value);
    else if (typeof value === 'string') writer.tag(number, WireType.LengthDelimited).string(value);
    else {
      writer.tag(number, WireType.LengthDelimited).fork();
      write(writer, value);
      writer.join();
    }
  }
  return writer;
}

const message = (...fields) => write(new BinaryWriter(), fields).finish();

/** Calls that wait for a lock of a table keep a thread each: that many wait, and others still go. */
const FEWEST_THREADS_OF_CALLS = 16;

/** A ServerDef of one task, which knows of no other. threads: of ops; null: as many as there are cores. */
export function serverDefinition({ job, task, listen, threads }) {
  const options = [[5, Math.max(FEWEST_THREADS_OF_CALLS, 2 * (threads ?? 0))]];
  if (threads !== null) options.push([2, threads]);
  const cluster = [[1, [[1, job], [2, [[1, task], [2, listen]]]]]]; // prettier-ignore
  return message([1, cluster], [2, job], [3, task], [4, options], [5, 'grpc']);
}

/** A ConfigProto: other servers of the cluster, which may be absent, are left out. */
export const sessionConfig = (timeoutMs) => message([4, '/job:none'], [11, timeoutMs]);

export const runOptions = (timeoutMs) => message([2, timeoutMs]);

/** A GraphDef of nodes without inputs: [name, op]. */
export const graphDefinition = (...nodes) =>
  message(
    ...nodes.map(([name, op]) => [
      1,
      [
        [1, name],
        [2, op],
      ],
    ]),
    [4, [[1, 1882]]],
  );
