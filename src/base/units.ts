/** Quantities as short text. */

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
const COUNTS = ['', ' k', ' M', ' G', ' T'];
const SECONDS = ['s', 'ms', 'us', 'ns'];

/** Three digits; below 1000, so many decimals at least. */
function digits(value: number, decimals = 0): string {
  if (value >= 99.95) return value.toFixed(value < 999.95 ? decimals : 0);
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value: number, units: readonly string[], most = 999.5): [number, string] {
  let unit = 0;
  let left = value;
  // 999.6 would be printed as 1000: the next unit then.
  while (left >= (unit === 0 ? 999.5 : most) && unit < units.length - 1) {
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

/** The same with one decimal at least, for bytes below each other in a table. */
export function alignedBytesText(bytes: number): string {
  const [value, unit] = scaled(bytes, BYTES, 999.95);
  return `${unit === 'B' ? Math.round(value) : digits(value, 1)} ${unit}`;
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

function scaledSeconds(seconds: number): [number, string] {
  let unit = 0;
  let value = seconds;
  while (value < 0.9995 && value > 0 && unit < SECONDS.length - 1) {
    value *= 1000;
    unit++;
  }
  return [value, SECONDS[unit]!];
}

export function secondsText(seconds: number): string {
  const [value, unit] = scaledSeconds(seconds);
  return value === 0 ? '0 s' : `${digits(value)} ${unit}`;
}

/** The same with three digits always, for seconds below each other in a table. */
export function alignedSecondsText(seconds: number): string {
  const [value, unit] = scaledSeconds(seconds);
  return `${value < 0.9995 ? value.toPrecision(3) : digits(value)} ${unit}`;
}

/** How many times something else; a dash where there is nothing to compare with. */
export function ratioText(ratio: number | null): string {
  return ratio === null ? '-' : ratio.toFixed(2);
}

/** A number of things with its noun: 1 table, 2 tables. */
export function counted(count: number, noun: string): string {
  return `${wholeText(count)} ${noun}${count === 1 ? '' : 's'}`;
}
