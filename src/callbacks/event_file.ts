/** Event files of TensorBoard: records of TFRecord files, each an event. */
import { crc32c, maskCrc32c } from '../io/checksums/crc32c.js';
import { Event, type EventMessage, type SummaryValue } from './event_messages.js';
import type { LogFolder } from './log_folder.js';

/** A record: its length, the checksum of that, the bytes, their checksum; little-endian. */
export function recordOf(bytes: Uint8Array): Uint8Array {
  const record = new Uint8Array(bytes.length + 16);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(bytes.length), true);
  view.setUint32(8, maskCrc32c(crc32c(record.subarray(0, 8))), true);
  record.set(bytes, 12);
  view.setUint32(12 + bytes.length, maskCrc32c(crc32c(bytes)), true);
  return record;
}

const now = (): number => Date.now() / 1000;

let files = 0;

/** A name as TensorFlow gives it: TensorBoard reads files of a folder in the order of their names. */
function fileName(): string {
  const { process } = globalThis as { process?: { readonly pid?: number } };
  const seconds = Math.floor(now()).toString().padStart(10, '0');
  return `events.out.tfevents.${seconds}.tfjs-embeddings.${process?.pid ?? 0}.${files++}.v2`;
}

/** One file, which begins with its first values. */
export class EventFile {
  private path: string | null = null;

  /** `run`: the folder below that of the logs. */
  constructor(
    private readonly folder: LogFolder,
    private readonly run: string,
  ) {}

  async add(step: number, value: readonly SummaryValue[]): Promise<void> {
    if (value.length === 0) return;
    if (this.path === null) {
      this.path = `${this.run}/${fileName()}`;
      await this.append({ wallTime: now(), fileVersion: 'brain.Event:2' });
    }
    await this.append({ wallTime: now(), step, summary: { value } });
  }

  private append(event: EventMessage): Promise<void> {
    return this.folder.append(this.path!, recordOf(Event.encode(event)));
  }
}
