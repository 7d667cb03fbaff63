/** Changes of C sources: operators, numbers, conditions and statements, found in their tokens. */
import type { Mutant } from '../mutant_text.js';

interface Token {
  readonly text: string;
  readonly from: number;
}

/** Strings, comments and lines of the preprocessor are passed over. */
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|^[ \t]*#(?:\\\n|[^\n])*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|(?:\d[\w.]*|\.\d[\w.]*)|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|[^\s]/gm;

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['!='],
  '!=': ['=='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '+=': ['-=', '='],
  '-=': ['+=', '='],
  '|=': ['&=', '='],
  '&=': ['|=', '='],
};

const NAMES_TYPE = /^(const|static|inline|struct|return|case|goto|else|typedef|extern|template|using|unsigned|auto)$/;

function tokensOf(source: string): Token[] {
  return [...source.matchAll(TOKENS)]
    .map((match) => ({ text: match[0], from: match.index }))
    .filter(({ text }) => !/^(\/\*|\/\/|[ \t]*#)/.test(text));
}

/** The place of the token that closes what one opens; -1: none. */
function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (/^[([{]$/.test(tokens[i]!.text)) depth++;
    else if (/^[)\]}]$/.test(tokens[i]!.text) && --depth === 0) return i;
  }
  return -1;
}

/** Every change of a source: between operators spaces stand, between a type and its stars none. */
export function cMutants(file: string, source: string): Mutant[] {
  const tokens = tokensOf(source);
  const mutants: Mutant[] = [];
  const add = (kind: string, from: number, to: number, replacement: string): void => {
    mutants.push({ file, from, to, replacement, kind });
  };
  let depth = 0;
  tokens.forEach(({ text, from }, i) => {
    if (text === '{') depth++;
    if (text === '}') depth--;
    const to = from + text.length;
    const isApart = source[from - 1] === ' ' && source[to] === ' ';
    if (isApart && depth > 0) for (const other of OPERATORS[text] ?? []) add('operator', from, to, other);
    if (/^\d+(u|ll|ull)?$/.test(text) && depth > 0)
      add(
        'number',
        from,
        to,
        text.startsWith('0') && text.length === 1 ? '1' : text.replace(/^\d+/, (n) => String(Number(n) + 1)),
      );
    if (/^\d+\.\d*f?$/.test(text)) add('number', from, to, Number.parseFloat(text) === 0 ? '1.0f' : '0.0f');
    if (text === '!' && tokens[i - 1]?.text !== '=') add('negation', from, to, '');
    if (text === 'if' || text === 'while') {
      const end = closing(tokens, i + 1);
      if (tokens[i + 1]?.text !== '(' || end < 0) return;
      const [open, close] = [tokens[i + 1]!.from + 1, tokens[end]!.from];
      add('condition', open, close, '0');
      if (text === 'if') add('condition', open, close, '1');
    }
    if (text === '?') add('condition', from, to, '&& 0 ?');
    const begins = /^[{};]$/.test(tokens[i - 1]?.text ?? '') || tokens[i - 1]?.text === ')';
    if (begins && depth > 0 && isStatement(tokens, i)) {
      const end = tokens.findIndex((token, j) => j > i && token.text === ';');
      if (end > 0 && !tokens.slice(i, end).some((token) => /^[{}]$/.test(token.text)))
        add('statement', from, tokens[end]!.from, '(void)0');
    }
  });
  return mutants;
}

/** Whether an assignment or a call begins at a token. */
function isStatement(tokens: readonly Token[], i: number): boolean {
  const [first, second] = [tokens[i]!.text, tokens[i + 1]?.text ?? ''];
  if (first === 'if' || first === 'for' || first === 'while' || first === 'switch' || first === 'sizeof') return false;
  if (first === 'return' && second !== ';') return false;
  if (first === 'return' || first === 'break' || first === 'continue') return true;
  return /^[A-Za-z_*]/.test(first) && !NAMES_TYPE.test(first) && /^(\(|\[|\.|->|=|[-+*/|&^]=|\+\+|--)$/.test(second);
}
