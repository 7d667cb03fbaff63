/** Errors of the system in our words, which name the file. */
import { RuntimeError, ValueError, described } from '../base/errors.js';

/** What the system says where it refuses; null for any other error. */
function refusal(error: unknown): { code: string; message: string } | null {
  const { code, message } = error as { code?: unknown; message: string };
  return typeof code === 'string' ? { code, message } : null;
}

/** The error of a file that cannot be read; what the system did not say stays as it is. */
export function readError(error: unknown, path: string, argument: string): unknown {
  const said = refusal(error);
  if (said === null) return error;
  if (said.code === 'ENOENT' || said.code === 'ENOTDIR') {
    return new ValueError(argument, 'a file that exists', described(path));
  }
  if (said.code === 'EISDIR') return new ValueError(argument, 'a file', described(`${path}, which is something else`));
  return new RuntimeError(argument, 'a file that can be read', described(path), `The system says: ${said.message}`);
}

/** The error of a file or folder that cannot be written; what the system did not say stays as it is. */
export function writeError(error: unknown, path: string): unknown {
  const said = refusal(error);
  if (said === null) return error;
  return new RuntimeError('path', 'a place that can be written', described(path), `The system says: ${said.message}`);
}
