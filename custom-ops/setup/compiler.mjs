/** The C and C++ compilers: those named by CC and CXX, else the first that answers. */
import { firstLine } from './command.mjs';

const found = new Map();

/** {command, version} of a compiler for `language` 'c' or 'c++', or {missing: why}. */
export function compiler(language) {
  if (!found.has(language)) found.set(language, look(language));
  return found.get(language);
}

function look(language) {
  const variable = language === 'c' ? 'CC' : 'CXX';
  const named = process.env[variable];
  const candidates = named ? [named] : language === 'c' ? ['gcc', 'cc', 'clang'] : ['g++', 'c++', 'clang++'];
  for (const command of candidates) {
    const version = firstLine(command, ['--version']);
    if (version !== null) return { command, version };
  }
  if (named) return { missing: `${variable}=${named} cannot be run` };
  const hint = process.platform === 'linux' ? ' (Debian: apt-get install g++)' : '';
  return { missing: `no ${language === 'c' ? 'C' : 'C++'} compiler: tried ${candidates.join(', ')}${hint}` };
}
