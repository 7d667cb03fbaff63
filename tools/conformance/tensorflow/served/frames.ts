/** Frames between the tests and the package: the length of a header, the header as JSON, and its buffers. */

export interface Call {
  readonly method: string;
  readonly arguments: unknown;
  readonly buffers: readonly Buffer[];
}

export interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly argument?: string; readonly message: string };
  readonly buffers: readonly Uint8Array[];
}

/** The calls that arrive on a stream. */
export async function* readCalls(stream: AsyncIterable<Buffer>): AsyncGenerator<Call> {
  const chunks = stream[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const take = async (length: number): Promise<Buffer | null> => {
    const parts = [rest];
    let held = rest.length;
    while (held < length) {
      const next = await chunks.next();
      if (next.done === true) return null;
      parts.push(next.value);
      held += next.value.length;
    }
    const all = Buffer.concat(parts);
    rest = all.subarray(length);
    return all.subarray(0, length);
  };
  for (;;) {
    const length = await take(4);
    if (length === null) return;
    const header = await take(length.readUInt32LE(0));
    if (header === null) return;
    const { buffers: lengths, ...call } = JSON.parse(header.toString()) as Omit<Call, 'buffers'> & {
      buffers: number[];
    };
    const buffers: Buffer[] = [];
    for (const size of lengths) {
      const buffer = await take(size);
      if (buffer === null) return;
      buffers.push(buffer);
    }
    yield { ...call, buffers };
  }
}

export function writeAnswer(stream: NodeJS.WritableStream, { buffers, ...answer }: Answer): void {
  const header = Buffer.from(JSON.stringify({ ...answer, buffers: buffers.map(({ byteLength }) => byteLength) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  stream.write(Buffer.concat([length, header, ...buffers]));
}
