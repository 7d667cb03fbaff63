/** Pieces of a page. All that comes from outside goes through `escaped`. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for content and attributes; characters that no document may hold become U+FFFD. */
export function escaped(text: string): string {
  // eslint-disable-next-line no-control-regex
  const allowed = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
  return allowed.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** A name, which a line may end in behind the marks between its words. */
export function breakable(name: string): string {
  return escaped(name).replace(/[_/.:-](?=.)/g, (mark) => `${mark}<wbr/>`);
}

/** An attribute list; undefined leaves an attribute out. */
function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');
}

/** An element around markup that is escaped already. */
export function element(
  tag: string,
  values: Readonly<Record<string, string | number | undefined>>,
  ...content: string[]
): string {
  return content.length === 0
    ? `<${tag}${attributes(values)}/>`
    : `<${tag}${attributes(values)}>${content.join('')}</${tag}>`;
}

/** A rectangle with a tooltip; lengths are rounded to hundredths. */
export function rectangle(
  [x, y, width, height]: readonly [number, number, number, number],
  values: Readonly<Record<string, string | number | undefined>>,
  title?: string,
): string {
  const place = { x: round(x), y: round(y), width: round(Math.max(0, width)), height: round(Math.max(0, height)) };
  const tip = title === undefined ? [] : [element('title', {}, escaped(title))];
  return element('rect', { ...place, ...values }, ...tip);
}

export function round(length: number): number {
  return Math.round(length * 100) / 100;
}

/**
 * A table of texts. Cells of `left` columns are aligned to the left, those of `long` ones too, on as many lines as it
 * takes; `raw` cells are markup already.
 */
export function textTable(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly (string | { readonly raw: string })[])[],
  left: readonly number[] = [],
  long: readonly number[] = [],
): string {
  const alignment = (column: number): string | undefined => {
    if (long.includes(column)) return 'left long';
    return left.includes(column) ? 'left' : undefined;
  };
  const headCells = head.map((text, column) =>
    element('th', { scope: 'col', class: alignment(column) }, escaped(text) || ' '),
  );
  const lines = rows.map((row) =>
    element(
      'tr',
      {},
      ...row.map((cell, column) => {
        const content = typeof cell === 'string' ? escaped(cell) : cell.raw;
        if (column === 0) return element('th', { scope: 'row', class: alignment(column) }, content);
        return element('td', { class: alignment(column) }, content);
      }),
    ),
  );
  const table = element(
    'table',
    {},
    element('caption', {}, escaped(caption)),
    element('thead', {}, element('tr', {}, ...headCells)),
    element('tbody', {}, ...lines, ''),
  );
  return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, table);
}

/** A key to colours: swatches by class, each with its meaning. */
export function legend(entries: readonly (readonly [className: string, meaning: string])[]): string {
  const items = entries.map(([className, meaning]) => {
    const swatch = element(
      'svg',
      { width: 12, height: 12, 'aria-hidden': 'true' },
      rectangle([0, 0, 12, 12], { class: className, rx: 2 }),
    );
    return element('li', {}, swatch, ' ', escaped(meaning));
  });
  return element('ul', { class: 'legend' }, ...items);
}

/** The hue of a device, for `--h`: spread evenly, neighbours far apart where there are many. */
export function deviceHue(device: number, devices: number): number {
  // With many devices neighbours would look alike: steps of about 137.5 degrees keep them apart.
  const degrees = devices <= 8 ? (360 * device) / devices : 137.508 * device;
  return Math.round((degrees + 250) % 360);
}
