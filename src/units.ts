/** Quantities as short text. */

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
const COUNTS = ['', ' k', ' M', ' G', ' T'];
const SECONDS = ['s', 'ms', 'us', 'ns'];

/** Three digits. */
function digits(value: number): string {
  return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value: number, units: readonly string[]): [number, string] {
  let unit = 0;
  let left = value;
  // 999.6 would be printed as 1000: the next unit then.
  while (left >= 999.5 && unit < units.length - 1) {
    left /= 1000;
    unit++;
  }
  return [left, units[unit]!];
}

/** 1 kB is 1000 B. */
export function bytesText(bytes: number): string {
  const [value, unit] = scaled(bytes, BYTES);
  return `${unit === 'B' ? Math.round(value) : digits(value)} ${unit}`;
}

/** A number of things: all digits up to 99,999, then 1.23 M. */
export function countText(count: number): string {
  if (count < 99_999.5) return wholeText(Math.round(count));
  const [value, unit] = scaled(count, COUNTS);
  return `${digits(value)}${unit}`;
}

/** All digits, in groups of three. */
export function wholeText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function secondsText(seconds: number): string {
  let unit = 0;
  let value = seconds;
  while (value < 0.9995 && value > 0 && unit < SECONDS.length - 1) {
    value *= 1000;
    unit++;
  }
  return value === 0 ? '0 s' : `${digits(value)} ${SECONDS[unit]}`;
}

/** How many times something else; a dash where there is nothing to compare with. */
export function ratioText(ratio: number | null): string {
  return ratio === null ? '-' : ratio.toFixed(2);
}

/** A number of things with its noun: 1 table, 2 tables. */
export function counted(count: number, noun: string): string {
  return `${wholeText(count)} ${noun}${count === 1 ? '' : 's'}`;
}
