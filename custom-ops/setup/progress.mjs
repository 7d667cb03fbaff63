/** Progress of a download that another program makes, seen from the bytes it has put on disk. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PERIOD_MS = 2000;

/** Bytes of the largest file below a folder: pip may hold copies beside it. Files that vanish meanwhile do not count. */
export function largestFile(folder) {
  let largest = 0;
  let entries = [];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return 0;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const size = entry.isDirectory() ? largestFile(path) : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    largest = Math.max(largest, size);
  }
  return largest;
}

/** "  61 of 274 MB (22 %)", or without the total where it is not known. */
export function progressLine(bytes, total) {
  const mb = (bytes / 1e6).toFixed(0);
  if (total === null) return `  ${mb} MB`;
  const percent = Math.min(100, Math.floor((100 * bytes) / total));
  return `  ${mb} of ${(total / 1e6).toFixed(0)} MB (${percent} %)`;
}

/** Logs how far a download into `folder` is, until `stop()`. `onText` reads the total from what pip says. */
export function downloadProgress(folder, log) {
  let total = null;
  let last = '';
  const timer = setInterval(() => {
    const bytes = largestFile(folder);
    const line = progressLine(bytes, total);
    if (bytes > 0 && line !== last) log(line);
    last = line;
  }, PERIOD_MS);
  return {
    onText(text) {
      const size = /Downloading \S+\.whl \(([\d.]+) MB\)/.exec(text);
      if (size !== null) total = Number(size[1]) * 1e6;
    },
    stop() {
      clearInterval(timer);
    },
  };
}
