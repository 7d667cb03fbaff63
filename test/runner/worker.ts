/** A process that runs the spec files that it is sent, until nobody is left to send any. */
import { FileRunner } from './file_runner.js';
import type { Message, Task } from './messages.js';
import type { SpecFile } from './spec_files.js';

const task = JSON.parse(process.argv[2]!) as Task;

function tell(message: Message): void {
  process.send!(message);
}

// Jasmine has its own handlers while a file runs. What comes between files belongs to the one before.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tell({ kind: 'failed', name: `${event} between spec files`, expectations: [{ message }] });
  });
}

const runner = new FileRunner(task, tell);
process.on('message', (file: SpecFile) => void runner.run(file));
process.on('disconnect', () => process.exit());
